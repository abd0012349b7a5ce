//! Relays that are killed between two steps, whose database fails at any step, or who lose the lead unseen.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use alloy::primitives::Address;
use local::workshop::Workshop;
use shared::{model::TransactionStatus, store::artist::Artist};
use tokio::sync::Notify;

use crate::{
    proxy::{self, Act, Gate, Request},
    support::{
        Error, FOREVER, SHORT, Ways, assert_done_once, nonces, queue, relay, relay_over, renaming, run, spawn, stage,
        transaction, unsent_failure, until, until_pooled, until_sent,
    },
};

/// Queues one transaction of each artist in each round, and interrupts a relay at the call whose number is the round's,
/// until a relay is done before it comes to that call. Another relay goes on.
async fn interrupt_at_every_call(
    name: &str,
    kills: bool,
    trouble: impl Fn(usize, usize, &Request) -> Act + Clone + Send + Sync + 'static,
) -> Result<usize, Error> {
    let (workshop, artists, collection) = stage(name, 2).await?;
    let (mut expected, mut step) = (Vec::new(), 0);
    loop {
        let at = (step, kills);
        let reached = interrupt(&workshop, &artists, collection, at, trouble.clone(), &mut expected).await?;
        if !reached {
            break;
        }
        step += 1;
    }
    assert_done_once(&workshop, collection, &expected).await?;
    for (lane, _) in workshop.lanes() {
        let (stored, on_chain) = nonces(&workshop, *lane).await?;
        assert_eq!(stored, on_chain);
    }
    for artist in artists {
        let account = workshop.transactions().account(artist.artist_id, workshop.chain.id).await?;
        assert_eq!(account.ok_or("no account")?.waiting, 0);
    }
    Ok(step)
}

async fn interrupt(
    workshop: &Workshop,
    artists: &[Artist],
    collection: Address,
    (step, kills): (usize, bool),
    trouble: impl Fn(usize, usize, &Request) -> Act + Clone + Send + Sync + 'static,
    expected: &mut Vec<String>,
) -> Result<bool, Error> {
    let mut ids = Vec::new();
    for (index, artist) in artists.iter().enumerate() {
        let uri = format!("ar://{index}/{step}");
        ids.push((*artist, queue(workshop, artist, vec![renaming(collection, &uri)]).await?[0]));
        expected.push(uri);
    }
    let (calls, reached) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    let decide = {
        let (calls, reached) = (Arc::clone(&calls), Arc::clone(&reached));
        move |request: &Request| {
            // Signs of life come at times of their own.
            let beats = request.body["UpdateExpression"] == "SET beat = :beat";
            let call = if beats { 0 } else { calls.fetch_add(1, Relaxed) };
            if kills && call == step && !beats {
                reached.notify_one();
            }
            if beats { Act::Forward } else { trouble(call, step, request) }
        }
    };
    let parts = Ways::of(workshop);
    let ways = Ways {
        node: proxy::start(&parts.node, decide.clone()).await?,
        kms: proxy::start(&parts.kms, decide.clone()).await?,
        store: proxy::start(&parts.store, decide).await?,
    };
    let mut disturbed = relay_over(workshop, &ways).await?;
    // On a slow machine it would make more calls.
    disturbed.times.fresh = FOREVER;
    let holder = disturbed.holder.clone();
    let mut running = spawn(disturbed);
    let is_done = tokio::select! {
        done = running.done() => {
            done?;
            true
        }
        () = reached.notified() => {
            // Calls that it made are answered, if they are; whether or not, it may die now.
            tokio::time::sleep(Duration::from_millis(50)).await;
            false
        }
    };
    let was_reached = if is_done {
        calls.load(Relaxed) > step
    } else {
        running.kill().await?;
        true
    };
    let mut healthy = relay(workshop, &workshop.rpc_url)?;
    healthy.holder = holder;
    run(&healthy).await?;
    for (artist, id) in ids {
        let row = transaction(workshop, &artist, id).await?;
        assert_eq!(row.status, TransactionStatus::Mined, "step {step}: {row:?}");
    }
    Ok(was_reached)
}

#[tokio::test(flavor = "multi_thread")]
async fn crash_before_any_call_loses_no_transaction() -> Result<(), Error> {
    let steps = interrupt_at_every_call("relay-crash-before", true, |call, step, _| {
        if call >= step { Act::Hold(FOREVER) } else { Act::Forward }
    });
    assert!(steps.await? > 15);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn crash_after_any_call_loses_no_transaction() -> Result<(), Error> {
    let steps = interrupt_at_every_call("relay-crash-after", true, |call, step, _| {
        if call >= step { Act::Late(FOREVER) } else { Act::Forward }
    });
    assert!(steps.await? > 15);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn database_failure_at_any_call_loses_no_transaction() -> Result<(), Error> {
    /// More than the client repeats by itself.
    const FAILURES: usize = 4;
    let steps = interrupt_at_every_call("relay-database", false, |call, step, request| {
        let is_database = request.body["jsonrpc"].is_null() && request.operation != "Sign";
        if !is_database || !(step..step + FAILURES).contains(&call) {
            return Act::Forward;
        }
        match step % 3 {
            0 => Act::Lose,
            1 => Act::throttle(),
            _ => Act::Answer(500, "{}".to_owned()),
        }
    });
    assert!(steps.await? > 15);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn paused_leader_repeats_nothing_after_losing_its_lease() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-still", 2).await?;
    let (parts, gate, held) = (Ways::of(&workshop), Gate::default(), Arc::new(AtomicUsize::new(0)));
    let (late, counter) = (gate.clone(), Arc::clone(&held));
    // The first leader's changes to batches come late, and it shows no life.
    let store = proxy::start(&parts.store, move |request| {
        let text = request.body.to_string();
        let (is_change, is_beat) = (text.contains("BATCH#"), text.contains("SET beat"));
        if request.operation == "GetItem" || !(is_change || is_beat) {
            return Act::Forward;
        }
        counter.fetch_add(usize::from(is_change), Relaxed);
        Act::Wait(late.clone())
    })
    .await?;
    let mut ids = Vec::new();
    for (index, artist) in artists.iter().enumerate() {
        ids.push(queue(&workshop, artist, vec![renaming(collection, &format!("ar://{index}"))]).await?[0]);
    }
    let mut slow = spawn(relay_over(&workshop, &Ways { store, ..parts }).await?);
    until("held", async || Ok(held.load(Relaxed) > 0)).await?;

    let mut next = relay(&workshop, &workshop.rpc_url)?;
    next.times.lease = SHORT;
    assert_eq!(run(&next).await?.ended, 2);
    gate.open();
    slow.done().await?;

    for (artist, id) in artists.iter().zip(ids) {
        assert_eq!(transaction(&workshop, artist, id).await?.status, TransactionStatus::Mined);
    }
    assert_done_once(&workshop, collection, &["ar://0".to_owned(), "ar://1".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn former_leader_cannot_end_a_transaction_that_its_successor_sent() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-former-leader", 1).await?;
    let (store, chain, artist) = (workshop.transactions(), workshop.chain.id, artists[0]);
    let former = store.acquire_lease(chain, "former").await?.ok_or("no lead")?;
    let id = queue(&workshop, &artist, vec![renaming(collection, "ar://sent")]).await?[0];
    let stale = transaction(&workshop, &artist, id).await?;
    alloy::providers::ext::AnvilApi::anvil_set_auto_mine(&workshop.node().await?, false).await?;
    let mut next = relay(&workshop, &workshop.rpc_url)?;
    next.times.lease = SHORT;
    let mut running = spawn(next);
    let sent = until_sent(&workshop, &artist, id).await?;

    let ending = unsent_failure();
    assert!(!store.give_up(&former, &stale, &ending, stale.updated_at).await?);
    until_pooled(&workshop, &sent).await?;
    alloy::providers::ext::AnvilApi::anvil_mine(&workshop.node().await?, Some(1), None).await?;
    running.done().await?;
    assert_eq!(transaction(&workshop, &artist, id).await?.status, TransactionStatus::Mined);
    Ok(())
}
