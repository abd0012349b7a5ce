//! `GET /artists/search`: artists whose names begin with a text.

#[cfg(test)]
mod description;

use std::str::FromStr;

use serde::Serialize;
use shared::{
    config,
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::{FoldedName, Invalid},
    store::{ListedArtist, Search, Table},
    telemetry,
};
use utoipa::ToSchema;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(SearchArtists { search: Search::new(Table::artists(&config::aws().await)?) }).await
}

struct SearchArtists {
    search: Search,
}

/// Which artists are asked for.
struct SearchArtistsQuery {
    /// `query`: how their names begin, whatever the case.
    beginning: Beginning,
    /// `limit`: how many at most; 10 unless given.
    limit: SearchLimit,
}

#[derive(Serialize, ToSchema)]
struct SearchArtistsResponse {
    /// In the order of their names.
    artists: Vec<ListedArtist>,
}

/// The beginning of a name: 1 to 32 characters, none of which means anything but itself, without the space around them.
struct Beginning(FoldedName);

/// 1 to 50.
struct SearchLimit(u32);

impl Endpoint for SearchArtists {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let query = SearchArtistsQuery::parse(request)?;
        let artists = self.search.by_beginning(&query.beginning.0, query.limit.0).await?;
        Response::public(&SearchArtistsResponse { artists })
    }
}

impl SearchArtistsQuery {
    fn parse(request: &Request) -> Result<Self, ApiError> {
        let mut fields = request.query();
        let beginning = fields.required("query");
        let limit = fields.optional_or("limit", SearchLimit::DEFAULT);
        fields.finish(|| Some(Self { beginning: beginning?, limit: limit? }))
    }
}

impl SearchLimit {
    const DEFAULT: Self = Self(10);
}

impl FromStr for Beginning {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let text = text.trim();
        let fits = (1..=32).contains(&text.chars().count());
        if fits { Ok(Self(FoldedName::of(text))) } else { Err(Invalid("must have 1 to 32 characters")) }
    }
}

impl FromStr for SearchLimit {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let limit = text.parse().ok().filter(|limit| digits && (1..=50).contains(limit));
        limit.map(Self).ok_or(Invalid("must be a whole number from 1 to 50"))
    }
}
