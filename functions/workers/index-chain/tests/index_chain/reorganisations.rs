//! Reorganisations: afterwards the rows equal those of a fresh index.

use index_chain::IndexError;
use tests::{Error, TestChain, history::History};

use crate::support::Indexer;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropped_blocks_are_undone() -> Result<(), Error> {
    let test_chain = TestChain::start("reorganisations", 64).await?;
    let mut history = History::on(&test_chain, 1).await?;
    let mut indexer = Indexer::of(&test_chain, &[&test_chain.rpc_url]).await?;
    let mut undone = 0;
    for (round, depth) in [1, 5, 30, 12, 2, 30, 17].into_iter().enumerate() {
        history.go_on(25).await?;
        indexer.follow().await?;
        history.go_on(15).await?;
        indexer.follow().await?;
        if round % 2 == 0 {
            test_chain.reorganise(depth).await?;
        } else {
            test_chain.roll_back(depth).await?;
        }
        history.forget_dropped().await?;
        if round % 3 == 0 {
            history.go_on(5).await?;
        }
        undone += indexer.follow().await?.undone;
        indexer.assert_fresh(&test_chain, &format!("after dropping {depth} blocks")).await?;
    }
    assert!(undone >= 90, "only {undone} blocks were undone");
    assert!(history.done > 80, "only {} transactions succeeded", history.done);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reorganisation_below_the_undo_depth_changes_nothing() -> Result<(), Error> {
    let test_chain = TestChain::start("deep-reorganisation", 10).await?;
    let mut history = History::on(&test_chain, 2).await?;
    let mut indexer = Indexer::of(&test_chain, &[&test_chain.rpc_url]).await?;
    for _ in 0..4 {
        history.go_on(15).await?;
        indexer.follow().await?;
    }
    let before = indexer.all_rows().await?;
    test_chain.reorganise(30).await?;
    let refused = indexer.follow().await;
    assert!(matches!(refused, Err(IndexError::TooDeep(_))), "{refused:?}");
    assert_eq!(indexer.all_rows().await?, before);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn blocks_are_final_by_the_finalized_tag_where_nodes_have_it() -> Result<(), Error> {
    let mut test_chain = TestChain::start("finalized", 1).await?;
    test_chain.chain.has_finalized_tag = true;
    let mut history = History::on(&test_chain, 3).await?;
    let mut indexer = Indexer::of(&test_chain, &[&test_chain.rpc_url]).await?;
    // The node's tag is 64 blocks behind, the configured depth is 1.
    for depth in [20, 30] {
        history.go_on(40).await?;
        indexer.follow().await?;
        test_chain.reorganise(depth).await?;
        history.forget_dropped().await?;
        indexer.follow().await?;
        indexer.assert_fresh(&test_chain, &format!("after dropping {depth} blocks")).await?;
    }
    Ok(())
}
