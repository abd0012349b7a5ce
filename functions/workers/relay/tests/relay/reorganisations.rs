//! Blocks that the chain drops.

use alloy::{
    eips::BlockNumberOrTag,
    primitives::U256,
    providers::{Provider, ext::AnvilApi},
    rpc::types::anvil::ReorgOptions,
};
use local::{contracts::DEPLOYER, workshop::Workshop};
use relay::ChainRelay;
use shared::{
    chain::{contracts::native::Creator1155, protocol::permission::Permission},
    model::{Call, TransactionStatus},
};

use crate::support::{Error, act_as, assert_done_once, queue, relay, renaming, run, spawn, stage, transaction, until};

const DEPTH: u64 = 8;
/// Blocks after which nothing is dropped any more.
const FINAL: u64 = 12;

fn patient(workshop: &Workshop) -> Result<ChainRelay, Error> {
    let mut relay = relay(workshop, &workshop.rpc_url)?;
    relay.chain.reorg_depth = FINAL;
    Ok(relay)
}

#[tokio::test(flavor = "multi_thread")]
async fn dropped_batches_are_mined_again_at_higher_fees() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-dropped", 2).await?;
    let node = workshop.node().await?;
    // What was there before isn't dropped.
    node.anvil_mine(Some(DEPTH), None).await?;
    let (mut expected, mut ids) = (Vec::new(), Vec::new());
    for number in 0..3 {
        for (index, artist) in artists.iter().enumerate() {
            expected.push(format!("ar://{index}/{number}"));
            let uri = expected.last().ok_or("none")?;
            ids.push((*artist, queue(&workshop, artist, vec![renaming(collection, uri)]).await?[0]));
        }
        run(&patient(&workshop)?).await?;
    }

    node.anvil_set_auto_mine(false).await?;
    node.anvil_reorg(ReorgOptions { depth: DEPTH, tx_block_pairs: Vec::new() }).await?;
    node.anvil_set_next_block_base_fee_per_gas(4_000_000_000).await?;
    node.anvil_mine(Some(1), None).await?;
    assert_done_once(&workshop, collection, &[]).await?;
    node.anvil_set_interval_mining(1).await?;
    let report = run(&patient(&workshop)?).await?;

    assert!(report.bumped > 0, "{report:?}");
    assert_done_once(&workshop, collection, &expected).await?;
    // What is said of them is corrected once their blocks are final.
    node.anvil_mine(Some(FINAL), None).await?;
    run(&patient(&workshop)?).await?;
    for (artist, id) in ids {
        let row = transaction(&workshop, &artist, id).await?;
        let mined = row.mined.ok_or("not mined")?;
        let block = node.get_block_by_number(BlockNumberOrTag::Number(mined.block)).await?.ok_or("no block")?;
        assert_eq!((row.status, mined.block_hash), (TransactionStatus::Mined, block.header.hash));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn transaction_that_is_refused_in_its_new_block_is_told_so() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-turned", 2).await?;
    let (node, store) = (workshop.node().await?, workshop.transactions());
    let mut ids = Vec::new();
    for (index, artist) in artists.iter().enumerate() {
        ids.extend(queue(&workshop, artist, vec![renaming(collection, &format!("ar://{index}"))]).await?);
    }
    run(&patient(&workshop)?).await?;
    assert_eq!(transaction(&workshop, &artists[0], ids[0]).await?.status, TransactionStatus::Mined);

    // The other branch has a block in which the first artist loses the permission.
    node.anvil_set_auto_mine(false).await?;
    node.anvil_reorg(ReorgOptions { depth: 1, tx_block_pairs: Vec::new() }).await?;
    for token in [U256::ZERO, U256::ONE] {
        let removal = Creator1155::removePermissionCall {
            tokenId: token,
            user: artists[0].embedded_wallet.into(),
            permissionBits: U256::from(Permission::Admin as u8),
        };
        act_as(&workshop, DEPLOYER, Call::new(collection, &removal)).await?;
    }
    node.anvil_mine(Some(1), None).await?;
    let mut running = spawn(patient(&workshop)?);
    let batch = transaction(&workshop, &artists[0], ids[0]).await?.batch.ok_or("no batch")?;
    until("sent again", async || Ok(node.get_transaction_count(batch.lane.into()).pending().await? > batch.nonce))
        .await?;
    node.anvil_mine(Some(FINAL + 1), None).await?;
    running.done().await?;
    until("final", async || {
        run(&patient(&workshop)?).await?;
        let lane = store.lane(workshop.chain.id, batch.lane).await?.ok_or("no lane")?;
        Ok(lane.young.is_empty())
    })
    .await?;

    let told = transaction(&workshop, &artists[0], ids[0]).await?;
    assert_eq!(told.status, TransactionStatus::Reverted, "{told:?}");
    assert_eq!(transaction(&workshop, &artists[1], ids[1]).await?.status, TransactionStatus::Mined);
    for (artist, id) in artists.iter().zip(ids) {
        let account = store.account(artist.artist_id, workshop.chain.id).await?.ok_or("no account")?;
        assert_eq!((account.waiting, account.spent), (0, transaction(&workshop, artist, id).await?.charge.wei));
    }
    assert_done_once(&workshop, collection, &["ar://1".to_owned()]).await
}
