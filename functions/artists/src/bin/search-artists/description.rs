use super::{SearchArtistsQuery, SearchArtistsResponse};

/// Search artists
///
/// By a prefix of their names, in any letter case.
#[utoipa::path(
    get,
    path = "/artists/search",
    tag = "Artists",
    params(SearchArtistsQuery),
    responses((status = 200, description = "The artists, sorted by name.", body = SearchArtistsResponse)),
)]
fn search_artists() {}

openapi::published!(search_artists);
