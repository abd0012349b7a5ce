//! Blocks that the chain drops.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use alloy::{
    eips::BlockNumberOrTag,
    primitives::U256,
    providers::{Provider, ext::AnvilApi},
};
use local::{
    contracts::DEPLOYER,
    patience::eventually,
    workshop::{Workshop, reorganise},
};
use relay::ChainRelay;
use shared::{
    chain::{contracts::native::Creator1155, protocol::permission::Permission},
    model::{Address, Call, TransactionId, TransactionStatus},
    store::artist::{Artist, Batch, BatchReference, BatchStatus},
};

use crate::{
    proxy::{self, Act},
    support::{
        Error, FOREVER, Running, SHORT, act_as, assert_done_once, batch_of, come_before, counting, done, forgetful,
        lanes_receipts, queue, relay, renaming, run, spawn, stage, token_creation, transaction, until, until_mined,
        until_sent, until_sent_again, until_turned,
    },
};

const DEPTH: u64 = 8;
/// Blocks after which nothing is dropped any more.
const FINAL: u64 = 12;
/// Longer than what was dropped takes to be mined again.
const GRACE: Duration = Duration::from_secs(60);

fn patient(workshop: &Workshop) -> Result<ChainRelay, Error> {
    let mut relay = relay(workshop, &workshop.rpc_url)?;
    relay.chain.reorg_depth = FINAL;
    // What was dropped is mined again before it is given up.
    relay.times.grace = GRACE;
    Ok(relay)
}

/// Runs relays until none of a lane's blocks can be dropped any more.
async fn until_final(workshop: &Workshop, lane: Address) -> Result<(), Error> {
    until("final", async || {
        run(&patient(workshop)?).await?;
        let state = workshop.transactions().lane(workshop.chain.id, lane).await?.ok_or("no lane")?;
        Ok(state.unfinalized.is_empty())
    })
    .await
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
    reorganise(&node, DEPTH).await?;
    node.anvil_set_next_block_base_fee_per_gas(4_000_000_000).await?;
    node.anvil_mine(Some(1), None).await?;
    assert_done_once(&workshop, collection, &[]).await?;
    let mut relay = patient(&workshop)?;
    relay.times.grace = SHORT;
    let mut running = spawn(relay);
    // No block comes before: each lowers the base fee.
    until("raised", async || {
        for (artist, id) in &ids {
            let batch = batch_of(&workshop, &transaction(&workshop, artist, *id).await?).await?;
            if batch.is_some_and(|batch| batch.attempts.len() > 1) {
                return Ok(true);
            }
        }
        Ok(false)
    })
    .await?;
    node.anvil_set_interval_mining(1).await?;
    let report = running.done().await?;

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
async fn transaction_that_reverts_in_its_new_block_becomes_reverted() -> Result<(), Error> {
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
    reorganise(&node, 1).await?;
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
    until_sent_again(&workshop, batch).await?;
    node.anvil_mine(Some(FINAL + 1), None).await?;
    running.done().await?;
    until_final(&workshop, batch.lane).await?;

    let told = transaction(&workshop, &artists[0], ids[0]).await?;
    assert_eq!(told.status, TransactionStatus::Reverted, "{told:?}");
    assert_eq!(transaction(&workshop, &artists[1], ids[1]).await?.status, TransactionStatus::Mined);
    for (artist, id) in artists.iter().zip(ids) {
        let account = store.account(artist.artist_id, workshop.chain.id).await?.ok_or("no account")?;
        assert_eq!((account.waiting, account.spent), (0, transaction(&workshop, artist, id).await?.charge.wei));
    }
    assert_done_once(&workshop, collection, &["ar://1".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn transaction_that_failed_in_a_dropped_block_is_done_once() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-once", 1).await?;
    let (node, artist) = (workshop.node().await?, artists[0]);
    node.anvil_mine(Some(DEPTH), None).await?;
    node.anvil_set_auto_mine(false).await?;
    let id = queue(&workshop, &artist, vec![token_creation(&artist, collection, "ar://once")?]).await?[0];
    let (url, forgets) = forgetful(&workshop).await?;
    let (url, balances) = counting(&url, "eth_getBalance").await?;
    let mut careful = relay(&workshop, &url)?;
    // Blocks come when the test says so.
    (careful.times.quiet, careful.times.grace) = (FOREVER, GRACE);
    (careful.chain.confirmations, careful.chain.reorg_depth) = (4, FINAL);
    let mut running = spawn(careful);
    let sent = until_sent(&workshop, &artist, id).await?;
    // Another token takes the id.
    let other = Creator1155::setupNewTokenCall { newURI: "ar://other".to_owned(), maxSupply: U256::ONE };
    come_before(&workshop, &sent, &forgets, DEPLOYER, Call::new(collection, &other)).await?;
    until("back in the queue", async || Ok(transaction(&workshop, &artist, id).await?.attempts == 1)).await?;
    // To send it again would be too early.
    until_turned(&workshop, &balances).await?;
    node.anvil_mine(Some(1), None).await?;
    until_turned(&workshop, &balances).await?;

    reorganise(&node, 2).await?;
    node.anvil_set_interval_mining(1).await?;
    running.done().await?;

    let row = transaction(&workshop, &artist, id).await?;
    assert_eq!((row.status, row.result.get("tokenId")), (TransactionStatus::Mined, Some(&"2".into())), "{row:?}");
    let next = Creator1155::new(collection, &node).nextTokenId().call().await?;
    assert_eq!(next, U256::from(3), "it was done twice");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn token_whose_id_is_taken_in_the_new_block_costs_what_it_used_there() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-taken", 1).await?;
    let (node, store, artist) = (workshop.node().await?, workshop.transactions(), artists[0]);
    let id = queue(&workshop, &artist, vec![token_creation(&artist, collection, "ar://taken")?]).await?[0];
    run(&patient(&workshop)?).await?;
    assert_eq!(transaction(&workshop, &artist, id).await?.status, TransactionStatus::Mined);

    node.anvil_set_auto_mine(false).await?;
    reorganise(&node, 1).await?;
    let other = Creator1155::setupNewTokenCall { newURI: "ar://other".to_owned(), maxSupply: U256::ONE };
    act_as(&workshop, DEPLOYER, Call::new(collection, &other)).await?;
    node.anvil_mine(Some(1), None).await?;
    let batch = transaction(&workshop, &artist, id).await?.batch.ok_or("no batch")?;
    let mut charges = Vec::new();
    // The block that takes the other's place is dropped, too, and the next one has another price.
    for blocks in [1, FINAL + 1] {
        let mut running = spawn(patient(&workshop)?);
        until_sent_again(&workshop, batch).await?;
        node.anvil_mine(Some(blocks), None).await?;
        running.done().await?;
        let told = async || {
            run(&patient(&workshop)?).await?;
            let row = transaction(&workshop, &artist, id).await?;
            let is_new = row.status == TransactionStatus::Reverted && !charges.contains(&row.charge.wei);
            Ok(is_new.then_some(row.charge.wei))
        };
        charges.push(eventually("undone", told).await?);
        if blocks == 1 {
            reorganise(&node, 1).await?;
            node.anvil_mine(Some(1), None).await?;
        }
    }
    until_final(&workshop, batch.lane).await?;

    let row = transaction(&workshop, &artist, id).await?;
    let mut spent = 0;
    for hash in &row.hashes {
        let receipt = node.get_transaction_receipt(*hash).await?;
        spent += receipt.map_or(0, |receipt| u128::from(receipt.gas_used) * receipt.effective_gas_price);
    }
    assert_eq!((u128::from(row.charge.wei), row.charge.wei > 0), (spent, true));
    let account = store.account(artist.artist_id, workshop.chain.id).await?.ok_or("no account")?;
    assert_eq!((account.waiting, account.spent), (0, row.charge.wei));
    Ok(())
}

/// A token whose id another one takes, so that a second batch has it. That is stored, and the node has none of its bytes;
/// the block that has the first one is the newest.
async fn overtaken(
    workshop: &Workshop,
    artist: &Artist,
    collection: Address,
    grace: Duration,
) -> Result<Overtaken, Error> {
    let node = workshop.node().await?;
    node.anvil_set_auto_mine(false).await?;
    let id = queue(workshop, artist, vec![token_creation(artist, collection.into(), "ar://overtaken")?]).await?[0];
    let (url, forgets) = forgetful(workshop).await?;
    let mut relay = relay(workshop, &url)?;
    (relay.times.grace, relay.chain.reorg_depth) = (grace, FINAL);
    let running = spawn(relay);
    let sent = until_sent(workshop, artist, id).await?;
    let first = batch_of(workshop, &sent).await?.ok_or("no batch")?;
    come_before(workshop, &sent, &forgets, DEPLOYER, other_token(collection)).await?;
    forgets.store(true, Relaxed);
    let second = eventually("sent again", async || {
        let row = until_sent(workshop, artist, id).await?;
        Ok(row.batch.filter(|batch| Some(*batch) != sent.batch))
    })
    .await?;
    Ok(Overtaken { id, first, second, forgets, running })
}

struct Overtaken {
    id: TransactionId,
    first: Batch,
    second: BatchReference,
    forgets: Arc<AtomicBool>,
    running: Running,
}

fn other_token(collection: Address) -> Call {
    let other = Creator1155::setupNewTokenCall { newURI: "ar://other".to_owned(), maxSupply: U256::ONE };
    Call::new(collection.into(), &other)
}

/// Fails unless an artist paid for all that lanes spent.
async fn assert_all_is_charged(workshop: &Workshop, artist: &Artist, id: TransactionId) -> Result<(), Error> {
    let mut spent = 0;
    for receipt in lanes_receipts(workshop, &workshop.node().await?).await? {
        spent += u128::from(receipt.gas_used) * receipt.effective_gas_price;
    }
    let row = transaction(workshop, artist, id).await?;
    assert_eq!((row.status, u128::from(row.charge.wei)), (TransactionStatus::Mined, spent), "{row:?}");
    let account = workshop.transactions().account(artist.artist_id, workshop.chain.id).await?.ok_or("no account")?;
    assert_eq!((account.waiting, account.spent), (0, row.charge.wei));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn cost_of_an_earlier_batch_is_corrected_although_a_later_one_has_the_transaction() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-corrected", 1).await?;
    let (node, artist) = (workshop.node().await?, artists[0]);
    let mut both = overtaken(&workshop, &artist, collection.into(), GRACE).await?;
    let cost = transaction(&workshop, &artist, both.id).await?.attempts_wei;

    // The other branch has the same two transactions for another price, and the later batch.
    reorganise(&node, 1).await?;
    act_as(&workshop, DEPLOYER, other_token(collection.into())).await?;
    both.forgets.store(false, Relaxed);
    until_sent_again(&workshop, both.second).await?;
    node.anvil_mine(Some(FINAL + 1), None).await?;
    both.running.done().await?;
    until_final(&workshop, both.second.lane).await?;

    let row = transaction(&workshop, &artist, both.id).await?;
    assert_eq!(row.batch, Some(both.second));
    assert_ne!(row.attempts_wei, cost, "another block has another price");
    assert_all_is_charged(&workshop, &artist, both.id).await
}

#[tokio::test(flavor = "multi_thread")]
async fn later_batch_of_a_transaction_that_an_earlier_one_did_is_charged() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-after-all", 1).await?;
    let (node, artist) = (workshop.node().await?, artists[0]);
    let mut both = overtaken(&workshop, &artist, collection.into(), SHORT).await?;

    // The other branch has the first batch alone. Then another token takes the id of the second one's.
    reorganise(&node, 1).await?;
    until("open again", async || {
        let batch = workshop.transactions().batch(&both.first.slot).await?;
        Ok(batch.is_some_and(|batch| batch.status == BatchStatus::Open))
    })
    .await?;
    let sent = *node.send_raw_transaction(&both.first.signed).await?.tx_hash();
    node.anvil_mine(Some(1), None).await?;
    until_mined(&workshop, sent).await?;
    let is_mined = async || Ok(transaction(&workshop, &artist, both.id).await?.status == TransactionStatus::Mined);
    until("mined", is_mined).await?;
    act_as(&workshop, DEPLOYER, other_token(collection.into())).await?;
    node.anvil_mine(Some(1), None).await?;
    both.forgets.store(false, Relaxed);
    until_sent_again(&workshop, both.second).await?;
    node.anvil_mine(Some(1), None).await?;
    both.running.done().await?;

    let next = Creator1155::new(collection, &node).nextTokenId().call().await?;
    assert_eq!(next, U256::from(4), "it was done twice");
    assert_all_is_charged(&workshop, &artist, both.id).await
}

/// A batch with a transaction of each artist, in whose place the newest block has a no-op. The node has had none of its
/// bytes, and gets nothing more of the relay as long as the flag says so.
struct Filled {
    ids: Vec<TransactionId>,
    batch: Batch,
    is_closed: Arc<AtomicBool>,
    /// How often a lane's balance was read.
    balances: Arc<AtomicUsize>,
    running: Running,
}

async fn filled(
    workshop: &Workshop,
    (artists, collection): (&[Artist], Address),
    confirmations: u64,
) -> Result<Filled, Error> {
    let node = workshop.node().await?;
    node.anvil_set_auto_mine(false).await?;
    let (first, is_closed) = (OnceLock::new(), Arc::new(AtomicBool::new(false)));
    let closed = Arc::clone(&is_closed);
    let url = proxy::start(&workshop.rpc_url, move |request| match &*request.operation {
        "eth_sendRawTransaction" if *first.get_or_init(|| request.body["params"].clone()) == request.body["params"] => {
            Act::Refuse("exceeds block gas limit")
        }
        "eth_sendRawTransaction" if closed.load(Relaxed) => request.swallow(),
        _ => Act::Forward,
    })
    .await?;
    let (url, balances) = counting(&url, "eth_getBalance").await?;
    let mut ids = Vec::new();
    for (index, artist) in artists.iter().enumerate() {
        ids.extend(queue(workshop, artist, vec![renaming(collection.into(), &format!("ar://{index}"))]).await?);
    }
    let mut relay = relay(workshop, &url)?;
    (relay.chain.confirmations, relay.chain.reorg_depth) = (confirmations, FINAL);
    let running = spawn(relay);
    let batch = eventually("a no-op", async || {
        let row = until_sent(workshop, &artists[0], ids[0]).await?;
        Ok(batch_of(workshop, &row).await?.filter(Batch::is_filling))
    })
    .await?;
    until_sent_again(workshop, batch.slot.into()).await?;
    node.anvil_mine(Some(1), None).await?;
    is_closed.store(true, Relaxed);
    let is_over = async || {
        let stored = workshop.transactions().batch(&batch.slot).await?;
        Ok(stored.is_some_and(|batch| batch.status == BatchStatus::Filled))
    };
    until("filled", is_over).await?;
    Ok(Filled { ids, batch, is_closed, balances, running })
}

/// Drops the newest block for one that has a batch's first version.
async fn mine_after_all(workshop: &Workshop, batch: &Batch) -> Result<(), Error> {
    let node = workshop.node().await?;
    reorganise(&node, 1).await?;
    let sent = *node.send_raw_transaction(&batch.signed).await?.tx_hash();
    node.anvil_mine(Some(1), None).await?;
    until_mined(workshop, sent).await.map(drop)
}

#[tokio::test(flavor = "multi_thread")]
async fn filled_nonce_whose_block_is_dropped_does_nothing_twice() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-filled", 2).await?;
    let Filled { ids, batch, is_closed, balances, mut running } =
        filled(&workshop, (artists.as_slice(), collection.into()), 4).await?;
    let (node, slot) = (workshop.node().await?, batch.slot);
    // A turn in which they could be sent again.
    until_turned(&workshop, &balances).await?;
    for (artist, id) in artists.iter().zip(&ids) {
        let row = transaction(&workshop, artist, *id).await?;
        assert_eq!((row.status, row.batch), (TransactionStatus::Queued, Some(slot.into())), "{row:?}");
    }

    mine_after_all(&workshop, &batch).await?;
    is_closed.store(false, Relaxed);
    node.anvil_set_interval_mining(1).await?;
    running.done().await?;

    for (artist, id) in artists.iter().zip(&ids) {
        assert_eq!(transaction(&workshop, artist, *id).await?.status, TransactionStatus::Mined);
    }
    assert_done_once(&workshop, collection, &["ar://0".to_owned(), "ar://1".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn write_told_as_not_done_is_corrected_when_its_first_version_is_mined_after_all() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-told", 1).await?;
    let (node, artist) = (workshop.node().await?, artists[0]);
    let Filled { ids, batch, mut running, .. } = filled(&workshop, (artists.as_slice(), collection.into()), 0).await?;
    running.done().await?;
    let told = transaction(&workshop, &artist, ids[0]).await?;
    assert_eq!((told.status, told.mined, told.charge.wei), (TransactionStatus::Reverted, None, 0));

    mine_after_all(&workshop, &batch).await?;
    node.anvil_mine(Some(FINAL + 1), None).await?;
    until_final(&workshop, batch.slot.lane).await?;

    assert_all_is_charged(&workshop, &artist, ids[0]).await?;
    assert_done_once(&workshop, collection, &["ar://0".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn artist_stays_with_the_lane_of_batches_that_are_not_final() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-loyal", 2).await?;
    let node = workshop.node().await?;
    node.anvil_mine(Some(DEPTH), None).await?;
    let first = queue(&workshop, &artists[0], vec![renaming(collection, "ar://0/0")]).await?[0];
    run(&patient(&workshop)?).await?;
    // Its lane is busy with another artist's batch.
    node.anvil_set_auto_mine(false).await?;
    let other = queue(&workshop, &artists[1], vec![renaming(collection, "ar://1/0")]).await?[0];
    let (url, balances) = counting(&workshop.rpc_url, "eth_getBalance").await?;
    let mut running = spawn(ChainRelay { node: workshop.node_at(&url)?, ..patient(&workshop)? });
    until_sent(&workshop, &artists[1], other).await?;
    let second = queue(&workshop, &artists[0], vec![renaming(collection, "ar://0/1")]).await?[0];
    until_turned(&workshop, &balances).await?;
    node.anvil_set_interval_mining(1).await?;
    running.done().await?;

    let lane = async |id| Ok::<_, Error>(transaction(&workshop, &artists[0], id).await?.batch.ok_or("no batch")?.lane);
    let (first, second) = (lane(first).await?, lane(second).await?);
    assert_eq!(first, second);
    // Both blocks are dropped, and the order holds.
    reorganise(&node, 6).await?;
    until("done again", async || {
        run(&patient(&workshop)?).await?;
        let uris = done(&workshop, &[collection]).await?.0;
        let at = |uri: &str| uris.iter().position(|found| found == uri);
        Ok(at("ar://0/0").zip(at("ar://0/1")).is_some_and(|(before, after)| before < after))
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn artist_leaves_a_lane_that_can_not_go_on() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-disloyal", 1).await?;
    let node = workshop.node().await?;
    let first = queue(&workshop, &artists[0], vec![renaming(collection, "ar://0")]).await?[0];
    run(&patient(&workshop)?).await?;
    let left = transaction(&workshop, &artists[0], first).await?.batch.ok_or("no batch")?.lane;
    node.anvil_set_balance(left.into(), U256::ZERO).await?;
    let second = queue(&workshop, &artists[0], vec![renaming(collection, "ar://1")]).await?[0];
    let mut relay = patient(&workshop)?;
    relay.times.affinity = SHORT;
    run(&relay).await?;

    let row = transaction(&workshop, &artists[0], second).await?;
    assert_ne!(row.batch.ok_or("no batch")?.lane, left);
    assert_done_once(&workshop, collection, &["ar://0".to_owned(), "ar://1".to_owned()]).await
}
