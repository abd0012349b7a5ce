use std::{sync::OnceLock, time::Duration};

use alloy::providers::{Provider, RootProvider, ext::AnvilApi};
use serde_json::json;
use shared::{model::TransactionStatus, store::artist::Slot};

use crate::{
    proxy::{self, Act},
    support::{Error, queue, relay, renaming, run, run_for, spawn, stage, transaction, until, until_sent},
};

/// The base fee of a block now, and of the next one.
async fn set_base_fee(node: &RootProvider, wei: u128) -> Result<(), Error> {
    node.anvil_set_next_block_base_fee_per_gas(wei).await?;
    node.anvil_mine(Some(1), None).await?;
    Ok(node.anvil_set_next_block_base_fee_per_gas(wei).await?)
}

#[tokio::test(flavor = "multi_thread")]
async fn base_fee_above_a_batchs_fees_raises_them() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-dear", 1).await?;
    let (node, artist) = (workshop.node().await?, artists[0]);
    node.anvil_set_auto_mine(false).await?;
    set_base_fee(&node, 100_000_000).await?;
    let id = queue(&workshop, &artist, vec![renaming(collection, "ar://dear")]).await?[0];
    let mut running = spawn(relay(&workshop, &workshop.rpc_url)?);
    let batch = until_sent(&workshop, &artist, id).await?.batch.ok_or("no batch")?;
    let slot = Slot { chain: workshop.chain.id, lane: batch.lane, nonce: batch.nonce };
    let batch = workshop.transactions().batch(&slot).await?.ok_or("no batch")?;
    let offered = u128::from(batch.attempts[0].fees.max_fee_per_gas);

    set_base_fee(&node, offered * 3 / 2).await?;
    until("raised", async || Ok(transaction(&workshop, &artist, id).await?.hashes.len() == 2)).await?;
    node.anvil_mine(Some(1), None).await?;

    assert_eq!(running.done().await?.bumped, 1);
    let row = transaction(&workshop, &artist, id).await?;
    assert_eq!((row.status, row.mined.map(|mined| mined.hash)), (TransactionStatus::Mined, row.hashes.get(1).copied()));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn base_fee_above_the_cap_delays_the_batch() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-cap", 1).await?;
    let (node, artist) = (workshop.node().await?, artists[0]);
    node.anvil_set_auto_mine(false).await?;
    set_base_fee(&node, 2 * u128::from(workshop.chain.spending.max_fee_per_gas)).await?;
    let id = queue(&workshop, &artist, vec![renaming(collection, "ar://cap")]).await?[0];

    let report = run_for(&relay(&workshop, &workshop.rpc_url)?, Duration::from_secs(1)).await?;
    assert_eq!((report.batches, report.signatures), (0, 0));
    assert_eq!(transaction(&workshop, &artist, id).await?.status, TransactionStatus::Queued);

    set_base_fee(&node, 1_000_000).await?;
    node.anvil_set_auto_mine(true).await?;
    run(&relay(&workshop, &workshop.rpc_url)?).await?;
    assert_eq!(transaction(&workshop, &artist, id).await?.status, TransactionStatus::Mined);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn batch_that_a_pool_keeps_to_itself_is_replaced_after_some_blocks() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-kept", 1).await?;
    let (node, artist, kept) = (workshop.node().await?, artists[0], OnceLock::new());
    let keeping = proxy::start(&workshop.rpc_url, move |request| match request.operation.as_str() {
        "eth_sendRawTransaction" if *kept.get_or_init(|| request.body["params"].clone()) == request.body["params"] => {
            Act::Refuse("already known")
        }
        _ => Act::Forward,
    })
    .await?;
    let id = queue(&workshop, &artist, vec![renaming(collection, "ar://kept")]).await?[0];
    let mut running = spawn(relay(&workshop, &keeping)?);
    until_sent(&workshop, &artist, id).await?;

    until("mined", async || {
        node.anvil_mine(Some(1), None).await?;
        Ok(transaction(&workshop, &artist, id).await?.status == TransactionStatus::Mined)
    })
    .await?;
    assert_eq!(running.done().await?.bumped, 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn l1_fee_is_shared_among_a_batchs_transactions() -> Result<(), Error> {
    const FEE: u64 = 40_000_000_000_000;
    let (workshop, artists, collection) = stage("relay-data", 2).await?;
    let url = proxy::start(&workshop.rpc_url, |request| match request.operation.as_str() {
        "eth_getTransactionReceipt" => Act::Add("l1Fee", json!(format!("{FEE:#x}"))),
        _ => Act::Forward,
    })
    .await?;
    // The same but for their lengths.
    let mut ids = Vec::new();
    for (artist, uri) in artists.iter().zip(["ar://short".to_owned(), format!("ar://{}", "long".repeat(400))]) {
        ids.push(queue(&workshop, artist, vec![renaming(collection, &uri)]).await?[0]);
    }
    run(&relay(&workshop, &url)?).await?;

    let (mut spent, mut batch) = (Vec::new(), None);
    for (artist, id) in artists.iter().zip(ids) {
        let row = transaction(&workshop, artist, id).await?;
        batch = row.batch;
        spent.push(row.charge.wei);
        let account =
            workshop.transactions().account(artist.artist_id, workshop.chain.id).await?.ok_or("no account")?;
        assert_eq!(account.spent, row.charge.wei);
    }
    let batch = batch.ok_or("no batch")?;
    let slot = Slot { chain: workshop.chain.id, lane: batch.lane, nonce: batch.nonce };
    let hash = workshop.transactions().batch(&slot).await?.and_then(|batch| batch.mined).ok_or("not mined")?.hash;
    let receipt = workshop.node().await?.get_transaction_receipt(hash).await?.ok_or("no receipt")?;
    let cost = u64::try_from(u128::from(receipt.gas_used) * receipt.effective_gas_price)? + FEE;
    // Rounded up for each.
    let excess = spent.iter().sum::<u64>().checked_sub(cost).ok_or("less than it cost")?;
    assert!(excess < 2 * u64::try_from(receipt.effective_gas_price)? + 4, "{excess}");
    assert!(spent[1] - spent[0] > FEE / 4, "{spent:?}");
    Ok(())
}
