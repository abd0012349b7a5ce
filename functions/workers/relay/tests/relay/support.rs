//! Helpers of the tests here.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use alloy::{
    primitives::{Address, U256},
    providers::Provider,
    rpc::types::Filter,
    sol,
};
use local::workshop::Workshop;
use relay::{ChainRelay, Report};
use shared::{
    chain::{contracts::native::Creator1155, transaction::Policy},
    clock,
    model::{Call, Creation, Plan, TransactionId},
    store::{Admission, Admitted, Artist, NewTransaction, Pool, PoolLimit, Transaction},
};
use uuid::Uuid;

pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// Enough for every budget here.
const PLENTY: u64 = 1_000_000_000_000_000_000;
/// Wei that each transaction reserves.
pub const RESERVE: u64 = 1_000_000_000_000_000;
/// Most gas of a renaming.
pub const RENAMING_GAS: u64 = 120_000;
/// Longest run of a relay.
pub const RUN: Duration = Duration::from_secs(120);

sol! {
    event URI(string value, uint256 indexed id);
}

pub fn policy() -> Policy {
    Policy { max_gas: 16_000_000 }
}

/// A relay of its own, as another process would be one.
pub fn relay(workshop: &Workshop, rpc_url: &str) -> Result<ChainRelay, Error> {
    Ok(ChainRelay {
        chain: workshop.chain.clone(),
        node: workshop.node_at(rpc_url)?,
        signers: workshop.signers.clone(),
        policy: policy(),
        operator: workshop.operator,
        transactions: workshop.transactions(),
        holder: Uuid::new_v4().to_string(),
    })
}

pub async fn run(relay: &ChainRelay) -> Result<Report, Error> {
    Ok(relay.run(Instant::now() + RUN).await?)
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

pub async fn transaction(workshop: &Workshop, artist: &Artist, id: TransactionId) -> Result<Transaction, Error> {
    Ok(workshop.transactions().get(artist.artist_id, id).await?.ok_or("no such transaction")?)
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
