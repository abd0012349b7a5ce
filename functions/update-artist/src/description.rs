use shared::{profile::ArtistResponse, store::ProfileChange};

/// Change your profile
///
/// What isn't given stays; one field at least must be given. All but the name can be emptied.
#[utoipa::path(
    patch,
    path = "/artists/me",
    tag = "Artists",
    security(("token" = []), ("apiKey" = [])),
    request_body(content = ProfileChange, example = json!({"bio": "I keep a diary of the weather."})),
    responses((status = 200, description = "You, as others see you.", body = ArtistResponse)),
)]
fn update_artist() {}

contract::published!(update_artist, 409, 429);
