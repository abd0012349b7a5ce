//! Unreliable nodes: the index is complete all the same.

use alloy::{
    primitives::{Bytes, U256},
    providers::Provider,
    sol_types::SolCall,
};
use shared::{chain::contracts::native::Creator1155, model::OPEN_EDITION};
use tests::{Error, TestChain, history::History};

use crate::support::{Indexer, NodeBehavior, NodeProxy};

async fn indexed_through(behavior: NodeBehavior, seed: u64) -> Result<(), Error> {
    let test_chain = TestChain::start(&format!("bad-node-{seed}"), 16).await?;
    let mut history = History::on(&test_chain, seed).await?;
    let proxy = NodeProxy::in_front_of(&test_chain.rpc_url, behavior).await?;
    let mut indexer = Indexer::of(&test_chain, &[&proxy.url]).await?;
    for _ in 0..4 {
        history.go_on(20).await?;
        let head = test_chain.node.get_block_number().await?;
        // A run may fail, but must not skip blocks that it didn't get.
        for _ in 0..200 {
            let followed = indexer.follow().await;
            if followed.is_ok_and(|followed| followed.next_block > head) {
                break;
            }
        }
        indexer.assert_fresh(&test_chain, &format!("{behavior:?}")).await?;
    }
    Ok(())
}

/// The index through a node that misbehaves and a healthy one, in this order, first of a history and then of new blocks.
async fn indexed_beside(behavior: impl Fn(u64) -> NodeBehavior, seed: u64) -> Result<(), Error> {
    let test_chain = TestChain::start(&format!("worse-node-{seed}"), 8).await?;
    let mut history = History::on(&test_chain, seed).await?;
    let proxy = NodeProxy::in_front_of(&test_chain.rpc_url, NodeBehavior::Healthy).await?;
    let mut indexer = Indexer::of(&test_chain, &[&proxy.url, &test_chain.rpc_url]).await?;
    for round in 0..3 {
        history.go_on(40).await?;
        proxy.behave(behavior(test_chain.node.get_block_number().await?));
        history.go_on(20).await?;
        let head = test_chain.node.get_block_number().await?;
        // Another process has no memory of its nodes.
        indexer.restart().await?;
        let followed = indexer.follow().await?;
        assert_eq!(followed.next_block, head + 1);
        indexer.assert_fresh(&test_chain, &format!("round {round}")).await?;
        test_chain.reorganise(3).await?;
        history.forget_dropped().await?;
        indexer.follow().await?;
        indexer.assert_fresh(&test_chain, &format!("round {round}, reorganised")).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limited_block_ranges_leave_no_gap() -> Result<(), Error> {
    indexed_through(NodeBehavior::FewBlocks(3), 11).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ranges_of_a_history_are_read_at_once_and_lack_nothing_of_collections_between_them() -> Result<(), Error> {
    let test_chain = TestChain::start("at-once", 8).await?;
    let mut history = History::on(&test_chain, 23).await?;
    history.go_on(150).await?;
    test_chain.finalise().await?;
    let proxy = NodeProxy::in_front_of(&test_chain.rpc_url, NodeBehavior::SlowFewBlocks(3)).await?;
    let mut indexer = Indexer::of(&test_chain, &[&proxy.url]).await?;
    indexer.follow().await?;
    assert!(proxy.most_at_once() >= 4, "{} requests at once", proxy.most_at_once());
    indexer.assert_fresh(&test_chain, "ranges at once").await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limited_numbers_of_logs_leave_no_gap() -> Result<(), Error> {
    indexed_through(NodeBehavior::FewLogs(40), 12).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failing_requests_leave_no_gap() -> Result<(), Error> {
    indexed_through(NodeBehavior::Failing, 13).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lagging_node_leaves_no_gap() -> Result<(), Error> {
    indexed_through(NodeBehavior::Lagging(6), 14).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn node_that_omits_logs_leaves_no_gap() -> Result<(), Error> {
    indexed_through(NodeBehavior::Omitting, 15).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn frozen_node_is_left() -> Result<(), Error> {
    indexed_beside(NodeBehavior::Frozen, 16).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn node_of_another_chain_is_left() -> Result<(), Error> {
    indexed_beside(|_| NodeBehavior::Foreign, 17).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn node_that_stays_on_a_dropped_branch_is_left() -> Result<(), Error> {
    indexed_beside(NodeBehavior::Stuck, 22).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn absurd_height_is_not_believed_and_blocks_stay_undoable() -> Result<(), Error> {
    indexed_beside(|_| NodeBehavior::Absurd, 18).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn removed_logs_are_not_believed() -> Result<(), Error> {
    indexed_beside(|_| NodeBehavior::Removed, 19).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn frozen_node_alone_is_behind_the_clock() -> Result<(), Error> {
    let test_chain = TestChain::start("frozen-alone", 8).await?;
    let mut history = History::on(&test_chain, 20).await?;
    let frozen = test_chain.node.get_block_number().await?;
    let time = |block: Option<alloy::rpc::types::Block>| block.map(|block| block.header.timestamp);
    let frozen_time = time(test_chain.node.get_block_by_number(frozen.into()).await?);
    history.go_on(30).await?;
    let proxy = NodeProxy::in_front_of(&test_chain.rpc_url, NodeBehavior::Frozen(frozen)).await?;
    let mut indexer = Indexer::of(&test_chain, &[&proxy.url]).await?;
    for _ in 0..2 {
        let followed = indexer.follow().await?;
        assert_eq!((followed.behind, Some(followed.reached_time)), (0, frozen_time));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn history_is_read_at_the_rate_that_the_node_allows() -> Result<(), Error> {
    const BLOCKS: u64 = 300;
    let test_chain = TestChain::start("throttled", 4).await?;
    let mut history = History::on(&test_chain, 24).await?;
    history.go_on(40).await?;
    let () = test_chain.node.raw_request("anvil_mine".into(), (BLOCKS,)).await?;
    let proxy = NodeProxy::in_front_of(&test_chain.rpc_url, NodeBehavior::Throttled(3)).await?;
    let mut indexer = Indexer::of(&test_chain, &[&proxy.url]).await?;
    assert!(indexer.follow().await?.next_block >= BLOCKS);
    // A refused range is asked for again as it is, and not in ever smaller parts.
    let calls = proxy.calls_of("eth_getLogs");
    assert!(calls < 40, "{calls} requests");
    indexer.assert_fresh(&test_chain, "throttled").await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn block_is_not_final_because_a_node_fails_to_say_which_are() -> Result<(), Error> {
    let mut test_chain = TestChain::start("no-finality", 4).await?;
    test_chain.chain.has_finalized_tag = true;
    let mut history = History::on(&test_chain, 25).await?;
    history.go_on(30).await?;
    let proxy = NodeProxy::in_front_of(&test_chain.rpc_url, NodeBehavior::NoFinality).await?;
    let mut indexer = Indexer::of(&test_chain, &[&proxy.url]).await?;
    indexer.follow().await?;
    // Deeper than blocks are undone where depth alone makes them final.
    test_chain.reorganise(12).await?;
    history.forget_dropped().await?;
    assert!(indexer.follow().await?.undone > 0);
    indexer.assert_fresh(&test_chain, "reorganised").await
}

/// One block with many more logs than nodes answer with.
async fn crowded_block(name: &str, behavior: NodeBehavior, is_final: bool) -> Result<NodeProxy, Error> {
    let test_chain = TestChain::start(name, 4).await?;
    let mut history = History::on(&test_chain, 21).await?;
    let artist = history.people[0];
    let (collection, ..) = history.conversation(artist).await?;
    let new = Creator1155::setupNewTokenCall { newURI: "ar://1".to_owned(), maxSupply: U256::from(OPEN_EDITION) };
    let call = Creator1155::multicallCall { data: vec![Bytes::from(new.abi_encode()); 30] };
    history.send(artist, collection, U256::ZERO, &call).await?.ok_or("no moments")?;
    if is_final {
        test_chain.finalise().await?;
    }
    let proxy = NodeProxy::in_front_of(&test_chain.rpc_url, behavior).await?;
    let mut indexer = Indexer::of(&test_chain, &[&proxy.url]).await?;
    indexer.follow().await?;
    indexer.assert_fresh(&test_chain, name).await?;
    Ok(proxy)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn block_beyond_the_cap_is_split_by_topic() -> Result<(), Error> {
    for (name, is_final) in [("split-head", false), ("split-final", true)] {
        let proxy = crowded_block(name, NodeBehavior::FewLogsNoReceipts(35), is_final).await?;
        assert!(proxy.calls_of("eth_getLogs") > 4);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn block_beyond_the_cap_of_one_topic_is_taken_from_its_receipts() -> Result<(), Error> {
    for (name, is_final) in [("receipts-head", false), ("receipts-final", true)] {
        let proxy = crowded_block(name, NodeBehavior::FewLogs(8), is_final).await?;
        assert!(proxy.calls_of("eth_getBlockReceipts") > 0);
    }
    Ok(())
}
