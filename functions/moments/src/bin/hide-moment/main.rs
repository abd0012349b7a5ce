//! `POST /moment/hide`: leaves a moment out of timelines, or shows it again.

use moments::hide_moment::{HideMomentRequest, HideMomentResponse};
use shared::{
    api::{
        activity::ActivityRetention,
        error::{no_artist, no_moment, refuse_suspended},
    },
    auth::caller::CallerAuthenticator,
    chain::Chains,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{ActivityKind, ArtistId, MomentRef, Scope},
    store::{
        artist::{ArtistTable, Artists, Profile},
        chain::{ChainTable, Moments},
        secret::SecretTable,
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<HideMoment>().await
}

struct HideMoment {
    callers: CallerAuthenticator,
    chains: Chains,
    moments: Moments,
    artists: Artists,
    retention: ActivityRetention,
}

impl HideMoment {
    /// Requires the moment (404), and a wallet of the artist among its admins (403). Returns the artist. Three reads.
    async fn require_admin(&self, artist: ArtistId, place: &MomentRef) -> Result<Profile, ApiError> {
        let (moment, collection, profile) = tokio::try_join!(
            self.moments.moment(place),
            self.moments.collection(place.chain, place.collection),
            self.artists.profile(artist)
        )?;
        let moment = moment.ok_or_else(|| no_moment(place))?;
        if moment.is_withheld {
            return Err(ApiError::forbidden("The operator hid this moment: only the operator shows it again"));
        }
        let profile = profile.ok_or_else(no_artist)?;
        let of_collection = collection.map(|collection| collection.admins).unwrap_or_default();
        let is_admin = |account| moment.admins.contains(&account) || of_collection.contains(&account);
        if profile.wallets_anywhere().any(is_admin) {
            return Ok(profile);
        }
        Err(ApiError::forbidden("None of your wallets is an admin of this moment"))
    }
}

impl Endpoint for HideMoment {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self {
            callers: CallerAuthenticator::from_env(SecretTable::from_env(&aws)?)?,
            chains: Chains::from_env()?,
            moments: Moments::new(ChainTable::from_env(&aws)?),
            artists: Artists::new(ArtistTable::from_env(&aws)?),
            retention: ActivityRetention::from_env()?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let now = clock::now()?;
        let artist = self.callers.authenticate_for(request, Scope::Publish, now).await?.artist;
        let HideMomentRequest { moment, hidden } = request.json()?.read_for(&self.chains)?;
        let profile = self.require_admin(artist, &moment).await?;
        if !hidden {
            refuse_suspended(profile.suspension, now.as_secs())?;
        }
        let hider = self.artists.hidden_by(&moment).await?.unwrap_or(artist);
        let kind = if hidden { ActivityKind::MomentHidden } else { ActivityKind::MomentShown };
        let activity = self.retention.activity(request, kind, &moment.to_string())?;
        self.artists.hide(hider, &moment, hidden, (artist, &activity)).await?;
        Response::json(&HideMomentResponse { success: true, hidden })
    }
}
