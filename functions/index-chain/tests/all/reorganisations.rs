//! Chains that drop blocks while they are read: afterwards the rows are those of an index made anew.

use index_chain::IndexError;
use tests::{Error, Ground, history::History};

use crate::support::Indexer;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_chain_drops_is_undone() -> Result<(), Error> {
    let ground = Ground::start("reorganisations", 64).await?;
    let mut history = History::on(&ground, 1).await?;
    let mut indexer = Indexer::of(&ground, &[&ground.rpc_url]).await?;
    let mut undone = 0;
    for (round, depth) in [1, 5, 30, 12, 2, 30, 17].into_iter().enumerate() {
        history.go_on(25).await?;
        indexer.follow().await?;
        history.go_on(15).await?;
        indexer.follow().await?;
        if round % 2 == 0 {
            ground.reorganise(depth).await?;
        } else {
            ground.roll_back(depth).await?;
        }
        history.forget_dropped().await?;
        if round % 3 == 0 {
            history.go_on(5).await?;
        }
        undone += indexer.follow().await?.undone;
        assert_eq!(indexer.rows().await?, Indexer::fresh_rows(&ground).await?, "after dropping {depth} blocks");
    }
    assert!(undone >= 90, "only {undone} blocks were undone");
    assert!(history.done > 80, "only {} transactions succeeded", history.done);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_dropped_deeper_than_it_is_kept_changes_nothing() -> Result<(), Error> {
    let ground = Ground::start("deep-reorganisation", 10).await?;
    let mut history = History::on(&ground, 2).await?;
    let mut indexer = Indexer::of(&ground, &[&ground.rpc_url]).await?;
    for _ in 0..4 {
        history.go_on(15).await?;
        indexer.follow().await?;
    }
    let before = indexer.all_rows().await?;
    ground.reorganise(30).await?;
    let refused = indexer.follow().await;
    assert!(matches!(refused, Err(IndexError::TooDeep(_))), "{refused:?}");
    assert_eq!(indexer.all_rows().await?, before);
    Ok(())
}
