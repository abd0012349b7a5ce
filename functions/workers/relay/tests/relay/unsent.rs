//! Transactions that end before they are sent: taken back, or too late.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use alloy::primitives::B256;
use futures::future::join_all;
use local::workshop::Workshop;
use shared::{
    clock,
    model::{TransactionId, TransactionStatus},
    store::artist::{Admitted, Artist, BatchReference, NewTransaction, Requeue},
};
use tokio::sync::watch;

use crate::{
    proxy::{self, Act, Gate},
    support::{
        Error, Ways, assert_done_once, outcomes, queue, relay, relay_over, renaming, run, spawn, stage, transaction,
        unsent_failure, until,
    },
};

#[tokio::test(flavor = "multi_thread")]
async fn cancelled_transaction_is_never_sent_and_gives_its_budget_back() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-cancelled", 2).await?;
    let (store, artist) = (workshop.transactions(), artists[0]);
    let id = queue(&workshop, &artist, vec![renaming(collection, "ar://taken-back")]).await?[0];
    let other = queue(&workshop, &artists[1], vec![renaming(collection, "ar://kept")]).await?[0];
    let row = transaction(&workshop, &artist, id).await?;

    assert!(store.cancel(&row, clock::now()?.as_secs()).await?);

    let again = transaction(&workshop, &artist, id).await?;
    assert!(!store.cancel(&again, clock::now()?.as_secs()).await?, "it is cancelled once");
    run(&relay(&workshop, &workshop.rpc_url)?).await?;
    let row = transaction(&workshop, &artist, id).await?;
    assert_eq!((row.status, row.hashes.len(), row.charge.wei), (TransactionStatus::Cancelled, 0, 0));
    let account = store.account(artist.artist_id, workshop.chain.id).await?.ok_or("no account")?;
    assert_eq!((account.waiting, account.spent), (0, 0));
    let sent = transaction(&workshop, &artists[1], other).await?;
    assert!(!store.cancel(&sent, clock::now()?.as_secs()).await?, "it is mined");
    let told = [(id, TransactionStatus::Cancelled), (other, TransactionStatus::Mined)];
    assert_eq!(outcomes(&workshop).await?, told);
    assert_done_once(&workshop, collection, &["ar://kept".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn transaction_cancelled_while_its_batch_is_signed_is_not_sent() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-cancelled-late", 2).await?;
    let (store, artist) = (workshop.transactions(), artists[0]);
    let is_signing = Arc::new(AtomicBool::new(false));
    let (signs, gate) = (Arc::clone(&is_signing), Gate::default());
    let signature = gate.clone();
    let mut ways = Ways::of(&workshop);
    ways.kms = proxy::start(&ways.kms, move |request| {
        if request.operation == "Sign" && !signs.swap(true, Relaxed) {
            return Act::Wait(signature.clone());
        }
        Act::Forward
    })
    .await?;
    let id = queue(&workshop, &artist, vec![renaming(collection, "ar://taken-back")]).await?[0];
    queue(&workshop, &artists[1], vec![renaming(collection, "ar://kept")]).await?;
    let mut running = spawn(relay_over(&workshop, &ways).await?);
    until("signing", async || Ok(is_signing.load(Relaxed))).await?;

    let row = transaction(&workshop, &artist, id).await?;
    assert!(store.cancel(&row, clock::now()?.as_secs()).await?);
    gate.open();

    running.done().await?;
    assert_eq!(transaction(&workshop, &artist, id).await?.status, TransactionStatus::Cancelled);
    assert_done_once(&workshop, collection, &["ar://kept".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn cancellations_at_any_time_are_true_or_refused() -> Result<(), Error> {
    const EACH: usize = 6;
    let (workshop, artists, collection) = stage("relay-cancelled-races", 5).await?;
    let store = workshop.transactions();
    let mut ids = Vec::new();
    for number in 0..EACH {
        for (index, artist) in artists.iter().enumerate() {
            let uri = format!("ar://{index}/{number}");
            ids.push((*artist, queue(&workshop, artist, vec![renaming(collection, &uri)]).await?[0], uri));
        }
    }
    let calls = Arc::new(watch::Sender::new(0_usize));
    let (counter, mut ways) = (Arc::clone(&calls), Ways::of(&workshop));
    ways.store = proxy::start(&ways.store, move |_| {
        counter.send_modify(|count| *count = count.saturating_add(1));
        Act::Forward
    })
    .await?;
    let mut running = spawn(relay_over(&workshop, &ways).await?);

    // Between any two calls of the relay to the database.
    let cancel = async |place: usize, artist: &Artist, id: TransactionId| -> Result<bool, Error> {
        calls.subscribe().wait_for(|count| *count >= place * 37 % (4 * ids.len())).await?;
        let row = transaction(&workshop, artist, id).await?;
        Ok(store.cancel(&row, clock::now()?.as_secs()).await?)
    };
    let cancelled = join_all(ids.iter().enumerate().map(|(place, (artist, id, _))| cancel(place, artist, *id)));
    let (cancelled, done) = tokio::join!(cancelled, async {
        let done = running.done().await;
        // It makes no more.
        calls.send_replace(usize::MAX);
        done
    });
    done?;
    let mut expected = Vec::new();
    for ((artist, id, uri), is_cancelled) in ids.iter().zip(cancelled) {
        let (status, is_cancelled) = (transaction(&workshop, artist, *id).await?.status, is_cancelled?);
        let outcome = if is_cancelled { TransactionStatus::Cancelled } else { TransactionStatus::Mined };
        assert_eq!(status, outcome, "{uri}");
        expected.extend((!is_cancelled).then(|| uri.clone()));
    }
    for artist in &artists {
        let account = store.account(artist.artist_id, workshop.chain.id).await?.ok_or("no account")?;
        assert_eq!(account.waiting, 0);
    }
    assert_done_once(&workshop, collection, &expected).await
}

/// Queues a transaction as if a minute ago, for half a minute.
async fn queue_late(workshop: &Workshop, artist: &Artist, wish: NewTransaction) -> Result<TransactionId, Error> {
    let now = clock::now()?;
    let late = NewTransaction { valid_until: Some(now.as_secs() - 30), ..wish };
    let admission = workshop.admission(artist, vec![late]).await?;
    match workshop.transactions().admit(&admission, now - Duration::from_secs(60)).await? {
        Admitted::Queued(queued) => Ok(queued[0].id),
        Admitted::Refused(refusal) => Err(format!("{refusal:?}").into()),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn write_that_was_sent_ends_as_reverted_when_its_time_is_over() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-expired-sent", 1).await?;
    let (store, artist, now) = (workshop.transactions(), artists[0], clock::now()?.as_secs());
    let id = queue_late(&workshop, &artist, renaming(collection, "ar://sent")).await?;
    // A batch had it, and gave it back.
    let batch = BatchReference { lane: workshop.lanes()[0].0.into(), nonce: 0 };
    let queued = transaction(&workshop, &artist, id).await?;
    assert!(store.mark_sent(&queued, batch, B256::repeat_byte(1), now).await?);
    let sent = transaction(&workshop, &artist, id).await?;
    assert!(!store.end(&sent, &unsent_failure(), now).await?, "a block may still have it");
    assert!(store.requeue(&sent, Requeue { attempt: Some((batch, 0)), ..Requeue::default() }, now).await?);
    let mut dear = relay(&workshop, &workshop.rpc_url)?;
    dear.chain.spending.max_fee_per_gas = 1;

    let report = run(&dear).await?;

    let row = transaction(&workshop, &artist, id).await?;
    assert_eq!((report.ended, row.status, row.mined), (1, TransactionStatus::Reverted, None));
    let reason = row.reason.unwrap_or_default();
    assert!(reason.contains("in time"), "{reason}");
    assert!(!store.end(&queued, &unsent_failure(), now).await?, "it was sent");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn transaction_ends_unsent_when_its_time_is_over_although_none_can_be_sent() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-expired", 2).await?;
    let (store, artist, now) = (workshop.transactions(), artists[0], clock::now()?);
    let id = queue_late(&workshop, &artist, renaming(collection, "ar://too-late")).await?;
    let mut dear = relay(&workshop, &workshop.rpc_url)?;
    dear.chain.spending.max_fee_per_gas = 1;

    let report = run(&dear).await?;

    let row = transaction(&workshop, &artist, id).await?;
    assert_eq!((report.ended, row.status, row.hashes.len()), (1, TransactionStatus::Failed, 0));
    let reason = row.reason.unwrap_or_default();
    assert!(reason.contains("in time"), "{reason}");
    let account = store.account(artist.artist_id, workshop.chain.id).await?.ok_or("no account")?;
    assert_eq!((account.waiting, account.spent), (0, 0));
    let in_time = NewTransaction { valid_until: Some(now.as_secs() + 3_600), ..renaming(collection, "ar://in-time") };
    queue(&workshop, &artists[1], vec![in_time]).await?;
    run(&relay(&workshop, &workshop.rpc_url)?).await?;
    assert_done_once(&workshop, collection, &["ar://in-time".to_owned()]).await
}
