//! Settles what writes leave behind. One step looks at every open transaction of every lane once: is it in a block, must
//! it be sent again, does it offer too little, did it never leave, did somebody else use its nonce?

mod lease;
mod step;
mod vitals;

use std::ops::AddAssign;

use futures::future::join_all;
use serde::Serialize;
use shared::{
    chain::{
        engine::{Engine, WriteError},
        node::NodeError,
    },
    model::{Address, ChainId},
    store::StoreError,
    telemetry::{self, Metric},
};
use uuid::Uuid;

use crate::{lease::Lease, step::LaneStep};

/// Why a lane isn't settled.
#[derive(Debug, thiserror::Error)]
pub enum SettleError {
    /// Storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No node answers.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// A transaction couldn't be signed or stored.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// What a step did on one lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Settled {
    /// Transactions that are in a block.
    pub mined: usize,
    /// Transactions that were sent again as they were.
    pub sent: usize,
    /// Transactions that were signed anew with higher fees.
    pub bumped: usize,
    /// Transactions that never left and were given up.
    pub abandoned: usize,
    /// Transactions that got another nonce, since theirs was used by somebody else.
    pub displaced: usize,
    /// Slots that are still open.
    pub open: usize,
}

impl AddAssign for Settled {
    fn add_assign(&mut self, more: Self) {
        self.mined += more.mined;
        self.sent += more.sent;
        self.bumped += more.bumped;
        self.abandoned += more.abandoned;
        self.displaced += more.displaced;
        self.open += more.open;
    }
}

/// A lane that was settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SettledLane {
    /// The chain.
    pub chain_id: ChainId,
    /// The lane.
    pub lane: Address,
    /// What was done.
    #[serde(flatten)]
    pub settled: Settled,
}

/// Settles the lanes of all chains.
pub struct Settler {
    engines: Vec<Engine>,
    /// Names this run's leases.
    holder: String,
}

impl Settler {
    /// A settler for the chains of these engines.
    pub fn new(engines: Vec<Engine>) -> Self {
        Self { engines, holder: Uuid::new_v4().to_string() }
    }

    /// Looks at every lane once, at all of them side by side. A lane that another run is at is left out. `now` is
    /// the Unix time in seconds.
    ///
    /// # Errors
    /// The last failure; it doesn't keep the other lanes from being settled.
    pub async fn step(&self, now: u64) -> Result<Vec<SettledLane>, SettleError> {
        let lanes = self
            .engines
            .iter()
            .flat_map(|engine| engine.signers().iter().map(move |signer| (engine, Address::from(signer.address()))));
        let settled = join_all(lanes.map(|(engine, lane)| async move {
            let chain_id = engine.chain().id;
            let settled = self.settle(engine, lane, now).await.inspect_err(|error| {
                tracing::error!(chain.id = chain_id.0, %lane, error = telemetry::chain(error), "lane not settled");
            })?;
            Ok(settled.map(|settled| SettledLane { chain_id, lane, settled }))
        }));
        let (lanes, failures): (Vec<_>, Vec<_>) = settled.await.into_iter().partition(Result::is_ok);
        match failures.into_iter().next_back() {
            Some(Err(failure)) => Err(failure),
            _ => Ok(lanes.into_iter().flatten().flatten().collect()),
        }
    }

    async fn settle(&self, engine: &Engine, lane: Address, now: u64) -> Result<Option<Settled>, SettleError> {
        let (chain, transactions) = (engine.chain().id, engine.transactions());
        // Before anything is mended.
        if let Err(error) = vitals::measure(engine, lane, now).await {
            tracing::warn!(chain.id = chain.0, %lane, error = telemetry::chain(&error), "lane not measured");
        }
        let Some(state) = transactions.lane(chain, lane).await? else { return Ok(None) };
        let lease = Lease::take(transactions, chain, lane, &self.holder, now).await?;
        let Some(mut lease) = lease else { return Ok(None) };
        let mut settled = Settled::default();
        let ended = LaneStep::new(engine, lane, now).run(&state, &mut lease, &mut settled).await;
        if settled != Settled::default() {
            tracing::info!(chain.id = chain.0, %lane, ?settled, "lane settled");
            telemetry::record(
                &[("Chain", &chain.to_string())],
                &[(Metric::Bumps, settled.bumped.try_into().unwrap_or(i64::MAX))],
            );
        }
        lease.give_back().await?;
        ended.map(|()| Some(settled))
    }
}
