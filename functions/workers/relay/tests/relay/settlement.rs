//! What failed in a block is told once that block is settled.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use alloy::{
    primitives::{Address, B256, U256},
    providers::ext::AnvilApi,
};
use local::{
    contracts::DEPLOYER,
    workshop::{Workshop, reorganise},
};
use relay::ChainRelay;
use shared::{
    chain::{contracts::native::Creator1155, protocol::permission::Permission},
    clock,
    model::{Call, TransactionId, TransactionStatus},
    store::artist::{Artist, BatchReference, NewTransaction, Requeue},
};

use crate::{
    proxy::{self, Act, Gate},
    support::{
        Error, FOREVER, Running, Ways, act_as, assert_done_once, batch_of, counting, forgetful, outcomes, queue, relay,
        relay_over, renaming, run, spawn, stage, token_creation, transaction, until, until_pooled, until_sent,
        until_sent_again, until_turned,
    },
};

/// Blocks that settle the one before them.
const CONFIRMATIONS: u64 = 4;

/// A relay for which blocks come when the test says so, and none is taken for lost.
fn careful(relay: ChainRelay) -> ChainRelay {
    let mut relay = relay;
    (relay.times.quiet, relay.times.grace) = (FOREVER, FOREVER);
    (relay.chain.confirmations, relay.chain.reorg_depth) = (CONFIRMATIONS, 3 * CONFIRMATIONS);
    relay
}

/// Waits until the failure of a transaction in a block is stored as one that waits.
async fn until_failing(workshop: &Workshop, artist: &Artist, id: TransactionId) -> Result<(), Error> {
    until("failing", async || {
        let batch = batch_of(workshop, &transaction(workshop, artist, id).await?).await?;
        Ok(batch.is_some_and(|batch| batch.pending.iter().any(|pending| pending.transaction_id == id)))
    })
    .await
}

async fn mine(workshop: &Workshop, blocks: u64) -> Result<(), Error> {
    Ok(workshop.node().await?.anvil_mine(Some(blocks), None).await?)
}

/// Sends what is refused, and mines it.
async fn refused(workshop: &Workshop, artist: &Artist, relay: ChainRelay) -> Result<(TransactionId, Running), Error> {
    let closed = workshop.collection(&[]).await?;
    workshop.node().await?.anvil_set_auto_mine(false).await?;
    let id = queue(workshop, artist, vec![renaming(closed, "ar://forbidden")]).await?[0];
    let running = spawn(careful(relay));
    until_pooled(workshop, &until_sent(workshop, artist, id).await?).await?;
    mine(workshop, 1).await?;
    Ok((id, running))
}

async fn assert_refused_once(workshop: &Workshop, artist: &Artist, id: TransactionId) -> Result<(), Error> {
    let row = transaction(workshop, artist, id).await?;
    let reason = row.reason.as_deref().unwrap_or_default();
    assert!(row.status == TransactionStatus::Reverted && reason.contains("lacks the permission"), "{row:?}");
    assert!(row.mined.is_some() && row.charge.wei > 0, "{row:?}");
    assert_eq!(outcomes(workshop).await?, [(id, TransactionStatus::Reverted)]);
    let account = workshop.transactions().account(artist.artist_id, workshop.chain.id).await?.ok_or("no account")?;
    assert_eq!((account.waiting, account.spent), (0, row.charge.wei));
    let batch = batch_of(workshop, &row).await?.ok_or("no batch")?;
    assert!(batch.pending.is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn failure_is_told_once_its_block_is_settled() -> Result<(), Error> {
    let (workshop, artists, _) = stage("relay-settled", 1).await?;
    let (url, balances) = counting(&workshop.rpc_url, "eth_getBalance").await?;
    let (id, mut running) = refused(&workshop, &artists[0], relay(&workshop, &url)?).await?;
    until_failing(&workshop, &artists[0], id).await?;
    mine(&workshop, CONFIRMATIONS - 1).await?;
    until_turned(&workshop, &balances).await?;
    assert_eq!(transaction(&workshop, &artists[0], id).await?.status, TransactionStatus::Sent);
    assert!(outcomes(&workshop).await?.is_empty());

    mine(&workshop, 1).await?;

    assert_eq!(running.done().await?.batches, 1, "it was sent once");
    assert_refused_once(&workshop, &artists[0], id).await
}

#[tokio::test(flavor = "multi_thread")]
async fn crash_while_a_failure_waits_tells_it_once() -> Result<(), Error> {
    let (workshop, artists, _) = stage("relay-unsettled", 1).await?;
    let (settles, mut ways) = (Arc::new(AtomicBool::new(false)), Ways::of(&workshop));
    let settled = Arc::clone(&settles);
    // The ending is stored, and nobody is told of it.
    ways.store = proxy::start(&ways.store, move |request| {
        if request.body.to_string().contains("SET #status = :status REMOVE pending") {
            settled.store(true, Relaxed);
            return Act::Hold(FOREVER);
        }
        Act::Forward
    })
    .await?;
    let first = relay_over(&workshop, &ways).await?;
    let holder = first.holder.clone();
    let (id, running) = refused(&workshop, &artists[0], first).await?;
    until_failing(&workshop, &artists[0], id).await?;
    mine(&workshop, CONFIRMATIONS).await?;
    until("settling", async || Ok(settles.load(Relaxed))).await?;
    assert_eq!(transaction(&workshop, &artists[0], id).await?.status, TransactionStatus::Reverted);
    running.kill().await?;

    run(&ChainRelay { holder, ..careful(relay(&workshop, &workshop.rpc_url)?) }).await?;

    assert_refused_once(&workshop, &artists[0], id).await
}

#[tokio::test(flavor = "multi_thread")]
async fn former_leader_tells_no_failure_of_what_was_sent_again() -> Result<(), Error> {
    let (workshop, artists, _) = stage("relay-told-late", 1).await?;
    let (store, artist, mut ways) = (workshop.transactions(), artists[0], Ways::of(&workshop));
    let (gate, is_held) = (Gate::default(), Arc::new(AtomicBool::new(false)));
    let (late, held) = (gate.clone(), Arc::clone(&is_held));
    // The ending is under way when the lead is lost.
    ways.store = proxy::start(&ways.store, move |request| {
        if request.operation == "TransactWriteItems" && request.body.to_string().contains(r#""reverted""#) {
            held.store(true, Relaxed);
            return Act::Wait(late.clone());
        }
        Act::Forward
    })
    .await?;
    let former = relay_over(&workshop, &ways).await?;
    let holder = former.holder.clone();
    let (id, running) = refused(&workshop, &artist, former).await?;
    until_failing(&workshop, &artist, id).await?;
    let failing = transaction(&workshop, &artist, id).await?;
    mine(&workshop, CONFIRMATIONS).await?;
    until("held", async || Ok(is_held.load(Relaxed))).await?;

    store.acquire_lease(workshop.chain.id, &holder).await?.ok_or("no lead")?;
    let (now, first) = (clock::now()?.as_secs(), failing.batch.ok_or("no batch")?);
    assert!(store.requeue(&failing, Requeue::default(), now).await?);
    let again = BatchReference { nonce: first.nonce + 100, ..first };
    let queued = transaction(&workshop, &artist, id).await?;
    assert!(store.mark_sent(&queued, again, B256::repeat_byte(1), now).await?);
    gate.open();
    until("settled", async || {
        let batch = batch_of(&workshop, &failing).await?;
        Ok(batch.is_some_and(|batch| batch.pending.is_empty()))
    })
    .await?;

    assert_eq!(transaction(&workshop, &artist, id).await?.status, TransactionStatus::Sent);
    assert!(outcomes(&workshop).await?.is_empty());
    running.kill().await
}

#[tokio::test(flavor = "multi_thread")]
async fn artist_goes_on_while_a_failure_waits() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-goes-on", 1).await?;
    let artist = artists[0];
    let (id, mut running) = refused(&workshop, &artist, relay(&workshop, &workshop.rpc_url)?).await?;
    until_failing(&workshop, &artist, id).await?;

    let next = queue(&workshop, &artist, vec![renaming(collection, "ar://next")]).await?[0];
    let sent = until_sent(&workshop, &artist, next).await?;
    until_pooled(&workshop, &sent).await?;
    mine(&workshop, 1).await?;
    let is_mined = async || Ok(transaction(&workshop, &artist, next).await?.status == TransactionStatus::Mined);
    until("mined", is_mined).await?;
    let waiting = transaction(&workshop, &artist, id).await?;
    let lane = |batch: Option<BatchReference>| batch.map(|batch| batch.lane);
    assert_eq!((waiting.status, lane(waiting.batch)), (TransactionStatus::Sent, lane(sent.batch)));

    mine(&workshop, CONFIRMATIONS).await?;
    running.done().await?;
    assert_eq!(transaction(&workshop, &artist, id).await?.status, TransactionStatus::Reverted);
    let told = [(next, TransactionStatus::Mined), (id, TransactionStatus::Reverted)];
    assert_eq!(outcomes(&workshop).await?, told);
    assert_done_once(&workshop, collection, &["ar://next".to_owned()]).await
}

/// What fails in its block because of the calls before it is done in the one that takes that block's place.
async fn succeed_after_all(
    workshop: &Workshop,
    artist: &Artist,
    wish: NewTransaction,
    before: Vec<Call>,
) -> Result<TransactionId, Error> {
    let node = workshop.node().await?;
    node.anvil_set_auto_mine(false).await?;
    let id = queue(workshop, artist, vec![wish]).await?[0];
    let (url, forgets) = forgetful(workshop).await?;
    let mut running = spawn(careful(relay(workshop, &url)?));
    let batch = until_sent(workshop, artist, id).await?.batch.ok_or("no batch")?;
    for call in before {
        act_as(workshop, DEPLOYER, call).await?;
    }
    forgets.store(false, Relaxed);
    until_sent_again(workshop, batch).await?;
    mine(workshop, 1).await?;
    until_failing(workshop, artist, id).await?;
    assert_eq!(transaction(workshop, artist, id).await?.status, TransactionStatus::Sent);

    reorganise(&node, 1).await?;
    until_sent_again(workshop, batch).await?;
    mine(workshop, CONFIRMATIONS + 1).await?;
    running.done().await?;

    let row = transaction(workshop, artist, id).await?;
    assert_eq!((row.status, row.attempts), (TransactionStatus::Mined, 0), "{row:?}");
    assert_eq!(outcomes(workshop).await?, [(id, TransactionStatus::Mined)]);
    Ok(id)
}

#[tokio::test(flavor = "multi_thread")]
async fn failure_that_succeeds_in_another_block_is_told_as_mined_alone() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-succeeds", 1).await?;
    let removal = |token| {
        let removal = Creator1155::removePermissionCall {
            tokenId: token,
            user: artists[0].embedded_wallet.into(),
            permissionBits: U256::from(Permission::Admin as u8),
        };
        Call::new(collection, &removal)
    };
    let before = [U256::ZERO, U256::ONE].map(removal).into();
    succeed_after_all(&workshop, &artists[0], renaming(collection, "ar://after-all"), before).await?;
    assert_done_once(&workshop, collection, &["ar://after-all".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn attempts_that_cost_too_much_in_a_dropped_block_end_nothing() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-dear-attempt", 1).await?;
    let poor = NewTransaction { reserve: 1, ..token_creation(&artists[0], collection, "ar://poor")? };
    let other = Creator1155::setupNewTokenCall { newURI: "ar://other".to_owned(), maxSupply: U256::ONE };
    succeed_after_all(&workshop, &artists[0], poor, vec![Call::new(collection, &other)]).await?;
    assert_next_token(&workshop, collection, 3).await
}

async fn assert_next_token(workshop: &Workshop, collection: Address, expected: u64) -> Result<(), Error> {
    let next = Creator1155::new(collection, workshop.node().await?).nextTokenId().call().await?;
    assert_eq!(next, U256::from(expected));
    Ok(())
}
