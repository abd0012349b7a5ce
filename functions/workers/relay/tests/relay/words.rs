//! Why transactions failed, where nodes say it late or never.

use std::time::Duration;

use alloy::primitives::Address;
use local::workshop::Workshop;
use shared::{
    model::{TransactionId, TransactionStatus},
    store::artist::Artist,
};

use crate::{
    proxy::{self, Act, Gate, Request},
    support::{Error, SHORT, batch_of, queue, relay, renaming, silent_relay, spawn, stage, transaction, until},
};

/// What is said without words.
const UNEXPLAINED: &str = "The call failed on the chain";

/// Whether a call is made in an artist's name, as those are that find words.
fn asks_for_words(request: &Request, artist: &Artist) -> bool {
    let account = Address::from(artist.embedded_wallet).to_string();
    let caller = request.body["params"][0]["from"].as_str();
    request.operation == "eth_call" && caller.is_some_and(|caller| caller.eq_ignore_ascii_case(&account))
}

/// Queues a renaming of each artist that the contract refuses.
async fn queue_refused(workshop: &Workshop, artists: &[Artist]) -> Result<Vec<TransactionId>, Error> {
    let (collection, mut ids) = (workshop.collection(&[]).await?, Vec::new());
    for artist in artists {
        ids.extend(queue(workshop, artist, vec![renaming(collection, "ar://forbidden")]).await?);
    }
    Ok(ids)
}

#[tokio::test(flavor = "multi_thread")]
async fn words_hold_no_turn_up() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-words-turn", 2).await?;
    let refused = queue_refused(&workshop, &artists[..1]).await?[0];
    let (silent, gate) = silent_relay(&workshop).await?;
    let mut running = spawn(silent);
    until("tried", async || {
        let row = transaction(&workshop, &artists[0], refused).await?;
        Ok(row.status == TransactionStatus::Sent)
    })
    .await?;

    let other = queue(&workshop, &artists[1], vec![renaming(collection, "ar://meanwhile")]).await?[0];

    let is_mined = async || Ok(transaction(&workshop, &artists[1], other).await?.status == TransactionStatus::Mined);
    until("mined", is_mined).await?;
    assert_eq!(transaction(&workshop, &artists[0], refused).await?.status, TransactionStatus::Sent);
    gate.open();
    running.done().await?;
    assert_eq!(transaction(&workshop, &artists[0], refused).await?.status, TransactionStatus::Reverted);
    Ok(())
}

/// Why a transaction failed, as far as that is stored, with its row or with the batch that waits for more blocks.
async fn reason_of(workshop: &Workshop, artist: &Artist, id: TransactionId) -> Result<String, Error> {
    let row = transaction(workshop, artist, id).await?;
    let batch = if row.batch.is_some() { batch_of(workshop, &row).await? } else { None };
    let waiting = batch.into_iter().flat_map(|batch| batch.pending).find(|pending| pending.transaction_id == id);
    Ok(row.reason.or(waiting.map(|pending| pending.reason)).unwrap_or_default())
}

/// Lets words come after the outcome, which as many blocks have to settle.
async fn find_late(name: &str, confirmations: u64, expected: TransactionStatus) -> Result<(), Error> {
    let (workshop, artists, _) = stage(name, 1).await?;
    let (artist, id) = (artists[0], queue_refused(&workshop, &artists).await?[0]);
    let (mut silent, gate) = silent_relay(&workshop).await?;
    silent.times.reason = Duration::ZERO;
    (silent.chain.confirmations, silent.chain.reorg_depth) = (confirmations, confirmations + 1);
    let running = spawn(silent);
    until("undone", async || Ok(reason_of(&workshop, &artist, id).await? == UNEXPLAINED)).await?;

    gate.open();

    let is_explained = async || Ok(reason_of(&workshop, &artist, id).await?.contains("lacks the permission"));
    until("explained", is_explained).await?;
    assert_eq!(transaction(&workshop, &artist, id).await?.status, expected);
    running.kill().await
}

#[tokio::test(flavor = "multi_thread")]
async fn words_found_late_are_added() -> Result<(), Error> {
    find_late("relay-words-late", 0, TransactionStatus::Reverted).await
}

#[tokio::test(flavor = "multi_thread")]
async fn words_found_late_are_added_to_what_waits_for_its_block() -> Result<(), Error> {
    find_late("relay-words-waiting", 1_000, TransactionStatus::Sent).await
}

#[tokio::test(flavor = "multi_thread")]
async fn words_of_some_are_kept_although_others_never_come() -> Result<(), Error> {
    let (workshop, artists, _) = stage("relay-words-some", 2).await?;
    let ids = queue_refused(&workshop, &artists).await?;
    let (never, silent) = (Gate::default(), artists[1]);
    let held = never.clone();
    let url = proxy::start(&workshop.rpc_url, move |request| match &*request.operation {
        "eth_simulateV1" => Act::Refuse("the method does not exist"),
        _ if asks_for_words(request, &silent) => Act::Wait(held.clone()),
        _ => Act::Forward,
    })
    .await?;
    let mut hasty = relay(&workshop, &url)?;
    hasty.times.reason = SHORT;
    let running = spawn(hasty);

    for ((artist, id), expected) in artists.iter().zip(ids).zip(["lacks the permission", UNEXPLAINED]) {
        let is_told = async || Ok(reason_of(&workshop, artist, id).await?.contains(expected));
        until("told", is_told).await?;
        assert_eq!(transaction(&workshop, artist, id).await?.status, TransactionStatus::Reverted);
    }
    never.open();
    running.kill().await
}
