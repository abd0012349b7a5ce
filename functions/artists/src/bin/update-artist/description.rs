use shared::api::artist::ArtistResponse;

use super::UpdateArtistRequest;

/// Change your profile
///
/// A missing field stays unchanged; at least one is required. All but the username can be emptied.
#[utoipa::path(
    patch,
    path = "/artists/me",
    tag = "Artists",
    security(("token" = [])),
    request_body(content = UpdateArtistRequest, example = json!({"bio": "I keep a diary of the weather."})),
    responses((status = 200, description = "Your profile.", body = ArtistResponse)),
)]
fn update_artist() {}

openapi::published!(update_artist, 403, 409, 429);
