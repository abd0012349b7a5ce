//! Batches, and storage that fails or throttles within one.

use std::{collections::BTreeSet, sync::atomic::Ordering};

use alloy::providers::Provider;
use tests::{DatabaseProxy, Error, TestChain, history::History};

use crate::support::{Indexer, NodeBehavior, NodeProxy};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_written_batch_is_undone_and_written_again() -> Result<(), Error> {
    let test_chain = TestChain::start("half-written", 64).await?;
    let mut history = History::on(&test_chain, 6).await?;
    let proxy = DatabaseProxy::start().await?;
    let mut indexer = Indexer::through(&test_chain, &[&test_chain.rpc_url], Some(&proxy)).await?;

    let mut failures = 0;
    for round in 0..5 {
        // Enough for more than one DynamoDB transaction.
        history.go_on(60).await?;
        for allowed in [0, 1, 2, 3, 5, 8, 13, 21, i64::from(round)] {
            proxy.left.store(allowed, Ordering::Relaxed);
            failures += usize::from(indexer.follow().await.is_err());
        }
        proxy.left.store(i64::MAX, Ordering::Relaxed);
        indexer.follow().await?;
        indexer.assert_fresh(&test_chain, &format!("round {round}")).await?;
    }
    assert!(failures >= 10, "only {failures} runs failed");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_written_history_is_written_again() -> Result<(), Error> {
    let test_chain = TestChain::start("half-history", 4).await?;
    let mut history = History::on(&test_chain, 7).await?;
    let proxy = DatabaseProxy::start().await?;
    let mut indexer = Indexer::through(&test_chain, &[&test_chain.rpc_url], Some(&proxy)).await?;
    let mut failures = 0;
    for round in 0..4 {
        history.go_on(60).await?;
        test_chain.finalise().await?;
        for allowed in [1, 3, 6, 10, 15] {
            proxy.left.store(allowed, Ordering::Relaxed);
            failures += usize::from(indexer.follow().await.is_err());
            // The process dies, and another one continues.
            proxy.left.store(i64::MAX, Ordering::Relaxed);
            indexer.restart().await?;
        }
        indexer.follow().await?;
        indexer.assert_fresh(&test_chain, &format!("round {round}")).await?;
    }
    assert!(failures >= 8, "only {failures} runs failed");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batches_of_a_history_go_on_where_ranges_end() -> Result<(), Error> {
    let test_chain = TestChain::start("short-ranges", 4).await?;
    let mut history = History::on(&test_chain, 9).await?;
    history.go_on(60).await?;
    test_chain.finalise().await?;
    let node = NodeProxy::in_front_of(&test_chain.rpc_url, NodeBehavior::FewBlocks(3)).await?;
    let mut indexer = Indexer::of(&test_chain, &[&node.url]).await?;
    let events = indexer.follow().await?.events;
    let commits = indexer.commits().await?;
    // A batch over a transaction's limits takes two, and the blocks that aren't final take one.
    assert!(events > 60 && commits <= 6, "{commits} commits for {events} events");
    indexer.assert_fresh(&test_chain, "short ranges").await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn images_of_two_writers_never_meet() -> Result<(), Error> {
    let test_chain = TestChain::start("two-writers", 400).await?;
    let mut history = History::on(&test_chain, 10).await?;
    let proxy = DatabaseProxy::start().await?;
    let mut indexer = Indexer::through(&test_chain, &[&test_chain.rpc_url], Some(&proxy)).await?;
    history.go_on(30).await?;
    indexer.follow().await?;
    let (before, first) = (indexer.rows().await?, test_chain.node.get_block_number().await? + 1);
    history.go_on(60).await?;

    // The first writer has written its images, and dies before it marks its batch.
    let images = async |indexer: &Indexer| {
        let rows = indexer.all_rows().await?.into_keys();
        Ok::<_, Error>(rows.filter(|(pk, _)| pk.starts_with("JOURNAL#")).collect::<BTreeSet<_>>())
    };
    let (known, mut attempts) = (images(&indexer).await?, 0);
    while images(&indexer).await? == known {
        // Documents are queued first, one write an attempt.
        attempts += 1;
        assert!(attempts < 40, "no images");
        proxy.left.store(1, Ordering::Relaxed);
        assert!(indexer.follow().await.is_err());
    }
    proxy.left.store(i64::MAX, Ordering::Relaxed);
    let of_the_first = images(&indexer).await?;
    // The second one reads another part of the same blocks, and undoes it by its own images.
    indexer.restart().await?;
    let head = test_chain.node.get_block_number().await?;
    indexer.follower.follow(Some(head - 7), None, &[]).await?;
    let of_both = images(&indexer).await?;
    assert!(of_both.len() > of_the_first.len() && of_both.is_superset(&of_the_first), "{of_both:?}");
    test_chain.roll_back(head + 1 - first).await?;
    indexer.follow().await?;
    assert!(indexer.rows().await? == before, "rows of dropped blocks are left");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn throttling_slows_down_and_undoes_nothing() -> Result<(), Error> {
    let test_chain = TestChain::start("throttled", 16).await?;
    let mut history = History::on(&test_chain, 8).await?;
    let proxy = DatabaseProxy::start().await?;
    let mut indexer = Indexer::through(&test_chain, &[&test_chain.rpc_url], Some(&proxy)).await?;
    for round in 0..2 {
        history.go_on(60).await?;
        proxy.throttled.store(4, Ordering::Relaxed);
        let followed = indexer.follow().await?;
        assert_eq!(followed.undone, 0);
        proxy.throttled.store(0, Ordering::Relaxed);
        indexer.assert_fresh(&test_chain, &format!("round {round}")).await?;
    }
    Ok(())
}
