//! Contract of `PATCH /artists/me`.

use shared::{
    http::FromFields,
    model::{Bio, SocialUsername, Username},
    store::artist::ProfileChange,
};
use utoipa::ToSchema;

use crate::profile::ArtistResponse;

/// Profile fields to change; a field that is left out stays as it is.
#[derive(FromFields, ToSchema)]
pub struct UpdateArtistRequest {
    /// New username.
    pub username: Option<Username>,
    /// New biography.
    pub bio: Option<Bio>,
    /// New Instagram username.
    pub instagram_username: Option<SocialUsername>,
    /// New Twitter username.
    pub twitter_username: Option<SocialUsername>,
    /// New Telegram username.
    pub telegram_username: Option<SocialUsername>,
}

impl From<UpdateArtistRequest> for ProfileChange {
    fn from(request: UpdateArtistRequest) -> Self {
        let UpdateArtistRequest { username, bio, instagram_username, twitter_username, telegram_username } = request;
        Self { username, bio, instagram_username, twitter_username, telegram_username }
    }
}

/// Change your profile
///
/// A missing field stays unchanged; at least one is required. Every field except the username accepts an empty
/// string.
#[utoipa::path(
    patch,
    path = "/artists/me",
    tag = "Artists",
    security(("token" = [])),
    request_body(content = UpdateArtistRequest, example = json!({"bio": "I keep a diary of the weather."})),
    responses((status = 200, description = "Your profile.", body = ArtistResponse)),
    extensions(("x-errors" = json!([403, 409, 429]))),
)]
pub fn update_artist() {}
