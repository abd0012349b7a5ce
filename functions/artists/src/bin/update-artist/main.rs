//! `PATCH /artists/me`: changes the caller's profile.

use std::time::Duration;

use artists::{profile::ArtistResponse, update_artist::UpdateArtistRequest};
use shared::{
    api::{error::no_artist, read::Site},
    auth::session::SessionAuthenticator,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, LimitUnit, RateLimit, Request, Response, serve},
    store::{
        artist::{ArtistTable, Artists, HELD_NAMES, NAME_HELD_FOR, ProfileChange, ProfileRefusal},
        secret::SecretTable,
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<UpdateArtist>().await
}

struct UpdateArtist {
    sessions: SessionAuthenticator,
    artists: Artists,
    site: Site,
}

impl Endpoint for UpdateArtist {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self {
            sessions: SessionAuthenticator::from_env(SecretTable::from_env(&aws)?)?,
            artists: Artists::new(ArtistTable::from_env(&aws)?),
            site: Site::from_env(),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let now = clock::now()?;
        let artist = self.sessions.authenticate_person(request).await?.artist;
        let change = ProfileChange::from(request.json()?.read::<UpdateArtistRequest>()?);
        if change == ProfileChange::default() {
            return Err(ApiError::bad_request(
                "Give at least one of username, bio, instagram_username, twitter_username and telegram_username",
            ));
        }
        let profile = self.artists.update_profile(artist, &change, now.as_secs()).await?;
        let profile = profile.map_err(|refusal| refused(refusal, now))?;
        if change.username.is_some() {
            request.note_limits(&[names_limit(profile.held_until(now.as_secs()), now)]);
        }
        Response::json(&ArtistResponse::of(&profile, &self.site)?)
    }
}

fn refused(refusal: ProfileRefusal, now: Duration) -> ApiError {
    match refusal {
        ProfileRefusal::Gone => no_artist(),
        ProfileRefusal::NameTaken => {
            ApiError::conflict("The username is taken or still reserved by its previous owner")
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
