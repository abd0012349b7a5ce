//! Artists' transactions, and what the chain says of them.

use std::collections::BTreeMap;

use alloy::{
    primitives::{Address, U256},
    providers::Provider,
    rpc::types::Filter,
    sol,
};
use local::workshop::Workshop;
use shared::{
    chain::contracts::native::Creator1155,
    clock,
    model::{Call, Creation, Plan, TransactionId},
    store::{Admission, Admitted, Artist, NewTransaction, Pool, PoolLimit},
};

pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// Enough for every budget here.
const PLENTY: u64 = 1_000_000_000_000_000_000;
/// Wei that each transaction reserves.
pub const RESERVE: u64 = 1_000_000_000_000_000;
/// Most gas of a renaming.
pub const RENAMING_GAS: u64 = 120_000;

sol! {
    event URI(string value, uint256 indexed id);
}

pub fn rename(collection: Address, uri: &str) -> Call {
    Call::new(collection, &Creator1155::updateTokenURICall { tokenId: U256::ONE, newURI: uri.to_owned() })
}

pub fn calls(calls: Vec<Call>, gas: u64) -> NewTransaction {
    NewTransaction { plan: Plan::Calls { calls }, gas, creation: Creation::Nothing, reserve: RESERVE }
}

pub fn renaming(collection: Address, uri: &str) -> NewTransaction {
    calls(vec![rename(collection, uri)], RENAMING_GAS)
}

/// Queues transactions of one request.
pub async fn queue(
    workshop: &Workshop,
    artist: &Artist,
    transactions: Vec<NewTransaction>,
) -> Result<Vec<TransactionId>, Error> {
    let (store, chain) = (workshop.transactions(), workshop.chain.id);
    let admission = Admission {
        artist: artist.artist_id,
        key: None,
        outlay: None,
        chain,
        wallet: artist.embedded_wallet,
        account: store.account(artist.artist_id, chain).await?,
        transactions,
        replay: None,
        artist_limit: PLENTY,
        pool: PoolLimit { pool: Pool::Established, wei: PLENTY },
    };
    match store.admit(&admission, clock::now()?).await? {
        Admitted::Queued(queued) => Ok(queued.into_iter().map(|transaction| transaction.id).collect()),
        Admitted::Refused(refusal) => Err(format!("{refusal:?}").into()),
    }
}

/// URIs that token 1 was given, in the chain's order, with how often.
pub async fn uris(workshop: &Workshop, collection: Address) -> Result<(Vec<String>, BTreeMap<String, usize>), Error> {
    let logs = workshop.node().await?.get_logs(&Filter::new().address(collection).from_block(0)).await?;
    let events = logs.iter().filter_map(|log| log.log_decode::<URI>().ok());
    let uris: Vec<_> =
        events.filter(|event| event.inner.data.id == U256::ONE).map(|event| event.inner.data.value.clone()).collect();
    let mut counts = BTreeMap::new();
    for uri in &uris {
        *counts.entry(uri.clone()).or_default() += 1;
    }
    Ok((uris, counts))
}
