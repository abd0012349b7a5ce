//! Moments whose ids are known only when their transaction is signed.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use alloy::{
    consensus::Transaction as _,
    eips::BlockId,
    primitives::{Address, B256, U256},
    providers::{Provider, ext::AnvilApi},
    rpc::types::Filter,
    sol_types::SolEvent,
};
use aws_sdk_dynamodb::types::AttributeValue;
use local::{contracts::DEPLOYER, patience::eventually, workshop::Workshop};
use serde_json::json;
use shared::{
    chain::contracts::native::{
        Creator1155,
        SplitFactory::{SplitCreated_0, SplitParams, createSplitDeterministicCall},
    },
    model::{Call, Creation, Plan, TransactionStatus},
    store::artist::{Artist, BatchReference, NewTransaction, Transaction},
};

use crate::{
    proxy::{self, Act, Gate},
    support::{
        Error, FOREVER, RESERVE, Ways, act_for, act_with_tip, batch_of, come_before, counting, forgetful,
        lanes_receipts, queue, relay, relay_over, run, spawn, stage, token_creation, transaction, until, until_pooled,
        until_sent, until_turned, wordless,
    },
};

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_creates_of_two_admins_get_consecutive_tokens() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-tokens", 2).await?;
    let mut ids = Vec::new();
    for number in 0..10 {
        let artist = artists[number % 2];
        let moment = token_creation(&artist, collection, &format!("ar://moment-{number}"))?;
        ids.push((artist, queue(&workshop, &artist, vec![moment]).await?[0]));
    }

    let (first, second) = (relay(&workshop, &workshop.rpc_url)?, relay(&workshop, &workshop.rpc_url)?);
    let (one, other) = tokio::join!(run(&first), run(&second));
    one?;
    other?;

    let mut tokens = BTreeSet::new();
    for (artist, id) in ids {
        let row = transaction(&workshop, &artist, id).await?;
        assert_eq!(row.status, TransactionStatus::Mined, "{row:?}");
        tokens.insert(row.result.get("tokenId").ok_or("no token")?.to_string());
    }
    let expected: BTreeSet<_> = (2..12).map(|token| format!("\"{token}\"")).collect();
    assert_eq!(tokens, expected);
    Ok(())
}

/// A call that creates a split which isn't there yet.
fn new_split(factory: Address, artist: &Artist) -> Call {
    let split = SplitParams {
        recipients: vec![Address::repeat_byte(1), Address::repeat_byte(2)],
        allocations: vec![U256::from(400_000), U256::from(600_000)],
        totalAllocation: U256::from(1_000_000),
        distributionIncentive: 0,
    };
    let creator = artist.embedded_wallet.into();
    let creation = createSplitDeterministicCall { split, owner: Address::ZERO, creator, salt: B256::ZERO };
    Call::new(factory, &creation)
}

/// Lets another token of the collection come before one that was sent, in the next block.
async fn overtake(
    workshop: &Workshop,
    sent: &Transaction,
    forgets: &AtomicBool,
    collection: Address,
) -> Result<(), Error> {
    let other = Creator1155::setupNewTokenCall { newURI: "ar://first".to_owned(), maxSupply: U256::ONE };
    come_before(workshop, sent, forgets, DEPLOYER, Call::new(collection, &other)).await
}

/// Fails unless a transaction with so many moments is charged for the attempt that another token overtook, and for the
/// one that creates them.
async fn assert_overtaken_attempt_is_charged(name: &str, count: u8) -> Result<(), Error> {
    let (workshop, artists, collection) = stage(name, 1).await?;
    let (node, artist) = (workshop.node().await?, artists[0]);
    node.anvil_set_auto_mine(false).await?;
    let one = token_creation(&artist, collection, "ar://second")?;
    let (gas, reserve) = (u64::from(count) * one.gas, u64::from(count) * one.reserve);
    let mut all = NewTransaction { gas, reserve, creation: Creation::Moments, ..one };
    if let Plan::Tokens(tokens) = &mut all.plan {
        tokens.moments = vec![tokens.moments[0].clone(); usize::from(count)];
    }
    let id = queue(&workshop, &artist, vec![all]).await?[0];
    let (url, forgets) = forgetful(&workshop).await?;
    let mut running = spawn(relay(&workshop, &url)?);
    let sent = until_sent(&workshop, &artist, id).await?;
    // As in rows of versions that didn't count what attempts cost.
    let key = |text: String| AttributeValue::S(text);
    let older = aws_sdk_dynamodb::Client::new(&workshop.dynamodb).update_item().table_name("ArtistTable");
    let older = older.key("pk", key(format!("TRANSACTIONS#{}", artist.artist_id))).key("sk", key(id.to_string()));
    older
        .condition_expression("attribute_exists(attempts_wei)")
        .update_expression("REMOVE attempts_wei")
        .send()
        .await?;
    overtake(&workshop, &sent, &forgets, collection).await?;
    node.anvil_mine(Some(1), None).await?;
    node.anvil_set_auto_mine(true).await?;

    running.done().await?;

    let row = transaction(&workshop, &artist, id).await?;
    assert_eq!((row.status, row.attempts, row.hashes.len()), (TransactionStatus::Mined, 1, 2), "{row:?}");
    // The second one is the other's.
    let tokens: Vec<_> = (3..).take(count.into()).map(|token: u64| token.to_string()).collect();
    assert_eq!(row.result.get("tokenIds"), Some(&json!(tokens)));
    let mut spent = 0;
    for hash in &row.hashes {
        let receipt = node.get_transaction_receipt(*hash).await?.ok_or("no receipt")?;
        spent += u128::from(receipt.gas_used) * receipt.effective_gas_price;
    }
    assert_eq!(u128::from(row.charge.wei), spent);
    let account = workshop.transactions().account(artist.artist_id, workshop.chain.id).await?.ok_or("no account")?;
    assert_eq!(u128::from(account.spent), spent);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn attempt_that_another_token_overtook_is_charged() -> Result<(), Error> {
    assert_overtaken_attempt_is_charged("relay-overtaken", 1).await
}

#[tokio::test(flavor = "multi_thread")]
async fn attempt_with_several_moments_that_another_token_overtook_is_charged() -> Result<(), Error> {
    assert_overtaken_attempt_is_charged("relay-overtaken-together", 3).await
}

#[tokio::test(flavor = "multi_thread")]
async fn overtaken_creation_goes_back_although_no_node_has_words() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-overtaken-silently", 1).await?;
    let (node, artist) = (workshop.node().await?, artists[0]);
    node.anvil_set_auto_mine(false).await?;
    let id = queue(&workshop, &artist, vec![token_creation(&artist, collection, "ar://second")?]).await?[0];
    let (url, forgets) = wordless(&workshop).await?;
    let mut running = spawn(relay(&workshop, &url)?);
    let sent = until_sent(&workshop, &artist, id).await?;
    overtake(&workshop, &sent, &forgets, collection).await?;
    node.anvil_mine(Some(1), None).await?;
    node.anvil_set_auto_mine(true).await?;

    running.done().await?;

    let row = transaction(&workshop, &artist, id).await?;
    assert_eq!((row.status, row.attempts), (TransactionStatus::Mined, 1), "{row:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn creation_behind_a_failed_one_of_its_batch_goes_back() -> Result<(), Error> {
    let (workshop, artists, _) = stage("relay-behind-a-failed-one", 2).await?;
    let node = workshop.node().await?;
    // The first of them has no right there.
    let collection = workshop.collection(&artists[1..]).await?;
    node.anvil_set_auto_mine(false).await?;
    let mut ids = Vec::new();
    for artist in &artists {
        ids.extend(queue(&workshop, artist, vec![token_creation(artist, collection, "ar://own")?]).await?);
    }
    let (url, forgets) = wordless(&workshop).await?;
    forgets.store(false, Relaxed);
    let mut running = spawn(relay(&workshop, &url)?);
    let sent = until_sent(&workshop, &artists[1], ids[1]).await?;
    assert_eq!(batch_of(&workshop, &sent).await?.ok_or("no batch")?.members.len(), 2);
    until_pooled(&workshop, &sent).await?;
    // Behind the batch, so that the block has the token which the first one was to create.
    let other = Creator1155::setupNewTokenCall { newURI: "ar://foreign".to_owned(), maxSupply: U256::ONE };
    let batch = *sent.hashes.last().ok_or("never sent")?;
    let waits = node.get_transaction_by_hash(batch).await?.ok_or("not in the pool")?;
    // The node orders them by what they would pay at most.
    let fees = (waits.max_fee_per_gas() - 1, 1);
    let other = act_for(&workshop, DEPLOYER, Call::new(collection, &other), fees).await?;
    node.anvil_mine(Some(1), None).await?;
    let block = node.get_block(BlockId::latest()).await?.ok_or("no block")?;
    assert_eq!(block.transactions.hashes().collect::<Vec<_>>(), [batch, other]);
    node.anvil_set_auto_mine(true).await?;

    running.done().await?;

    for ((artist, id), status) in artists.iter().zip(ids).zip([TransactionStatus::Reverted, TransactionStatus::Mined]) {
        let row = transaction(&workshop, artist, id).await?;
        assert_eq!(row.status, status, "{row:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn attempt_is_counted_although_the_row_changes_meanwhile() -> Result<(), Error> {
    const EARLIER: u64 = 1_000;
    let (workshop, artists, collection) = stage("relay-attempt-raced", 1).await?;
    let (node, store, artist) = (workshop.node().await?, workshop.transactions(), artists[0]);
    node.anvil_set_auto_mine(false).await?;
    let id = queue(&workshop, &artist, vec![token_creation(&artist, collection, "ar://second")?]).await?[0];
    let (url, forgets) = forgetful(&workshop).await?;
    let (gate, is_held) = (Gate::default(), Arc::new(AtomicBool::new(false)));
    let (late, held, mut ways) = (gate.clone(), Arc::clone(&is_held), Ways { node: url, ..Ways::of(&workshop) });
    ways.store = proxy::start(&ways.store, move |request| {
        if request.operation == "TransactWriteItems" && request.body.to_string().contains("last_attempt_wei = :last") {
            held.store(true, Relaxed);
            return Act::Wait(late.clone());
        }
        Act::Forward
    })
    .await?;
    let mut running = spawn(relay_over(&workshop, &ways).await?);
    let sent = until_sent(&workshop, &artist, id).await?;
    overtake(&workshop, &sent, &forgets, collection).await?;
    until("held", async || Ok(is_held.load(Relaxed))).await?;

    // What another batch cost it is corrected between the read and the write.
    let batch = sent.batch.ok_or("no batch")?;
    let earlier = BatchReference { nonce: batch.nonce + 100, ..batch };
    store.correct_try(&transaction(&workshop, &artist, id).await?, earlier, EARLIER).await?;
    gate.open();
    node.anvil_mine(Some(1), None).await?;
    node.anvil_set_auto_mine(true).await?;
    running.done().await?;

    let row = transaction(&workshop, &artist, id).await?;
    assert_eq!((row.status, row.attempts), (TransactionStatus::Mined, 1), "{row:?}");
    let mut spent = u128::from(EARLIER);
    for receipt in lanes_receipts(&workshop, &node).await? {
        spent += u128::from(receipt.gas_used) * receipt.effective_gas_price;
    }
    assert_eq!(u128::from(row.charge.wei), spent);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_who_mints_in_each_block_makes_few_tries_fail() -> Result<(), Error> {
    const TRIES: u32 = 5;
    let (workshop, artists, collection) = stage("relay-minted-over", 2).await?;
    let node = workshop.node().await?;
    node.anvil_set_auto_mine(false).await?;
    // It pays for all its tries.
    let create = |artist: &Artist, uri: &str| -> Result<_, Error> {
        Ok(NewTransaction { reserve: 100 * RESERVE, ..token_creation(artist, collection, uri)? })
    };
    let own = queue(&workshop, &artists[0], vec![create(&artists[0], "ar://own")?]).await?[0];
    let (url, balances) = counting(&workshop.rpc_url, "eth_getBalance").await?;
    let mut relay = relay(&workshop, &url)?;
    // Blocks come when the test says so.
    relay.times.quiet = FOREVER;
    let mut running = spawn(relay);
    until_sent(&workshop, &artists[0], own).await?;
    let mint = Creator1155::setupNewTokenCall { newURI: "ar://foreign".to_owned(), maxSupply: U256::ONE };
    let mut tips = (200_u128..).map(|tip| tip * 10_000_000);
    let mut mint_in_a_block = async || -> Result<(), Error> {
        // Lanes follow what is paid.
        let tip = tips.next().ok_or("no more tips")?;
        act_with_tip(&workshop, DEPLOYER, Call::new(collection, &mint), tip).await?;
        node.anvil_mine(Some(1), None).await?;
        Ok(())
    };
    eventually("all tries have failed", async || {
        let row = transaction(&workshop, &artists[0], own).await?;
        if row.attempts >= TRIES || row.status.is_final() {
            return Ok(Some(()));
        }
        // No more blocks come after one with a try before it is seen to have failed.
        let tried = row.hashes.last().filter(|_| row.status == TransactionStatus::Sent);
        let is_in_block = match tried {
            Some(hash) => node.get_transaction_receipt(*hash).await?.is_some(),
            None => false,
        };
        if !is_in_block {
            mint_in_a_block().await?;
        }
        Ok(None)
    })
    .await?;
    let other = queue(&workshop, &artists[1], vec![create(&artists[1], "ar://other")?]).await?[0];
    for _ in 0..5 {
        mint_in_a_block().await?;
    }
    until_turned(&workshop, &balances).await?;
    assert_eq!(transaction(&workshop, &artists[1], other).await?.hashes.len(), 0, "the whole collection waits");
    let failed: Vec<_> =
        lanes_receipts(&workshop, &node).await?.into_iter().filter_map(|sent| sent.block_number).collect();
    assert_eq!(failed.len(), TRIES as usize);
    for (tries, blocks) in failed.windows(2).enumerate() {
        assert!(blocks[1] - blocks[0] > 1 << tries, "{failed:?}");
    }

    node.anvil_mine(Some(1 << TRIES), None).await?;
    node.anvil_set_auto_mine(true).await?;
    running.done().await?;

    let (mut charged, mut spent) = (0, 0);
    for (artist, id) in [(&artists[0], own), (&artists[1], other)] {
        let row = transaction(&workshop, artist, id).await?;
        assert_eq!(row.status, TransactionStatus::Mined, "{row:?}");
        charged += u128::from(row.charge.wei);
    }
    for receipt in lanes_receipts(&workshop, &node).await? {
        spent += u128::from(receipt.gas_used) * receipt.effective_gas_price;
    }
    assert_eq!(charged, spent);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_creates_with_one_split_all_succeed() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-splits", 3).await?;
    let factory = workshop.chain.addresses.split_factory;
    let mut ids = Vec::new();
    for number in 0..10 {
        let artist = artists[number % 2];
        let mut moment = token_creation(&artist, collection, &format!("ar://moment-{number}"))?;
        if let Plan::Tokens(tokens) = &mut moment.plan {
            tokens.before = vec![new_split(factory, &artist)];
        }
        moment.gas += 300_000;
        ids.push((artist, queue(&workshop, &artist, vec![moment]).await?[0]));
    }

    run(&relay(&workshop, &workshop.rpc_url)?).await?;

    for (artist, id) in ids {
        let row = transaction(&workshop, &artist, id).await?;
        assert_eq!(row.status, TransactionStatus::Mined, "{row:?}");
    }
    let filter = Filter::new().address(factory).event_signature(SplitCreated_0::SIGNATURE_HASH).from_block(0);
    assert_eq!(workshop.node().await?.get_logs(&filter).await?.len(), 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn split_created_by_a_stranger_first_fails_no_create() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-split-taken", 1).await?;
    let (node, factory, artist) = (workshop.node().await?, workshop.chain.addresses.split_factory, artists[0]);
    node.anvil_set_auto_mine(false).await?;
    let mut moment = token_creation(&artist, collection, "ar://moment")?;
    if let Plan::Tokens(tokens) = &mut moment.plan {
        tokens.before = vec![new_split(factory, &artist)];
    }
    moment.gas += 300_000;
    let id = queue(&workshop, &artist, vec![moment]).await?[0];
    let (url, forgets) = forgetful(&workshop).await?;
    let mut running = spawn(relay(&workshop, &url)?);
    let sent = until_sent(&workshop, &artist, id).await?;
    let stranger = Address::repeat_byte(0x77);
    come_before(&workshop, &sent, &forgets, stranger, new_split(factory, &artist)).await?;
    node.anvil_set_auto_mine(true).await?;

    running.done().await?;
    let row = transaction(&workshop, &artist, id).await?;
    assert_eq!(row.status, TransactionStatus::Mined, "{row:?}");
    Ok(())
}
