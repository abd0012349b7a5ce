//! Transactions that end before they are sent: taken back, or too late.

use std::{
    slice,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use alloy::primitives::{B256, U256};
use futures::future::join_all;
use local::workshop::Workshop;
use relay::ChainRelay;
use shared::{
    clock,
    model::{Amount, DAY, DailySpend, KeyId, TransactionId, TransactionStatus},
    store::artist::{
        Admission, Admitted, Artist, BatchReference, CountedOutlay, Ending, NewTransaction, Outlay, Requeue, Spent,
        Transaction,
    },
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
async fn unsent_transactions_give_back_what_they_count_against_a_keys_limit_that_day() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-outlay", 1).await?;
    let (store, artist) = (workshop.transactions(), artists[0]);
    let (key, at) = (Some(KeyId::next()), clock::now()?);
    let (now, tomorrow) = (at.as_secs(), at.as_secs() + DAY);
    let each = [1, 20, 300, 4_000, 50_000].map(|amount| Spent { eth: amount, usdc: 10 * amount });
    let renamings = (0..each.len()).map(|number| renaming(collection, &format!("ar://{number}"))).collect();
    let admission = Admission {
        key,
        outlay: Some(Outlay { key, limit: DailySpend::default(), each: each.to_vec() }),
        ..workshop.admission(&artist, renamings).await?
    };
    let Admitted::Queued(rows) = store.admit(&admission, at).await? else { return Err("refused".into()) };
    let spent = async || Ok::<_, Error>(store.spent(artist.artist_id, key, now).await?);
    assert_eq!(spent().await?, Spent { eth: 54_321, usdc: 543_210 });

    assert!(store.cancel(&rows[0], now).await?);
    assert!(store.end(&rows[1], &unsent_failure(), now).await?);
    assert!(!store.end(&rows[1], &unsent_failure(), now).await?, "it is over");
    assert_eq!(spent().await?, Spent { eth: 54_300, usdc: 543_000 });

    // What is done was paid, and another day's limit isn't what it counts against.
    let done = Ending { status: TransactionStatus::Mined, ..unsent_failure() };
    assert!(store.end(&rows[2], &done, now).await?);
    assert!(store.end(&rows[3], &unsent_failure(), tomorrow).await?);
    // A row that says more than was counted ends, too.
    let counted = rows[4].outlay.ok_or("not counted")?;
    let outlay = Some(CountedOutlay { eth: Amount(U256::MAX), ..counted });
    assert!(store.end(&Transaction { outlay, ..rows[4].clone() }, &unsent_failure(), now).await?);
    assert_eq!(spent().await?, Spent { eth: 54_300, usdc: 543_000 });
    assert_eq!(store.spent(artist.artist_id, key, tomorrow).await?, Spent::default());
    Ok(())
}

/// A way to a node or to KMS that holds the first call of a kind until the gate opens, and counts calls of that kind.
async fn held_at(
    target: &str,
    is_one: impl Fn(&proxy::Request) -> bool + Send + Sync + 'static,
) -> Result<(String, Gate, Arc<AtomicUsize>), Error> {
    let (gate, calls) = (Gate::default(), Arc::new(AtomicUsize::new(0)));
    let (late, counter) = (gate.clone(), Arc::clone(&calls));
    let url = proxy::start(target, move |request| {
        if is_one(request) && counter.fetch_add(1, Relaxed) == 0 { Act::Wait(late.clone()) } else { Act::Forward }
    })
    .await?;
    Ok((url, gate, calls))
}

#[tokio::test(flavor = "multi_thread")]
async fn member_cancelled_before_its_claim_leaves_the_others_in_the_batch() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-cancelled-early", 3).await?;
    let (store, artist) = (workshop.transactions(), artists[0]);
    let id = queue(&workshop, &artist, vec![renaming(collection, "ar://taken-back")]).await?[0];
    let later = queue(&workshop, &artist, vec![renaming(collection, "ar://later")]).await?[0];
    for (index, other) in artists[1..].iter().enumerate() {
        queue(&workshop, other, vec![renaming(collection, &format!("ar://kept/{index}"))]).await?;
    }
    // The packed batch is tried in the name of its lane.
    let lanes: Vec<_> = workshop.lanes().iter().map(|(lane, _)| lane.to_string().to_lowercase()).collect();
    let is_trial = move |request: &proxy::Request| {
        let caller = request.body["params"][0]["from"].as_str().map(str::to_lowercase);
        request.operation == "eth_call" && caller.is_some_and(|caller| lanes.contains(&caller))
    };
    let mut ways = Ways::of(&workshop);
    let (node, gate, trials) = held_at(&ways.node, is_trial).await?;
    let (kms, signature, signatures) = held_at(&ways.kms, |request| request.operation == "Sign").await?;
    (ways.node, ways.kms) = (node, kms);
    let mut running = spawn(relay_over(&workshop, &ways).await?);
    until("tried", async || Ok(trials.load(Relaxed) > 0)).await?;

    let row = transaction(&workshop, &artist, id).await?;
    assert!(store.cancel(&row, clock::now()?.as_secs()).await?);
    gate.open();
    until("signing", async || Ok(signatures.load(Relaxed) > 0)).await?;
    // It was to come after the cancelled one, in a batch that deploys their account.
    assert_eq!(transaction(&workshop, &artist, later).await?.status, TransactionStatus::Queued);
    signature.open();

    let report = running.done().await?;
    let row = transaction(&workshop, &artist, id).await?;
    assert_eq!((row.status, row.batch), (TransactionStatus::Cancelled, None));
    assert_eq!((report.batches, signatures.load(Relaxed)), (2, 2), "no signature was made in vain");
    let expected = ["ar://kept/0", "ar://kept/1", "ar://later"].map(str::to_owned);
    assert_done_once(&workshop, collection, &expected).await
}

#[tokio::test(flavor = "multi_thread")]
async fn transaction_whose_batch_is_being_signed_is_not_cancelled() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-cancelled-late", 1).await?;
    let (store, artist) = (workshop.transactions(), artists[0]);
    let mut ways = Ways::of(&workshop);
    let (kms, gate, signatures) = held_at(&ways.kms, |request| request.operation == "Sign").await?;
    ways.kms = kms;
    let id = queue(&workshop, &artist, vec![renaming(collection, "ar://signed")]).await?[0];
    let mut running = spawn(relay_over(&workshop, &ways).await?);
    until("signing", async || Ok(signatures.load(Relaxed) > 0)).await?;

    let row = transaction(&workshop, &artist, id).await?;
    assert!(!store.cancel(&row, clock::now()?.as_secs()).await?);
    assert_eq!((row.status, row.hashes.len()), (TransactionStatus::Sent, 0), "nothing is sent yet");
    gate.open();

    running.done().await?;
    assert_eq!(transaction(&workshop, &artist, id).await?.status, TransactionStatus::Mined);
    assert_done_once(&workshop, collection, &["ar://signed".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn transaction_whose_batch_is_not_signed_can_be_cancelled() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-unsigned", 1).await?;
    let (store, artist) = (workshop.transactions(), artists[0]);
    let mut ways = Ways::of(&workshop);
    ways.kms = proxy::start(&ways.kms, |request| match &*request.operation {
        "Sign" => Act::Answer(400, r#"{"__type":"DisabledException","message":"disabled"}"#.to_owned()),
        _ => Act::Forward,
    })
    .await?;
    let id = queue(&workshop, &artist, vec![renaming(collection, "ar://unsigned")]).await?[0];
    let mut running = spawn(relay_over(&workshop, &ways).await?);

    // Between two attempts to sign.
    until("cancelled", async || {
        let row = transaction(&workshop, &artist, id).await?;
        Ok(store.cancel(&row, clock::now()?.as_secs()).await?)
    })
    .await?;

    running.done().await?;
    assert_done_once(&workshop, collection, &[]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn claims_of_a_relay_that_died_before_signing_are_taken_up() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-claimed", 2).await?;
    let (store, now) = (workshop.transactions(), clock::now()?.as_secs());
    let mut ways = Ways::of(&workshop);
    let (kms, _gate, signatures) = held_at(&ways.kms, |request| request.operation == "Sign").await?;
    ways.kms = kms;
    let id = queue(&workshop, &artists[0], vec![renaming(collection, "ar://claimed")]).await?[0];
    let late = queue(&workshop, &artists[1], vec![renaming(collection, "ar://late")]).await?[0];
    let died = relay_over(&workshop, &ways).await?;
    let holder = died.holder.clone();
    let running = spawn(died);
    until("signing", async || Ok(signatures.load(Relaxed) > 0)).await?;
    running.kill().await?;

    let claimed = transaction(&workshop, &artists[1], late).await?;
    assert_eq!((claimed.status, claimed.hashes.len()), (TransactionStatus::Sent, 0));
    // As if its time were over: no batch has it.
    let lease = store.acquire_lease(workshop.chain.id, &holder).await?.ok_or("no lead")?;
    assert!(store.give_up(&lease, &claimed, &Ending::given_up(&claimed, "Too late"), now).await?);
    let next = ChainRelay { holder, ..relay(&workshop, &workshop.rpc_url)? };
    assert_eq!(run(&next).await?.transactions, 1);

    let [claimed, late] =
        [transaction(&workshop, &artists[0], id).await?, transaction(&workshop, &artists[1], late).await?];
    assert_eq!((claimed.status, claimed.hashes.len()), (TransactionStatus::Mined, 1));
    assert_eq!(late.status, TransactionStatus::Failed);
    assert_done_once(&workshop, collection, &["ar://claimed".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn former_leader_takes_no_claim_back() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-former-claim", 1).await?;
    let (store, chain, artist, now) = (workshop.transactions(), workshop.chain.id, artists[0], clock::now()?.as_secs());
    let id = queue(&workshop, &artist, vec![renaming(collection, "ar://claimed")]).await?[0];
    let queued = transaction(&workshop, &artist, id).await?;
    let batch = BatchReference { lane: workshop.lanes()[0].0.into(), nonce: 0 };
    let former = store.acquire_lease(chain, "former").await?.ok_or("no lead")?;
    assert!(store.claim(&queued, batch, now).await?);
    assert!(store.claim(&queued, batch, now).await?, "a call whose answer is lost is repeated");
    let other = BatchReference { nonce: 1, ..batch };
    assert!(!store.claim(&queued, other, now).await?, "it was read before another batch claimed it");
    store.release_lease(&former).await?;
    let next = store.acquire_lease(chain, "next").await?.ok_or("no lead")?;

    assert!(!store.unclaim(&former, slice::from_ref(&queued), batch, now).await?);
    let claimed = transaction(&workshop, &artist, id).await?;
    assert_eq!((claimed.status, claimed.batch), (TransactionStatus::Sent, Some(batch)));
    assert!(store.unclaim(&next, slice::from_ref(&queued), batch, now).await?);
    let back = transaction(&workshop, &artist, id).await?;
    assert_eq!((back.status, back.batch), (TransactionStatus::Queued, None));
    assert!(store.cancel(&back, now).await?);
    Ok(())
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
