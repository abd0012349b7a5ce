//! Counts of artists and collections. Rows: docs/data-model.md, Statistics.

use serde::{Deserialize, Serialize};

use crate::{
    model::{Address, CountedSubject, Counts, DAY, LastCollect, Stats, StatsSubject},
    store::{
        chain::rows,
        engine::{
            index::UnitOfWork,
            table::{ChainTable, PrimaryKey, StoreError},
        },
    },
};

/// Reads of statistics.
#[derive(Clone)]
pub struct Statistics(ChainTable);

/// The day of an account's last collect.
#[derive(Serialize, Deserialize)]
struct LastCollectRow {
    day: u64,
}

impl Statistics {
    /// Uses the chain table.
    pub fn new(chain: ChainTable) -> Self {
        Self(chain)
    }

    /// Returns the statistics of subjects; those without any are left out. One read per 100.
    pub async fn of(&self, subjects: impl IntoIterator<Item = CountedSubject>) -> Result<Vec<Stats>, StoreError> {
        self.0.get_many(subjects.into_iter().map(stats_key)).await
    }
}

impl UnitOfWork {
    /// Counts what happened at a time (Unix seconds), and who collected, if anybody did. One or two rows.
    pub async fn count(
        &mut self,
        subject: CountedSubject,
        time: u64,
        counts: Counts,
        collector: Option<Address>,
    ) -> Result<(), StoreError> {
        let day = time / DAY;
        let mut last = None;
        if let Some(collector) = collector {
            let key = collector_key(subject, collector);
            let before = self.get(&key).await?.map(|LastCollectRow { day }| day);
            if before != Some(day) {
                self.put(&key, &LastCollectRow { day })?;
            }
            last = Some(LastCollect(before));
        }
        let key = stats_key(subject);
        let mut stats = self.get_often::<Stats>(&key).await?.unwrap_or_default();
        stats.count(day, counts, last);
        self.put_often(&key, &stats)
    }
}

/// Keys that counting reads, for prefetching.
pub fn stats_keys(subject: CountedSubject, collector: Option<Address>) -> impl Iterator<Item = PrimaryKey> {
    let of_collector = collector.map(|collector| collector_key(subject, collector));
    [stats_key(subject)].into_iter().chain(of_collector)
}

fn stats_key((chain, subject): CountedSubject) -> PrimaryKey {
    match subject {
        StatsSubject::Artist(account) => rows::artist_stats(chain, account),
        StatsSubject::Collection(collection) => rows::collection_stats(chain, collection),
    }
}

fn collector_key((chain, subject): CountedSubject, collector: Address) -> PrimaryKey {
    match subject {
        StatsSubject::Artist(account) => rows::collector_of_artist(chain, account, collector),
        StatsSubject::Collection(collection) => rows::collector_of_collection(chain, collection, collector),
    }
}
