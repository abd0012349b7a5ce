//! Settles open transactions. One step checks each of them once: is it mined, must it be sent again or with higher fees,
//! was it never signed, was its nonce used elsewhere?

mod lease;
mod step;
mod vitals;

use std::ops::AddAssign;

use futures::future::join_all;
use serde::Serialize;
use shared::{
    chain::{
        node::NodeError,
        transaction::{TransactionSender, WriteError},
    },
    model::{Address, ChainId},
    store::StoreError,
    telemetry::{self, Metric},
};
use uuid::Uuid;

use crate::{lease::Lease, step::LaneStep};

/// Why a lane couldn't be settled.
#[derive(Debug, thiserror::Error)]
pub enum SettleError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Node(#[from] NodeError),
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Result of a step on one lane, in numbers of transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Settled {
    /// Found in a block.
    pub mined: usize,
    /// Sent again unchanged.
    pub sent: usize,
    /// Replaced by one with higher fees.
    pub bumped: usize,
    /// Given up; a filler takes the slot.
    pub abandoned: usize,
    /// Moved to another nonce, since theirs was used outside the service.
    pub displaced: usize,
    /// Still open.
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
    pub chain_id: ChainId,
    pub lane: Address,
    #[serde(flatten)]
    pub settled: Settled,
}

/// Settles the lanes of all chains.
pub struct Settler {
    senders: Vec<TransactionSender>,
    /// Holder of this process's leases.
    holder: String,
}

impl Settler {
    /// A settler for the chains of these senders.
    pub fn new(senders: Vec<TransactionSender>) -> Self {
        Self { senders, holder: Uuid::new_v4().to_string() }
    }

    /// Settles each lane once, all concurrently, and skips lanes that another run has leased. `now` is a Unix time in
    /// seconds.
    ///
    /// # Errors
    /// The last failure; the other lanes are settled all the same.
    pub async fn step(&self, now: u64) -> Result<Vec<SettledLane>, SettleError> {
        let lanes = self
            .senders
            .iter()
            .flat_map(|sender| sender.signers().iter().map(move |signer| (sender, Address::from(signer.address()))));
        let settled = join_all(lanes.map(|(sender, lane)| async move {
            let chain_id = sender.chain().id;
            let settled = self.settle(sender, lane, now).await.inspect_err(|error| {
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

    async fn settle(
        &self,
        sender: &TransactionSender,
        lane: Address,
        now: u64,
    ) -> Result<Option<Settled>, SettleError> {
        let (chain, transactions) = (sender.chain().id, sender.transactions());
        // Measured before settling changes it.
        if let Err(error) = vitals::measure(sender, lane, now).await {
            tracing::warn!(chain.id = chain.0, %lane, error = telemetry::chain(&error), "lane not measured");
        }
        let Some(state) = transactions.lane(chain, lane).await? else { return Ok(None) };
        let lease = Lease::take(transactions, chain, lane, &self.holder, now).await?;
        let Some(mut lease) = lease else { return Ok(None) };
        let mut settled = Settled::default();
        let ended = LaneStep::new(sender, lane, now).run(&state, &mut lease, &mut settled).await;
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
