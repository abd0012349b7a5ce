//! Logs of events: one of each chain, and the service's own.

use std::collections::HashSet;

use crate::{
    model::{EventData, LogName},
    store::{
        artist::service_events::ServiceEvents,
        chain::visibility::Visibility,
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

    /// Takes the words out of events about what the operator hides by now: logs keep what happened. A read per hundred
    /// moments and collections that they name, two of comments; none without such.
    pub async fn withhold(&self, events: impl IntoIterator<Item = &mut EventData>) -> Result<(), StoreError> {
        let events: Vec<&mut EventData> = events.into_iter().collect();
        let subjects: HashSet<_> = events.iter().filter_map(|event| event.subject()).collect();
        let hidden = Visibility::new(self.chains.clone()).hidden(subjects).await?;
        for event in events {
            if event.subject().is_some_and(|subject| hidden.contains(&subject)) {
                event.withhold();
            }
        }
        Ok(())
    }
}
