use std::time::Instant;

use shared::model::MarketFees;

use crate::{chain::ChainRelay, error::RelayError};

/// The chain's fees, read again when they are old.
#[derive(Default)]
pub(crate) struct Market(Option<(Instant, MarketFees)>);

impl Market {
    /// At most one call.
    pub(crate) async fn fees(&mut self, relay: &ChainRelay) -> Result<MarketFees, RelayError> {
        if let Some((_, fees)) = self.0.filter(|(at, _)| at.elapsed() < relay.times.fresh) {
            return Ok(fees);
        }
        let fees = relay.node.market_fees().await?;
        self.0 = Some((Instant::now(), fees));
        Ok(fees)
    }
}
