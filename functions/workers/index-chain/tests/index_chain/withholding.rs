//! What the operator hides, however much of it there is.

use std::sync::atomic::Ordering;

use alloy::primitives::{B256, U256};
use shared::{
    model::{Action, Address, Collection, Reason, Subject},
    store::{
        artist::{Decision, Moderation},
        chain::Moments,
        engine::{Journal, UnitOfWork},
    },
};
use tests::{DatabaseProxy, Error, TestChain, history::History};

use crate::support::Indexer;

/// More collections than a run below has writes for.
const COLLECTIONS: u64 = 2_500;
/// Collections that are added together.
const ADDED: u64 = 500;
/// Writes of a run: enough to undo one batch and to write the next one.
const WRITES: i64 = 70;
const RUNS: usize = 20;

/// Adds collections of a creator that the chain doesn't have.
async fn add_collections(indexer: &Indexer, like: &Collection, creator: Address) -> Result<(), Error> {
    let mut work = UnitOfWork::new(indexer.table.clone());
    let mut journal = Journal::new(indexer.table.clone(), like.chain_id);
    journal.open(&mut work).await?;
    for number in 1..=COLLECTIONS {
        let address = alloy::primitives::Address::from_word(B256::from(U256::from(number << 40)));
        let collection = Collection { address: address.into(), creator, ..like.clone() };
        work.put_collection(&collection)?;
        work.list_for_creator(&collection).await?;
        if number.is_multiple_of(ADDED) {
            assert!(journal.commit_beside(&mut work, false).await?, "there is no block");
        }
    }
    Ok(())
}

async fn withheld(indexer: &Indexer) -> Result<u64, Error> {
    let rows = indexer.all_rows().await?.into_iter().filter(|((pk, _), _)| pk.starts_with("COLLECTION#"));
    let is_withheld = rows.filter(|(_, row)| row.get("is_withheld").is_some_and(|it| it.as_bool() == Ok(&true)));
    Ok(is_withheld.count() as u64)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn collections_of_a_hidden_artist_are_hidden_in_batches_and_shown_again() -> Result<(), Error> {
    let test_chain = TestChain::start("withholding", 64).await?;
    let mut history = History::on(&test_chain, 44).await?;
    let proxy = DatabaseProxy::start().await?;
    let mut indexer = Indexer::through(&test_chain, &[&test_chain.rpc_url], Some(&proxy)).await?;
    let (collection, ..) = history.conversation(history.people[0]).await?;
    indexer.follow().await?;
    let (chain, creator) = (test_chain.chain.id, alloy::primitives::Address::repeat_byte(0xc1).into());
    let like = Moments::new(indexer.table.clone()).collection(chain, collection.into()).await?;
    let like = like.ok_or("no collection")?;
    add_collections(&indexer, &like, creator).await?;

    let moderation = Moderation::new(indexer.artists.clone());
    let decision = Decision {
        subject: Subject::Artist(creator),
        action: Action::Hide,
        reason: Reason::Spam,
        note: "too much".to_owned(),
        by: "the night shift".to_owned(),
        at: 1_000,
        until: None,
        with: None,
    };
    assert!(moderation.decide(decision.clone(), None, "2026-11").await?);
    let mut failed = 0;
    for _ in 0..RUNS {
        proxy.left.store(WRITES, Ordering::Relaxed);
        let is_done = indexer.follow().await.is_ok();
        proxy.left.store(i64::MAX, Ordering::Relaxed);
        if is_done {
            break;
        }
        failed += 1;
    }
    assert!((1..RUNS).contains(&failed), "{failed} runs failed");
    assert_eq!(withheld(&indexer).await?, COLLECTIONS);

    assert!(moderation.undo(decision, None, "the night shift", 1_001).await?);
    indexer.follow().await?;
    assert_eq!(withheld(&indexer).await?, 0);
    Ok(())
}
