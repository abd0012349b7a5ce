//! Settles what writes leave behind. One step looks at every open transaction of every lane once: is it in a block, must
//! it be sent again, does it offer too little, did it never leave, did somebody else use its nonce?

mod step;
mod vitals;

use std::time::Duration;

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

use crate::step::LaneStep;

/// How long a run may work on a lane before another one may: longer than the function is allowed to run.
const LEASE: Duration = Duration::from_secs(120);

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

    /// Looks at every lane once. A lane that another run is at is left out. `now` is the Unix time in seconds.
    ///
    /// # Errors
    /// The last failure; it doesn't keep the other lanes from being settled.
    pub async fn step(&self, now: u64) -> Result<Vec<SettledLane>, SettleError> {
        let (mut lanes, mut failure) = (Vec::new(), None);
        for engine in &self.engines {
            for signer in engine.signers().iter() {
                let (chain_id, lane) = (engine.chain().id, signer.address().into());
                match self.settle(engine, lane, now).await {
                    Ok(Some(settled)) => lanes.push(SettledLane { chain_id, lane, settled }),
                    Ok(None) => {}
                    Err(error) => {
                        tracing::error!(chain.id = chain_id.0, %lane, error = telemetry::chain(&error), "lane not settled");
                        failure = Some(error);
                    }
                }
            }
        }
        failure.map_or(Ok(lanes), Err)
    }

    async fn settle(&self, engine: &Engine, lane: Address, now: u64) -> Result<Option<Settled>, SettleError> {
        let (chain, transactions) = (engine.chain().id, engine.transactions());
        // Before anything is mended.
        if let Err(error) = vitals::measure(engine, lane, now).await {
            tracing::warn!(chain.id = chain.0, %lane, error = telemetry::chain(&error), "lane not measured");
        }
        let Some(state) = transactions.lane(chain, lane).await? else { return Ok(None) };
        if !transactions.take_lease(chain, lane, &self.holder, now, now + LEASE.as_secs()).await? {
            return Ok(None);
        }
        let settled = LaneStep::new(engine, lane, now).run(&state).await;
        if let Ok(settled) = &settled
            && *settled != Settled::default()
        {
            tracing::info!(chain.id = chain.0, %lane, ?settled, "lane settled");
            telemetry::record(
                &[("Chain", &chain.to_string())],
                &[(Metric::Bumps, settled.bumped.try_into().unwrap_or(i64::MAX))],
            );
        }
        transactions.give_lease_back(chain, lane, &self.holder).await?;
        settled.map(Some)
    }
}
