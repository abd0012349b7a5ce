//! `GET /collectors`: collectors by number of collects or by spending.

use activity::list_collectors::{Collector, ListCollectorsQuery, ListCollectorsResponse};
use shared::{
    chain::Chains,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    store::{
        artist::{ArtistTable, Artists},
        chain::{ChainTable, LeaderboardScope, Leaderboards},
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListCollectors>().await
}

struct ListCollectors {
    chains: Chains,
    leaderboards: Leaderboards,
    artists: Artists,
}

impl Endpoint for ListCollectors {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let (chain, artists) = (ChainTable::from_env(&aws)?, ArtistTable::from_env(&aws)?);
        Ok(Self {
            chains: Chains::from_env()?,
            leaderboards: Leaderboards::new(chain.eventually_consistent()),
            artists: Artists::new(artists.eventually_consistent()),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let query: ListCollectorsQuery = request.query().read_for(&self.chains)?;
        let (page, order) = (query.page, query.sort_order);
        let of_chain = query.chain_id.filter(|_| self.chains.iter().count() > 1);
        let scopes = match (&query.artist, of_chain) {
            (Some(_), Some(_)) => {
                return Err(ApiError::unprocessable(
                    "An artist's collectors are ranked over all chains: leave out chainId",
                ));
            }
            (Some(artist), None) => {
                self.artists.accounts(artist).await?.into_iter().map(LeaderboardScope::CreatedBy).collect()
            }
            (None, Some(chain)) => vec![LeaderboardScope::On(chain)],
            (None, None) => vec![LeaderboardScope::All],
        };
        let ranked = self.leaderboards.page_of(&scopes, query.period, query.sort_by, order, page).await?;
        let ranked = ranked.ok_or_else(|| {
            ApiError::unprocessable(
                "The artist's accounts have too many collectors to add up: ask for a shorter period",
            )
        })?;
        let ids: Vec<_> = ranked.rows.iter().map(|collector| collector.artist_id).collect();
        let mut artists = self.artists.introductions(&ids).await?;
        let shown = ranked.rows.into_iter().map(|collector| {
            let artist = artists.remove(&collector.artist_id);
            Collector::new(collector, artist)
        });
        let (total_count, total_pages) = (ranked.total, page.count(ranked.total));
        let response =
            ListCollectorsResponse { collectors: shown.collect(), page: page.number.get(), total_count, total_pages };
        Response::public(&response)?.with_next_page(request, page, page.end() < ranked.total)
    }
}
