//! Leadership of a chain's relay: acquired, renewed while the leader works, released.

use std::time::{Duration, Instant};

use shared::{store::artist::Lease, telemetry};

use crate::{
    chain::{ChainRelay, Leadership},
    error::RelayError,
    leader::Leader,
    report::Report,
};

/// Pause after a failure, so that a part of the service that is down isn't asked all the time.
const PAUSE: Duration = Duration::from_millis(500);

/// Pause between two renewals of the lease.
const RENEWAL: Duration = Duration::from_secs(1);

impl ChainRelay {
    /// Leads until there is nothing more to do, or `until`; at once without anything done if another process leads.
    pub async fn run(&self, until: Instant) -> Result<Report, RelayError> {
        let mut report = Report::of(self.chain.id);
        loop {
            match self.run_once(until, &mut report).await {
                Ok(true) => {}
                Ok(false) => return Ok(report),
                Err(error) if Instant::now() < until => {
                    let chain = self.chain.id;
                    tracing::warn!(
                        chain.id = chain.0,
                        error = telemetry::chain(&error),
                        "relay of chain {chain} restarts after an error"
                    );
                    tokio::time::sleep(PAUSE).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Leads once. `false` if nothing is left to do here.
    async fn run_once(&self, until: Instant, report: &mut Report) -> Result<bool, RelayError> {
        let chain = self.chain.id;
        let Some(lease) = self.transactions.acquire_lease(chain, &self.holder).await? else { return Ok(false) };
        let led = self.lead(&lease, until, report).await;
        if let Err(error) = self.transactions.release_lease(&lease).await {
            tracing::warn!(chain.id = chain.0, error = telemetry::chain(&error), "lease of chain {chain} not released");
        }
        match led {
            Ok(true) | Err(RelayError::LeaseLost) => {}
            Ok(false) => return Ok(false),
            Err(error) => return Err(error),
        }
        // Transactions queued in the last moments found a leader that no longer read the queue.
        if self.transactions.queued(chain, 1).await?.is_empty() {
            return Ok(false);
        }
        if Instant::now() >= until {
            self.transactions.wake(chain, self.now()?).await?;
            return Ok(false);
        }
        Ok(true)
    }

    /// Leads until nothing is left to do or the lease is lost, which is renewed meanwhile.
    async fn lead(&self, lease: &Lease, until: Instant, report: &mut Report) -> Result<bool, RelayError> {
        let work = async { Leader::start(Leadership { relay: self, lease }, report).await?.run(until).await };
        tokio::select! {
            done = work => done,
            () = self.renew_lease(lease.clone()) => Err(RelayError::LeaseLost),
        }
    }

    /// Ends when another process has the lease.
    async fn renew_lease(&self, mut lease: Lease) {
        loop {
            tokio::time::sleep(RENEWAL).await;
            match self.transactions.renew_lease(&mut lease).await {
                Ok(true) => {}
                Ok(false) => return,
                // Without a renewal another process takes over, and this one is refused what it writes.
                Err(error) => {
                    let chain = self.chain.id;
                    let error = telemetry::chain(&error);
                    tracing::warn!(chain.id = chain.0, error, "lease of chain {chain} not renewed");
                }
            }
        }
    }
}
