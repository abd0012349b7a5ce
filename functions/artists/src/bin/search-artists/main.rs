//! `GET /artists/search`: artists by a prefix of their names.

use artists::search_artists::{SearchArtistsQuery, SearchArtistsResponse};
use shared::{
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    store::artist::{ArtistTable, Search},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<SearchArtists>().await
}

struct SearchArtists {
    search: Search,
}

impl Endpoint for SearchArtists {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self { search: Search::new(ArtistTable::from_env(&config::aws().await)?) })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let SearchArtistsQuery { query, limit } = request.query().read()?;
        let artists = self.search.by_beginning(&query.0, limit.0).await?;
        Response::public(&SearchArtistsResponse { artists })
    }
}
