//! Contract of `PATCH /artists/me`.

use shared::store::ProfileChange;

use crate::profile::ArtistResponse;

/// Change your profile
///
/// A missing field stays unchanged; at least one is required. All but the username can be emptied.
#[utoipa::path(
    patch,
    path = "/artists/me",
    tag = "Artists",
    security(("token" = [])),
    request_body(content = ProfileChange, example = json!({"bio": "I keep a diary of the weather."})),
    responses((status = 200, description = "Your profile.", body = ArtistResponse)),
    extensions(("x-errors" = json!([403, 409, 429]))),
)]
pub fn update_artist() {}
