//! `PATCH /artists/me`: changes the caller's profile.

use std::time::Duration;

use artists::{profile::ArtistResponse, update_artist::UpdateArtistRequest};
use shared::{
    api::{
        error::{no_artist, suspended},
        read::Site,
    },
    auth::session::SessionAuthenticator,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, LimitUnit, RateLimit, Request, Response, serve},
    model::{AvatarUri, Cid, FoldedName, ReservedNames, Username},
    store::{
        artist::{ArtistTable, Artists, HELD_NAMES, Media, NAME_HELD_FOR, NewsQueue, ProfileChange, ProfileRefusal},
        chain::{ChainTable, PreviewQueue},
        secret::SecretTable,
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<UpdateArtist>().await
}

/// In bytes; what `make-previews` decodes at most.
const LARGEST_PICTURE: u64 = 32 << 20;

struct UpdateArtist {
    sessions: SessionAuthenticator,
    artists: Artists,
    media: Media,
    news: NewsQueue,
    previews: PreviewQueue,
    site: Site,
    reserved: ReservedNames,
}

impl Endpoint for UpdateArtist {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let artists = ArtistTable::from_env(&aws)?;
        Ok(Self {
            sessions: SessionAuthenticator::from_env(SecretTable::from_env(&aws)?)?,
            artists: Artists::new(artists.clone()),
            media: Media::new(artists.clone()),
            news: NewsQueue::new(artists),
            previews: PreviewQueue::new(ChainTable::from_env(&aws)?),
            site: Site::from_env(),
            reserved: ReservedNames::of(&config::required(config::variables::RESERVED_NAMES)?),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let now = clock::now()?;
        let artist = self.sessions.authenticate_person(request).await?.artist;
        let (change, news_mails) = request.json()?.read::<UpdateArtistRequest>()?.split();
        let is_profile_kept = change == ProfileChange::default();
        if is_profile_kept && news_mails.is_none() {
            return Err(ApiError::bad_request(
                "Give at least one of username, bio, instagram_username, twitter_username, telegram_username, avatar, links \
                 and news_mails",
            ));
        }
        if let Some(name) = change.username.as_ref().filter(|name| self.reserved.cover(name.as_str())) {
            // Who has it already keeps it.
            let profile = self.artists.profile(artist).await?.ok_or_else(no_artist)?;
            if FoldedName::of(&profile.username) != FoldedName::of(name.as_str()) {
                return Err(ApiError::invalid_field("username", "is kept for the service: choose another"));
            }
        }
        let avatar = change.avatar.and_then(|AvatarUri(cid)| cid);
        if let Some(avatar) = avatar {
            self.check_picture(avatar).await?;
        }
        let profile = if is_profile_kept {
            self.artists.profile(artist).await?.ok_or_else(no_artist)?
        } else {
            let profile = self.artists.update_profile(artist, &change, now.as_secs()).await?;
            profile.map_err(|refusal| refused(refusal, change.username.as_ref(), now))?
        };
        if let Some(choice) = news_mails {
            self.news.choose(artist, choice).await?;
        }
        // After the profile: previews of a picture that no profile names are dropped.
        if let Some(avatar) = avatar {
            self.previews.add_avatar(artist, avatar).await?;
        }
        if change.username.is_some() {
            request.note_limits(&[names_limit(profile.held_until(now.as_secs()), now)]);
        }
        Response::json(&ArtistResponse::of(&profile, &self.site)?)
    }
}

impl UpdateArtist {
    async fn check_picture(&self, cid: Cid) -> Result<(), ApiError> {
        let stored = self.media.stored(cid).await?;
        let stored = stored.ok_or_else(|| ApiError::unprocessable(format!("No file {cid} is kept here: upload it")))?;
        if !stored.mime.starts_with("image/") {
            return Err(ApiError::unprocessable(format!("{cid} is no picture, but {}", stored.mime)));
        }
        if stored.size > LARGEST_PICTURE {
            let words =
                format!("{cid} has {} bytes; a picture of an artist has at most {LARGEST_PICTURE}", stored.size);
            return Err(ApiError::unprocessable(words));
        }
        Ok(())
    }
}

fn refused(refusal: ProfileRefusal, username: Option<&Username>, now: Duration) -> ApiError {
    match refusal {
        ProfileRefusal::Gone => no_artist(),
        ProfileRefusal::Suspended(suspension) => suspended(suspension),
        ProfileRefusal::NameTaken => {
            let name = username.map(Username::as_str).unwrap_or_default();
            ApiError::conflict(format!(
                "The username {name}, or one that looks like it, is taken, or was given up in the last 30 days and is kept for who had it: choose another"
            ))
        }
        ProfileRefusal::TooManyNames { until } => ApiError::limited(
            "Usernames that you gave up are kept for you for 30 days: take one of them back, or wait until one is free",
            &names_limit(std::iter::repeat_n(until, HELD_NAMES), now),
        ),
    }
}

/// State of the limit on held names; `until` are their Unix times of release in seconds.
fn names_limit(until: impl Iterator<Item = u64>, now: Duration) -> RateLimit {
    let (mut left, mut first) = (HELD_NAMES, NAME_HELD_FOR);
    for until in until {
        left = left.saturating_sub(1);
        first = first.min(Duration::from_secs(until).saturating_sub(now));
    }
    let count = |names: usize| u64::try_from(names).unwrap_or(u64::MAX);
    let (max, left) = (count(HELD_NAMES), count(left));
    RateLimit { unit: LimitUnit::HeldNames, max, window: NAME_HELD_FOR, left, reset: first }
}
