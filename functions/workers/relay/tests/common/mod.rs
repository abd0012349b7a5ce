//! Artists' transactions, and what the chain says of them.

pub mod money;

use std::collections::BTreeMap;

use alloy::{
    primitives::{Address, U256},
    providers::{Provider, RootProvider},
    rpc::types::TransactionReceipt,
};
use aws_sdk_dynamodb::types::AttributeValue;
use local::workshop::{Workshop, moment_plan};
use shared::{
    chain::contracts::native::Creator1155,
    model::{Call, ChainId, Creation, Plan, TransactionId, WriteKind},
    store::artist::{Artist, NewTransaction},
};
use tests::given_uris;

pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// Wei that each transaction reserves.
pub const RESERVE: u64 = 1_000_000_000_000_000;
/// Most gas of a renaming.
pub const RENAMING_GAS: u64 = 120_000;
/// Most gas of a token's creation.
const CREATION_GAS: u64 = 700_000;

pub fn rename(collection: Address, uri: &str) -> Call {
    Call::new(collection, &Creator1155::updateTokenURICall { tokenId: U256::ONE, newURI: uri.to_owned() })
}

pub fn calls(calls: Vec<Call>, gas: u64) -> NewTransaction {
    NewTransaction {
        plan: Plan::Calls { calls },
        kind: WriteKind::Plain,
        gas,
        creation: Creation::Nothing,
        reserve: RESERVE,
        valid_until: None,
    }
}

pub fn renaming(collection: Address, uri: &str) -> NewTransaction {
    calls(vec![rename(collection, uri)], RENAMING_GAS)
}

/// A moment whose id is known only when its transaction is signed.
pub fn token_creation(artist: &Artist, collection: Address, uri: &str) -> Result<NewTransaction, Error> {
    Ok(NewTransaction {
        plan: moment_plan(artist, collection, uri)?,
        kind: WriteKind::Plain,
        gas: CREATION_GAS,
        creation: Creation::Moment,
        reserve: RESERVE,
        valid_until: None,
    })
}

/// Queues transactions of one request.
pub async fn queue(
    workshop: &Workshop,
    artist: &Artist,
    transactions: Vec<NewTransaction>,
) -> Result<Vec<TransactionId>, Error> {
    workshop.queue(artist, transactions).await
}

/// Wei that the counters of all pools have for a day.
pub async fn pools_wei(dynamodb: &aws_sdk_dynamodb::Client, chain: ChainId, day: u64) -> Result<u64, Error> {
    let query = dynamodb.query().table_name("ArtistTable").key_condition_expression("pk = :pk").consistent_read(true);
    let pools = AttributeValue::S(format!("POOL#{chain}#{day}"));
    let rows = query.expression_attribute_values(":pk", pools).send().await?;
    let counters = rows.items().iter().map(|row| row["spent"].as_n().map_or(Ok(0), |spent| spent.parse::<u64>()));
    Ok(counters.sum::<Result<_, _>>()?)
}

/// Receipts of all that lanes sent.
pub async fn lanes_receipts(workshop: &Workshop, node: &RootProvider) -> Result<Vec<TransactionReceipt>, Error> {
    let mut found = Vec::new();
    for number in 0..=node.get_block_number().await? {
        found.extend(node.get_block_receipts(number.into()).await?.unwrap_or_default());
    }
    found.retain(|receipt| workshop.lanes().iter().any(|(lane, _)| *lane == receipt.from));
    Ok(found)
}

/// URIs that token 1 was given or new tokens have, in the chain's order, with how often.
pub async fn done(
    workshop: &Workshop,
    collections: &[Address],
) -> Result<(Vec<String>, BTreeMap<String, usize>), Error> {
    let given = given_uris(&workshop.node().await?, collections).await?;
    let uris: Vec<_> = given.into_iter().map(|given| given.uri).collect();
    let mut counts = BTreeMap::new();
    for uri in &uris {
        *counts.entry(uri.clone()).or_default() += 1;
    }
    Ok((uris, counts))
}
