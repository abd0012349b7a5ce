//! What must hold at the end.

use std::collections::BTreeMap;

use alloy::primitives::Address;
use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;
use shared::{
    model::{ChainId, DAY, TransactionStatus},
    store::artist::{ArtistTable, Transaction, Transactions},
};
use tests::{GivenUri, Stack, eventually, given_uris};

use crate::author::{Author, Wish};

const CHAIN: ChainId = ChainId::DEFAULT;
/// Most transactions of an artist that are read.
const MOST: usize = 1_000;

/// What pools have reserved or spent, by the names of their counters' partitions.
pub struct Budgets(BTreeMap<String, u64>);

impl Budgets {
    /// Those of yesterday, today and tomorrow.
    pub async fn of(stack: &Stack) -> Self {
        let today = std::time::SystemTime::UNIX_EPOCH.elapsed().expect("a time").as_secs() / DAY;
        Self::named(stack, (today - 1..=today + 1).map(|day| format!("POOL#{CHAIN}#{day}"))).await
    }

    async fn named(stack: &Stack, names: impl Iterator<Item = String>) -> Self {
        let (dynamodb, mut pools) = (stack.dynamodb().await, BTreeMap::new());
        for pool in names {
            let query = dynamodb.query().table_name(&stack.map.names["ArtistTable"]).consistent_read(true);
            let query = query.key_condition_expression("pk = :pk");
            let rows = query.expression_attribute_values(":pk", AttributeValue::S(pool.clone())).send().await;
            let rows = rows.expect("the pool's counters");
            let spent = rows.items().iter().map(|shard| shard["spent"].as_n().expect("a number").parse::<u64>());
            pools.insert(pool, spent.sum::<Result<u64, _>>().expect("wei"));
        }
        Self(pools)
    }
}

/// Checks that each write is on the chain as it was told, and that nothing is left open or reserved.
pub async fn check(stack: &Stack, authors: &[Author<'_>], wishes: &[Vec<Wish>], before: &Budgets) {
    let collections: Vec<Address> = authors.iter().map(|author| author.collection).collect();
    let given = given_uris(&stack.chain(), &collections).await.expect("logs");
    let aws = stack.endpoints().sdk_config(&stack.map.dynamodb).await;
    let store = Transactions::new(ArtistTable::new(&aws, &stack.map.names["ArtistTable"]));
    let mut spent = Budgets(before.0.clone());
    for (author, wishes) in authors.iter().zip(wishes) {
        check_told(author, wishes, &given).await;
        let artist = stack.artist_id(&author.writer.artist).parse().expect("an id");
        let rows = store.list(artist, None, MOST).await.expect("transactions").transactions;
        check_rows(wishes, &rows);
        for row in &rows {
            *spent.0.entry(format!("POOL#{CHAIN}#{}", row.charge.day)).or_default() += row.charge.wei;
        }
        let account = store.account(artist, CHAIN).await.expect("an answer").unwrap_or_default();
        let charged: u64 = rows.iter().map(|row| row.charge).filter(|it| it.day == account.day).map(|it| it.wei).sum();
        assert_eq!((account.waiting, account.spent), (0, charged), "{account:?}");
    }
    wait_until_closed(&store).await;
    // The second reading takes the first one's days, whatever day it is by now.
    assert_eq!(Budgets::named(stack, before.0.keys().cloned()).await.0, spent.0, "the pools' counters");
}

/// What the answers say is what the chain has, once each and in order.
async fn check_told(author: &Author<'_>, wishes: &[Wish], given: &[GivenUri]) {
    let (mut expected, mut done) = (Vec::new(), Vec::new());
    for Wish { uri, answer } in wishes {
        let on_chain: Vec<_> = given.iter().filter(|given| given.uri == *uri).collect();
        if answer.status != 200 {
            assert!([403, 422].contains(&answer.status), "{uri}: {answer:?}");
            assert!(on_chain.is_empty(), "{uri} was refused and done: {answer:?}");
            continue;
        }
        let [only] = on_chain.as_slice() else { panic!("{uri} was done {} times: {answer:?}", on_chain.len()) };
        assert_eq!(answer.body["hash"], json!(only.transaction), "{uri}");
        let token = answer.body.get("tokenId").cloned().unwrap_or(json!("1"));
        assert_eq!((token, only.collection), (json!(only.token.to_string()), author.collection), "{uri}");
        let outcome = author.transaction(answer.header("transaction-id")).await.expect_success();
        assert_eq!((&outcome.body["status"], &outcome.body["hash"]), (&json!("mined"), &answer.body["hash"]));
        expected.push(uri);
    }
    done.extend(given.iter().map(|given| &given.uri).filter(|uri| wishes.iter().any(|wish| wish.uri == **uri)));
    assert_eq!(done, expected, "in another order");
}

/// No transaction is open, and none was queued beside those that were told.
fn check_rows(wishes: &[Wish], rows: &[Transaction]) {
    let open: Vec<_> = rows.iter().filter(|row| !row.status.is_final()).collect();
    assert!(open.is_empty(), "not over: {open:?}");
    let mut told: Vec<_> = wishes.iter().map(|wish| wish.answer.header("transaction-id").to_owned()).collect();
    told.retain(|id| !id.is_empty());
    // Newest first.
    told.reverse();
    assert_eq!(rows.iter().map(|row| row.id.to_string()).collect::<Vec<_>>(), told);
    let mined = rows.iter().filter(|row| row.status == TransactionStatus::Mined).count();
    assert_eq!(mined, wishes.iter().filter(|wish| wish.answer.status == 200).count());
}

/// Waits until no lane has an open batch and the queue is empty.
async fn wait_until_closed(store: &Transactions) {
    eventually("all batches are closed and the queue is empty", async || {
        let mut open = store.queued(CHAIN, 1).await.expect("the queue").len();
        for lane in store.lanes(CHAIN).await.expect("the lanes") {
            open += store.lane(CHAIN, lane).await.expect("a lane").map_or(0, |lane| lane.open.len());
        }
        (open == 0).then_some(())
    })
    .await;
}
