//! `GET /artists/search`: artists by a prefix of their names.

use artists::search_artists::{FoundArtist, Prefix, SearchArtistsQuery, SearchArtistsResponse};
use shared::{
    api::read::Site,
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
    site: Site,
}

impl Endpoint for SearchArtists {
    async fn from_env() -> Result<Self, StartError> {
        let artists = ArtistTable::from_env(&config::aws().await)?;
        Ok(Self { search: Search::new(artists), site: Site::from_env() })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let SearchArtistsQuery { query: Prefix(prefix), limit } = request.query().read()?;
        let artists = match prefix {
            Some(prefix) => self.search.by_beginning(&prefix, limit.0).await?,
            None => Vec::new(),
        };
        let artists = artists.into_iter().map(|artist| FoundArtist::of(artist, &self.site)).collect();
        Response::public(&SearchArtistsResponse { artists })
    }
}
