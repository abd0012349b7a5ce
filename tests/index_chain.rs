//! The scheduled indexer.

use std::collections::BTreeMap;

use alloy::{
    primitives::{Address, B256, U256},
    providers::Provider,
    sol_types::SolEvent,
};
use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use shared::{
    chain::contracts::native::CommentsProtocol::{self, CommentIdentifier, Commented},
    model::{ChainId, LogName},
    store::{across::EventLogs, artist::ArtistTable, chain::ChainTable, engine::NumberedEvent},
};
use tests::{Sandbox, Stack, TestChain, empty_tables, eventually, history::History};

use crate::transactions::QUIET_CHAIN;

type Rows = BTreeMap<(String, String), BTreeMap<String, AttributeValue>>;

/// A chain that no other test adds to, after so many attempts at transactions of its people; the newest block before them,
/// and the newest one.
async fn chain_of_its_own(name: &str, attempts: usize) -> (TestChain, u64, u64) {
    let chain = TestChain::start(name, 64).await.expect("a chain");
    let before = chain.node.get_block_number().await.expect("a block number");
    let mut history = History::on(&chain, 1).await.expect("people");
    history.go_on(attempts).await.expect("transactions");
    let newest = chain.node.get_block_number().await.expect("a block number");
    (chain, before, newest)
}

/// An indexer of these chains with the tables at an endpoint.
async fn indexer(stack: &Stack, chains: &[&TestChain], dynamodb: &str) -> Sandbox {
    let mut of_stack: Vec<Value> = serde_json::from_str(&stack.map.names["Chains"]).expect("JSON");
    of_stack.retain(|chain| chains.iter().any(|own| chain["id"] == own.chain.id.0));
    let urls: BTreeMap<_, _> = chains.iter().map(|own| (own.chain.id.to_string(), [&own.rpc_url])).collect();
    let (chains, urls) = (json!(of_stack).to_string(), json!(urls).to_string());
    Sandbox::with(stack, "index-chain", &[("CHAINS", chains.as_str()), ("RPC_URLS", urls.as_str())], dynamodb).await
}

/// An indexer of these chains with empty tables.
async fn fresh_indexer(stack: &Stack, chains: &[&TestChain]) -> Sandbox {
    indexer(stack, chains, &empty_tables(stack).await.endpoint).await
}

#[tokio::test]
async fn rows_do_not_depend_on_block_ranges() {
    let stack = Stack::connect();
    let (chain, before, newest) = chain_of_its_own("block-ranges", 150).await;

    let at_once = fresh_indexer(&stack, &[&chain]).await;
    let read = at_once.invoke(&json!({"chainId": 8453, "toBlock": newest})).await;
    assert_eq!(read[0]["nextBlock"], json!(newest + 1));
    assert!(read[0]["events"].as_u64().is_some_and(|events| events >= 110), "{read}");
    let first = rows(&at_once).await;
    assert!(first.len() > 200, "only {} rows", first.len());

    let again = at_once.invoke(&json!({"chainId": 8453, "toBlock": newest})).await;
    assert_eq!(again[0]["events"], json!(0), "{again}");
    assert_eq!(rows(&at_once).await, first, "reading nothing changed rows");

    let block_by_block = fresh_indexer(&stack, &[&chain]).await;
    // All blocks that only deploy contracts, then each by itself.
    for block in before..=newest {
        block_by_block.invoke(&json!({"chainId": 8453, "toBlock": block})).await;
    }
    assert_eq!(rows(&block_by_block).await, first, "rows depend on how the blocks are cut");
}

#[tokio::test]
async fn next_run_resumes_at_the_checkpoint() {
    let stack = Stack::connect();
    let (chain, _, newest) = chain_of_its_own("resumed", 20).await;
    let other = TestChain::of(ChainId(QUIET_CHAIN), "resumed-other", 64).await.expect("a chain");
    let indexer = fresh_indexer(&stack, &[&chain, &other]).await;
    let read = indexer.invoke(&json!({})).await;
    assert_eq!(read.as_array().map(Vec::len), Some(2), "both chains are followed: {read}");
    let of_chain = |read: &Value| {
        let chain = read.as_array().and_then(|chains| chains.iter().find(|chain| chain["chainId"] == 8453));
        chain.map(|chain| (chain["nextBlock"].as_u64(), chain["events"].as_u64()))
    };
    let Some((next, events)) = of_chain(&read) else { panic!("{read}") };
    assert!(next == Some(newest + 1) && events > Some(0), "{read}");
    let again = indexer.invoke(&json!({})).await;
    assert_eq!(of_chain(&again), Some((next, Some(0))), "old blocks were read again: {again}");
}

#[tokio::test]
async fn concurrent_runs_write_the_same_rows() {
    let stack = Stack::connect();
    let (chain, _, newest) = chain_of_its_own("concurrent-runs", 60).await;
    let whole = json!({"chainId": 8453, "toBlock": newest});
    let alone = fresh_indexer(&stack, &[&chain]).await;
    alone.invoke(&whole).await;

    let first = fresh_indexer(&stack, &[&chain]).await;
    let second = indexer(&stack, &[&chain], &first.endpoints.dynamodb).await;
    futures::join!(first.invoke(&whole), second.invoke(&whole));
    // A run that is overtaken stops, and the other continues; or another one, if each overtook the other.
    eventually("all is read", async || (first.invoke(&whole).await[0]["nextBlock"] == json!(newest + 1)).then_some(()))
        .await;
    assert_eq!(rows(&first).await, rows(&alone).await);
}

#[tokio::test]
async fn nested_reply_is_listed_and_long_text_is_truncated() {
    let stack = Stack::connect();
    let collection = stack.demo_collection(1);
    let commenter = stack.chain().get_accounts().await.expect("accounts")[8];
    stack.collect(collection, commenter, "").await;
    let nothing = CommentIdentifier {
        commenter: Address::ZERO,
        contractAddress: Address::ZERO,
        tokenId: U256::ZERO,
        nonce: B256::ZERO,
    };
    let (top, top_id) = comment(&stack, collection, commenter, "top", nothing).await;
    let (reply, reply_id) = comment(&stack, collection, commenter, "reply", top).await;
    let long = "é".repeat(3_000);
    comment(&stack, collection, commenter, &long, reply).await;

    let nested = wait_for_reply(&stack, collection, reply_id).await;
    assert_eq!(nested["comment"].as_str().map(|text| text.chars().count()), Some(2_000));
    assert_eq!(nested["replyToId"], json!(reply_id));
    let direct = wait_for_reply(&stack, collection, top_id).await;
    assert_eq!((&direct["comment"], &direct["replyCount"]), (&json!("reply"), &json!(0)));
}

#[tokio::test]
async fn backfilled_comment_keeps_its_timestamp() {
    let stack = Stack::connect();
    let (collection, deployer) = (stack.demo_collection(1), stack.chain().get_accounts().await.expect("accounts")[0]);
    let said = CommentIdentifier {
        commenter: Address::repeat_byte(0x5a),
        contractAddress: collection,
        tokenId: U256::from(77),
        nonce: B256::from(U256::from(uuid::Uuid::new_v4().as_u128())),
    };
    let backfill = CommentsProtocol::backfillBatchAddCommentCall {
        commentIdentifiers: vec![said],
        texts: vec!["from long ago".to_owned()],
        timestamps: vec![U256::from(1_600_000_000)],
        originalTransactionIds: vec![B256::repeat_byte(1)],
    };
    stack.transact(deployer, stack.contract("comments"), U256::ZERO, backfill).await;
    let url = format!("/comments?collectionAddress={collection:#x}&tokenId=77");
    let comment = stack.wait_for_comment(&url, |_| true).await;
    assert_eq!((&comment["comment"], &comment["timestamp"]), (&json!("from long ago"), &json!(1_600_000_000_000_u64)));
}

/// All rows of the sandbox's chain table, except checkpoints, the journal and metadata; of the log, whose rows hold what
/// was told together, each event.
async fn rows(sandbox: &Sandbox) -> Rows {
    let aws = sandbox.endpoints.sdk_config(&sandbox.endpoints.dynamodb).await;
    let client = aws_sdk_dynamodb::Client::new(&aws);
    let scan = client.scan().table_name("ChainTable").consistent_read(true).into_paginator().items().send();
    let items = scan.collect::<Result<Vec<_>, _>>().await.expect("the rows can be read");
    let text = |value: &AttributeValue| value.as_s().expect("a text key").clone();
    let rows = items.into_iter().map(|item| ((text(&item["pk"]), text(&item["sk"])), item.into_iter().collect()));
    let mut rows: Rows = rows
        .filter(|((pk, _), _)| {
            !["CHECKPOINT#", "BATCHES#", "JOURNAL#", "METADATA", "EVENTS#"].iter().any(|other| pk.starts_with(other))
        })
        .collect();
    let logs = EventLogs::new(ChainTable::new(&aws, "ChainTable"), ArtistTable::new(&aws, "ArtistTable"));
    let mut last = 0;
    loop {
        let told = logs.after(LogName::Chain(ChainId(8453)), last, 10).await.expect("events");
        let Some(newest) = told.last() else { return rows };
        last = newest.number;
        rows.extend(told.into_iter().map(|NumberedEvent { number, event }| {
            let event = AttributeValue::S(serde_json::to_string(&event).expect("JSON"));
            (("EVENT".to_owned(), format!("{number:012}")), BTreeMap::from([("event".to_owned(), event)]))
        }));
    }
}

async fn comment(
    stack: &Stack,
    collection: Address,
    commenter: Address,
    text: &str,
    reply_to: CommentIdentifier,
) -> (CommentIdentifier, B256) {
    let spark =
        CommentsProtocol::new(stack.contract("comments"), stack.chain()).sparkValue().call().await.expect("a price");
    let call = CommentsProtocol::commentCall {
        commenter,
        contractAddress: collection,
        tokenId: U256::ONE,
        text: text.to_owned(),
        replyTo: reply_to,
        commenterSmartWallet: Address::ZERO,
        referrer: Address::ZERO,
    };
    let receipt = stack.transact(commenter, stack.contract("comments"), spark, call).await;
    let said = receipt.logs().iter().find(|log| log.topic0() == Some(&Commented::SIGNATURE_HASH)).expect("a comment");
    let said = said.log_decode::<Commented>().expect("a comment").inner.data;
    (said.commentIdentifier, said.commentId)
}

async fn wait_for_reply(stack: &Stack, collection: Address, parent: B256) -> Value {
    let url = format!("/comments?collectionAddress={collection:#x}&tokenId=1&replyToId={parent}");
    stack.wait_for_comment(&url, |_| true).await
}
