use std::time::Duration;

use alloy::providers::{RootProvider, ext::AnvilApi};
use shared::{model::TransactionStatus, store::Slot};

use crate::support::{Error, queue, relay, renaming, run, run_for, spawn, stage, transaction, until, until_sent};

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
async fn base_fee_above_the_chains_cap_is_waited_for() -> Result<(), Error> {
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
