//! Transactions that were under way when the table was lost, and restored as a copy has them.

use alloy::providers::{Provider, ext::AnvilApi};
use aws_sdk_dynamodb::{Client, types::AttributeValue};
use local::workshop::Workshop;
use relay::{ChainRelay, Report};
use shared::{
    model::{TransactionId, TransactionStatus},
    store::{
        artist::{Artist, BatchReference, NewTransaction, Transaction},
        engine::Item,
    },
};
use tests::{restore, restored_table};

use crate::support::{
    Error, assert_done_once, batch_of, forgetful, nonces, outcomes, queue, relay, renaming, run, spawn, stage,
    transaction, until_mined, until_pooled, until_sent,
};

/// Blocks that make the one before them final.
const DEPTH: u64 = 3;

/// The rows of the table.
async fn rows(workshop: &Workshop) -> Result<Vec<Item>, Error> {
    let scan = Client::new(&workshop.dynamodb).scan().table_name("ArtistTable").consistent_read(true);
    Ok(scan.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await?)
}

/// Loses the table, and restores it from these rows, as an operator does. Returns what the command prints.
async fn lose(workshop: &Workshop, copied: &[Item]) -> Result<String, Error> {
    lose_partitions(workshop, copied, &[""]).await
}

/// The same where only partitions that begin so are lost.
async fn lose_partitions(workshop: &Workshop, copied: &[Item], lost: &[&str]) -> Result<String, Error> {
    let database = Client::new(&workshop.dynamodb);
    let copy = restored_table(&database, copied).await?;
    let is_lost = |row: &Item| row["pk"].as_s().is_ok_and(|pk| lost.iter().any(|beginning| pk.starts_with(beginning)));
    for row in rows(workshop).await?.into_iter().filter(is_lost) {
        let delete = database.delete_item().table_name("ArtistTable");
        delete.key("pk", row["pk"].clone()).key("sk", row["sk"].clone()).send().await?;
    }
    restore(&workshop.endpoints.dynamodb, &copy, "ArtistTable", &[]).await
}

/// Leads once, where few blocks make one final.
async fn lead(workshop: &Workshop) -> Result<Report, Error> {
    let mut relay = relay(workshop, &workshop.rpc_url)?;
    relay.chain.reorg_depth = DEPTH;
    run(&relay).await
}

async fn mine(workshop: &Workshop, blocks: u64) -> Result<(), Error> {
    Ok(workshop.node().await?.anvil_mine(Some(blocks), None).await?)
}

/// A transaction that was sent, and that the node has forgotten, with its batch and a relay in the place of its own.
async fn forgotten(
    workshop: &Workshop,
    artist: &Artist,
    wish: NewTransaction,
) -> Result<(Transaction, BatchReference, ChainRelay), Error> {
    let (url, _) = forgetful(workshop).await?;
    let id = queue(workshop, artist, vec![wish]).await?[0];
    let sender = relay(workshop, &url)?;
    let successor = ChainRelay { holder: sender.holder.clone(), ..relay(workshop, &workshop.rpc_url)? };
    let running = spawn(sender);
    let sent = until_sent(workshop, artist, id).await?;
    running.kill().await?;
    let batch = sent.batch.ok_or("no batch")?;
    Ok((sent, batch, successor))
}

/// Whether the relay still looks for the batch of a transaction.
async fn is_listed(workshop: &Workshop, reference: BatchReference) -> Result<bool, Error> {
    let listed = workshop.transactions().restored(workshop.chain.id).await?;
    Ok(listed.iter().any(|restored| BatchReference::from(restored.batch.slot) == reference))
}

/// Says that a batch's transactions were restored at another time, in Unix seconds: blocks' times are the node's own.
async fn restored_at(workshop: &Workshop, batch: BatchReference, time: u64) -> Result<(), Error> {
    let (pk, sk) = (format!("RELAY#{}#RESTORED", workshop.chain.id), format!("{}#{:020}", batch.lane, batch.nonce));
    let update = Client::new(&workshop.dynamodb).update_item().table_name("ArtistTable");
    let update = update.key("pk", AttributeValue::S(pk)).key("sk", AttributeValue::S(sk));
    let update = update.condition_expression("attribute_exists(pk)").update_expression("SET restored_at = :time");
    update.expression_attribute_values(":time", AttributeValue::N(time.to_string())).send().await?;
    Ok(())
}

async fn waiting(workshop: &Workshop, artist: &Artist) -> Result<u32, Error> {
    let account = workshop.transactions().account(artist.artist_id, workshop.chain.id).await?;
    Ok(account.ok_or("no account")?.waiting)
}

async fn status(workshop: &Workshop, artist: &Artist, id: TransactionId) -> Result<TransactionStatus, Error> {
    Ok(transaction(workshop, artist, id).await?.status)
}

#[tokio::test(flavor = "multi_thread")]
async fn restored_transactions_end_as_the_block_says_that_has_their_batch() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-restored", 2).await?;
    let closed = workshop.collection(&[]).await?;
    workshop.node().await?.anvil_set_auto_mine(false).await?;
    let [done, failed] = [artists[0], artists[1]];
    let id = queue(&workshop, &done, vec![renaming(collection, "ar://mined")]).await?[0];
    let refused = queue(&workshop, &failed, vec![renaming(closed, "ar://refused")]).await?[0];
    let running = spawn(relay(&workshop, &workshop.rpc_url)?);
    let sent = until_sent(&workshop, &done, id).await?;
    let batch = sent.batch.ok_or("no batch")?;
    assert_eq!(until_sent(&workshop, &failed, refused).await?.batch, Some(batch));
    until_pooled(&workshop, &sent).await?;
    running.kill().await?;
    let copied = rows(&workshop).await?;
    mine(&workshop, 1).await?;

    let said = lose(&workshop, &copied).await?;

    assert!(said.contains("1 batches were under way"), "{said}");
    assert_eq!(lead(&workshop).await?.ended, 0, "the chain may still drop the block");
    assert_eq!(waiting(&workshop, &done).await?, 1);
    mine(&workshop, DEPTH).await?;
    assert_eq!(lead(&workshop).await?.ended, 2);
    let row = transaction(&workshop, &done, id).await?;
    let mined = row.mined.ok_or("no block")?;
    assert_eq!((row.status, row.batch), (TransactionStatus::Mined, Some(batch)));
    assert!(sent.hashes.contains(&mined.hash) && row.charge.wei > 0, "{row:?}");
    let row = transaction(&workshop, &failed, refused).await?;
    assert_eq!((row.status, row.mined.map(|mined| mined.hash)), (TransactionStatus::Reverted, Some(mined.hash)));
    assert!(row.charge.wei > 0, "{row:?}");
    assert_eq!((waiting(&workshop, &done).await?, waiting(&workshop, &failed).await?), (0, 0));
    let told = outcomes(&workshop).await?;
    assert_eq!(told.len(), 2);
    assert!(told.contains(&(id, TransactionStatus::Mined)) && told.contains(&(refused, TransactionStatus::Reverted)));
    assert!(!is_listed(&workshop, batch).await?);
    assert_done_once(&workshop, collection, &["ar://mined".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn transactions_of_lost_lanes_are_sent_no_second_time_and_told_if_newer_than_the_copy() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-restored-lanes", 2).await?;
    workshop.node().await?.anvil_set_auto_mine(false).await?;
    let [older, newer] = [artists[0], artists[1]];
    let copied_id = queue(&workshop, &older, vec![renaming(collection, "ar://older")]).await?[0];
    let running = spawn(relay(&workshop, &workshop.rpc_url)?);
    until_pooled(&workshop, &until_sent(&workshop, &older, copied_id).await?).await?;
    let copied = rows(&workshop).await?;
    let newer_id = queue(&workshop, &newer, vec![renaming(collection, "ar://newer")]).await?[0];
    until_pooled(&workshop, &until_sent(&workshop, &newer, newer_id).await?).await?;
    running.kill().await?;
    mine(&workshop, 1).await?;

    let said = lose_partitions(&workshop, &copied, &["LANE#", "RELAY#"]).await?;

    assert!(said.contains("1 batches were under way"), "{said}");
    let unknown = format!("no batch is known of TRANSACTIONS#{} {newer_id}: it stays sent", newer.artist_id);
    assert!(said.contains(&unknown), "{said}");
    mine(&workshop, DEPTH).await?;
    let report = lead(&workshop).await?;
    assert_eq!((report.ended, report.batches), (1, 0));
    assert_eq!(status(&workshop, &older, copied_id).await?, TransactionStatus::Mined);
    assert_eq!(status(&workshop, &newer, newer_id).await?, TransactionStatus::Sent);
    assert_done_once(&workshop, collection, &["ar://newer".to_owned(), "ar://older".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn restored_transaction_ends_when_its_nonce_is_used_for_a_later_batch() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-restored-displaced", 2).await?;
    let [artist, other] = [artists[0], artists[1]];
    let (sent, batch, _) = forgotten(&workshop, &artist, renaming(collection, "ar://forgotten")).await?;
    let copied = rows(&workshop).await?;
    lose(&workshop, &copied).await?;

    assert_eq!(lead(&workshop).await?.ended, 0, "a node may still have it");
    assert_eq!(status(&workshop, &artist, sent.id).await?, TransactionStatus::Sent);
    let next = queue(&workshop, &other, vec![renaming(collection, "ar://next")]).await?[0];
    assert_eq!(lead(&workshop).await?.ended, 1);
    assert_eq!(transaction(&workshop, &other, next).await?.batch, Some(batch), "the lane goes on");
    restored_at(&workshop, batch, 0).await?;
    mine(&workshop, DEPTH).await?;
    assert_eq!(lead(&workshop).await?.ended, 1);

    let row = transaction(&workshop, &artist, sent.id).await?;
    assert_eq!((row.status, row.mined, row.charge.wei), (TransactionStatus::Reverted, None, 0));
    assert_eq!(waiting(&workshop, &artist).await?, 0);
    assert_eq!(outcomes(&workshop).await?, [(next, TransactionStatus::Mined), (sent.id, TransactionStatus::Reverted)]);
    assert!(!is_listed(&workshop, batch).await?);
    assert_done_once(&workshop, collection, &["ar://next".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn restored_transaction_that_another_batch_may_have_done_is_neither_ended_nor_sent() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-restored-unknown", 1).await?;
    let artist = artists[0];
    let (sent, batch, successor) = forgotten(&workshop, &artist, renaming(collection, "ar://once")).await?;
    let copied = rows(&workshop).await?;
    // After the copy another program uses the nonce, and the relay sends it again.
    let other = workshop.use_lane(batch.lane.into()).await?;
    until_mined(&workshop, other).await?;
    run(&successor).await?;
    let again = transaction(&workshop, &artist, sent.id).await?;
    assert!(again.status == TransactionStatus::Mined && again.batch != Some(batch), "{again:?}");
    lose(&workshop, &copied).await?;
    restored_at(&workshop, batch, u64::from(u32::MAX)).await?;
    mine(&workshop, DEPTH).await?;

    let report = lead(&workshop).await?;

    assert_eq!((report.ended, report.batches), (0, 0));
    assert_eq!(status(&workshop, &artist, sent.id).await?, TransactionStatus::Sent);
    assert!(!is_listed(&workshop, batch).await?, "it is looked at once");
    assert_done_once(&workshop, collection, &["ar://once".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn late_restored_transaction_ends_once_nobody_can_send_it_any_more() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-restored-late", 1).await?;
    let artist = artists[0];
    let (sent, reference, _) = forgotten(&workshop, &artist, renaming(collection, "ar://late")).await?;
    let batch = batch_of(&workshop, &sent).await?.ok_or("no batch")?;
    let copied = rows(&workshop).await?;
    lose(&workshop, &copied).await?;
    restored_at(&workshop, reference, 0).await?;

    let report = lead(&workshop).await?;

    assert_eq!((report.ended, report.batches, report.signatures), (0, 0, 1));
    assert_eq!(nonces(&workshop, reference.lane.into()).await?, (reference.nonce + 1, reference.nonce + 1));
    assert_eq!(status(&workshop, &artist, sent.id).await?, TransactionStatus::Sent, "the chain may drop the block");
    mine(&workshop, DEPTH).await?;
    let report = lead(&workshop).await?;
    assert_eq!((report.ended, report.signatures), (1, 0));
    let row = transaction(&workshop, &artist, sent.id).await?;
    assert_eq!((row.status, row.mined, row.charge.wei), (TransactionStatus::Reverted, None, 0));
    assert_eq!(waiting(&workshop, &artist).await?, 0);
    assert_eq!(outcomes(&workshop).await?, [(sent.id, TransactionStatus::Reverted)]);
    assert!(!is_listed(&workshop, reference).await?);
    assert!(workshop.node().await?.send_raw_transaction(&batch.signed).await.is_err(), "it can still be done");
    assert_done_once(&workshop, collection, &[]).await
}
