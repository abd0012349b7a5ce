//! Logs of events: one of each chain, and the service's own.

use crate::{
    model::LogName,
    store::{
        artist::service_events::ServiceEvents,
        engine::{
            event_segments::{LogHead, NumberedEvent},
            index::Progress,
            table::{ArtistTable, ChainTable, StoreError},
        },
    },
};

/// All logs.
#[derive(Clone)]
pub struct EventLogs {
    chains: ChainTable,
    service: ServiceEvents,
}

impl EventLogs {
    /// Chains' logs are in the chain table, the service's is in the artist table.
    pub fn new(chains: ChainTable, artists: ArtistTable) -> Self {
        Self { chains, service: ServiceEvents::new(artists) }
    }

    /// A log's end; `None` before its first event. One read.
    pub async fn head(&self, log: LogName) -> Result<Option<LogHead>, StoreError> {
        match log {
            LogName::Chain(chain) => {
                Ok(Progress::of(&ChainTable(self.chains.0.clone().consistent()), chain).await?.log())
            }
            LogName::Service => self.service.head().await,
        }
    }

    /// A log's events after the one with this number (0 for all), those of at most `rows` rows: one commit has one row for
    /// every hundred. One Query of at most 1 MB. None means that there are none yet.
    pub async fn after(&self, log: LogName, number: u64, rows: i32) -> Result<Vec<NumberedEvent>, StoreError> {
        match log {
            LogName::Chain(chain) => self.chains.chain_events(chain, number, rows).await,
            LogName::Service => self.service.after(number, rows).await,
        }
    }
}
