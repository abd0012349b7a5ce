//! Contract of `PATCH /artists/me`.

use shared::{
    http::FromFields,
    model::{AvatarUri, Bio, NewsMails, SocialUsername, Username, WebUrl},
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
    /// New picture.
    pub avatar: Option<AvatarUri>,
    /// Pages elsewhere, in place of those before.
    #[schema(max_items = 5)]
    pub links: Option<Vec<WebUrl>>,
    /// How often collects of your moments and comments on them are mailed to you. Nobody else sees it.
    pub news_mails: Option<NewsMails>,
}

impl UpdateArtistRequest {
    /// What everybody sees, and what is the artist's own.
    pub fn split(self) -> (ProfileChange, Option<NewsMails>) {
        let Self { username, bio, instagram_username, twitter_username, telegram_username, avatar, links, news_mails } =
            self;
        let profile =
            ProfileChange { username, bio, instagram_username, twitter_username, telegram_username, avatar, links };
        (profile, news_mails)
    }
}

/// Change your profile
///
/// A missing field stays unchanged; at least one is required. Every text except the username may be empty. `avatar` is
/// what completing the upload of a picture gave; its smaller forms are made within a minute.
#[utoipa::path(
    patch,
    path = "/artists/me",
    tag = "Artists",
    security(("token" = [])),
    request_body(content = UpdateArtistRequest, example = json!({"bio": "I keep a diary of the weather."})),
    responses((status = 200, description = "Your profile.", body = ArtistResponse)),
    extensions(("x-errors" = json!([403, 409, 422, 429]))),
)]
pub fn update_artist() {}
