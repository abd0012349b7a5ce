//! Helpers of the tests here.

use std::time::{Duration, Instant};

use local::workshop::Workshop;
use relay::{ChainRelay, Report};
use shared::{
    chain::transaction::Policy,
    model::TransactionId,
    store::{Artist, Transaction},
};
use uuid::Uuid;

pub use crate::common::*;

/// Longest run of a relay.
pub const RUN: Duration = Duration::from_secs(120);

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
    run_for(relay, RUN).await
}

pub async fn run_for(relay: &ChainRelay, time: Duration) -> Result<Report, Error> {
    Ok(relay.run(Instant::now() + time).await?)
}

pub async fn transaction(workshop: &Workshop, artist: &Artist, id: TransactionId) -> Result<Transaction, Error> {
    Ok(workshop.transactions().get(artist.artist_id, id).await?.ok_or("no such transaction")?)
}
