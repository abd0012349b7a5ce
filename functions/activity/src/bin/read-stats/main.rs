//! `GET /stats`: what happened to an artist's or a collection's moments.

use std::collections::BTreeMap;

use activity::read_stats::{DayView, ReadStatsQuery, ReadStatsResponse};
use shared::{
    chain::Chains,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{COUNTED_DAYS, Counts, DAY, Stats, StatsSubject},
    store::{
        artist::{ArtistTable, Artists},
        chain::{ChainTable, Statistics},
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ReadStats>().await
}

struct ReadStats {
    chains: Chains,
    artists: Artists,
    statistics: Statistics,
}

impl Endpoint for ReadStats {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self {
            chains: Chains::from_env()?,
            artists: Artists::new(ArtistTable::from_env(&aws)?.eventually_consistent()),
            statistics: Statistics::new(ChainTable::from_env(&aws)?.eventually_consistent()),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let ReadStatsQuery { artist, collection, chain_id, period } = request.query().read_for(&self.chains)?;
        let subjects: Vec<_> = match (artist, collection) {
            (Some(artist), None) => {
                self.artists.accounts(&artist).await?.into_iter().map(StatsSubject::Artist).collect()
            }
            (None, Some(collection)) => vec![StatsSubject::Collection(collection)],
            _ => return Err(ApiError::invalid_field("artist", "is required, or collection in its place")),
        };
        let chains = self.chains.of_everyone(chain_id);
        let counted = chains.iter().flat_map(|chain| subjects.iter().map(|subject| (*chain, *subject)));
        let stats = self.statistics.of(counted.collect::<Vec<_>>()).await?;
        let today = clock::now()?.as_secs() / DAY;
        let first = period.seconds().map(|length| (today + 1).saturating_sub(length / DAY));
        let counts = match first {
            Some(first) => sum(stats.iter().map(|stats| stats.since(first))),
            None => sum(stats.iter().map(|stats| stats.total)),
        };
        let days = days(&stats, first.unwrap_or((today + 1).saturating_sub(COUNTED_DAYS)));
        let days = days.into_iter().map(|(day, counts)| DayView { day: day * DAY, counts: counts.into() });
        Response::public(&ReadStatsResponse {
            since: first.map(|first| first * DAY),
            counts: counts.into(),
            days: days.collect(),
        })
    }
}

/// The counts of each day from `first` on, the newest last.
fn days(stats: &[Stats], first: u64) -> BTreeMap<u64, Counts> {
    let mut days: BTreeMap<u64, Counts> = BTreeMap::new();
    for counted in stats.iter().flat_map(|stats| &stats.days).filter(|counted| counted.day >= first) {
        let day = days.entry(counted.day).or_default();
        *day = day.plus(counted.counts);
    }
    days
}

fn sum(counts: impl Iterator<Item = Counts>) -> Counts {
    counts.fold(Counts::default(), Counts::plus)
}
