use std::time::{Duration, Instant};

use shared::{
    chain::{
        Chain,
        node::Node,
        transaction::Policy,
        wallet::{LaneSigners, OperatorAccount},
    },
    clock,
    store::artist::{Lease, Transactions},
    telemetry,
};

use crate::{RelayError, Report, leader::Leader};

/// Longest wait for an answer of one node.
pub(crate) const NODE_TIMEOUT: Duration = Duration::from_secs(5);

/// See [`ChainRelay::loyalty`].
pub(crate) const LOYALTY: Duration = Duration::from_secs(15);

/// Pause after a failure, so that a part of the service that is down isn't asked all the time.
const PAUSE: Duration = Duration::from_millis(500);

/// Pause between two signs of life of the leader.
const BEAT: Duration = Duration::from_secs(1);

/// The relay on one chain.
pub struct ChainRelay {
    /// The chain.
    pub chain: Chain,
    /// Its nodes.
    pub node: Node,
    /// The lanes' keys.
    pub signers: LaneSigners,
    /// The last check before a signature.
    pub policy: Policy,
    /// The accounts that lanes act through.
    pub operator: OperatorAccount,
    /// Queue, batches and outcomes.
    pub transactions: Transactions,
    /// This process, among others that may lead.
    pub holder: String,
    /// How long artists wait for their lane when it can't go on, before other lanes serve them.
    pub loyalty: Duration,
}

impl ChainRelay {
    /// Leads until there is nothing more to do, or `until`; at once without anything done if another process leads.
    pub async fn run(&self, until: Instant) -> Result<Report, RelayError> {
        let mut report = Report::of(self.chain.id);
        loop {
            match self.turn(until, &mut report).await {
                Ok(true) => {}
                Ok(false) => return Ok(report),
                Err(error) if Instant::now() < until => {
                    tracing::warn!(chain.id = self.chain.id.0, error = telemetry::chain(&error), "starting again");
                    tokio::time::sleep(PAUSE).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Leads once. `false` if nothing is left to do here.
    async fn turn(&self, until: Instant, report: &mut Report) -> Result<bool, RelayError> {
        let Some(lease) = self.transactions.acquire_lease(self.chain.id, &self.holder).await? else { return Ok(false) };
        let led = self.lead(&lease, until, report).await;
        if let Err(error) = self.transactions.release_lease(&lease).await {
            tracing::warn!(chain.id = self.chain.id.0, error = telemetry::chain(&error), "lead not given back");
        }
        match led {
            Ok(true) | Err(RelayError::LostLead) => {}
            Ok(false) => return Ok(false),
            Err(error) => return Err(error),
        }
        // What was queued in the last moments found a leader who didn't look any more.
        if self.transactions.queued(self.chain.id, 1).await?.is_empty() {
            return Ok(false);
        }
        if Instant::now() >= until {
            self.transactions.wake(self.chain.id, clock::now()?.as_secs()).await?;
            return Ok(false);
        }
        Ok(true)
    }

    /// Leads until nothing is left to do or the lead is lost, with a heartbeat beside it.
    async fn lead(&self, lease: &Lease, until: Instant, report: &mut Report) -> Result<bool, RelayError> {
        let work = async {
            let mut leader = Leader::start(self, lease).await?;
            leader.run(until, report).await
        };
        tokio::select! {
            done = work => done,
            () = self.stay_alive(lease.clone()) => Err(RelayError::LostLead),
        }
    }

    async fn stay_alive(&self, mut lease: Lease) {
        loop {
            tokio::time::sleep(BEAT).await;
            match self.transactions.renew_lease(&mut lease).await {
                Ok(true) => {}
                Ok(false) => return,
                // Without a sign of life another process takes over, and this one is refused what it writes.
                Err(error) => tracing::warn!(error = telemetry::chain(&error), "no sign of life"),
            }
        }
    }
}
