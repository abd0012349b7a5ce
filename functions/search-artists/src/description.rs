use super::SearchArtistsResponse;

/// Search artists
///
/// By the beginning of their names, whatever the case.
#[utoipa::path(
    get,
    path = "/artists/search",
    tag = "Artists",
    params(
        ("query" = String, Query, description = "How their names begin.", min_length = 1, max_length = 32, pattern = "[^ ]", example = "ada"),
        ("limit" = Option<u32>, Query, description = "How many at most; 10 unless given.", minimum = 1, maximum = 50),
    ),
    responses((status = 200, description = "The artists, in the order of their names.", body = SearchArtistsResponse)),
)]
fn search_artists() {}

contract::published!(search_artists);
