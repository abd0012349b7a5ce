//! Leadership of a chain's relay.

use std::time::{Duration, Instant};

use shared::{
    store::{artist::Lease, engine::LeasedWork},
    telemetry,
};

use crate::{
    chain::{ChainRelay, Leadership},
    error::RelayError,
    leader::Leader,
    report::Report,
};

/// Pause after a failure, so that a part of the service that is down isn't asked all the time.
const PAUSE: Duration = Duration::from_millis(500);

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
        let mut term = Term { relay: self, until, report };
        match self.transactions.hold_lease(self.chain.id, &self.holder, self.times.lease, until, &mut term).await {
            // The process that took over may have ended since.
            Err(RelayError::LeaseLost) => Ok(Instant::now() < until),
            led => led,
        }
    }
}

/// The time of one leader.
struct Term<'a> {
    relay: &'a ChainRelay,
    until: Instant,
    report: &'a mut Report,
}

impl LeasedWork for Term<'_> {
    type Lease = Lease;
    type Error = RelayError;

    async fn run(&mut self, lease: &Lease) -> Result<bool, RelayError> {
        let leadership = Leadership { relay: self.relay, lease };
        Leader::start(leadership, self.report).await?.run(self.until).await
    }

    async fn is_left(&mut self) -> Result<bool, RelayError> {
        Ok(!self.relay.transactions.queued(self.relay.chain.id, 1).await?.is_empty())
    }

    async fn wake(&mut self) -> Result<(), RelayError> {
        Ok(self.relay.transactions.wake(self.relay.chain.id, self.relay.now()?).await?)
    }
}
