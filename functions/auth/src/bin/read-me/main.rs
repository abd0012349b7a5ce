//! `GET /me`: who a token or API key is.

use auth::read_me::{CredentialKind, ReadMeResponse, left};
use shared::{
    api::{error::no_artist, read::Person},
    auth::{
        api_key::Credential,
        caller::{CallerAuthenticator, Identified},
    },
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{DailySpend, Scope},
    store::{
        artist::{ArtistTable, Artists, Transactions},
        secret::SecretTable,
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ReadMe>().await
}

struct ReadMe {
    callers: CallerAuthenticator,
    artists: Artists,
    transactions: Transactions,
    daily_spend: DailySpend,
}

impl Endpoint for ReadMe {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let table = ArtistTable::from_env(&aws)?;
        Ok(Self {
            callers: CallerAuthenticator::from_env(SecretTable::from_env(&aws)?)?,
            artists: Artists::new(table.clone()),
            transactions: Transactions::new(table),
            daily_spend: Credential::daily_spend()?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let now = clock::now()?;
        let identified = self.callers.describe(request, None, now).await?;
        let (artist, key_id, limit) = match &identified {
            Identified::Token(token) => (token.artist, None, (!token.is_fresh(now)).then_some(self.daily_spend)),
            Identified::Key(owner) => (owner.artist_id, Some(owner.id), Some(owner.grant.daily_spend)),
        };
        let profile = self.artists.profile(artist).await?.ok_or_else(no_artist)?;
        let left_today = match limit {
            Some(limit) => {
                let spent = self.transactions.spent(artist, key_id, now.as_secs()).await?;
                Some(left(limit, spent.eth, spent.usdc))
            }
            None => None,
        };
        let (credential, scopes, expires_at, fresh_until) = match identified {
            Identified::Token(token) => {
                let fresh_until = token.is_fresh(now).then(|| token.fresh_until());
                (CredentialKind::Token, Scope::ALL.to_vec(), Some(token.expires_at), fresh_until)
            }
            Identified::Key(owner) => (CredentialKind::Key, owner.grant.scopes, owner.grant.valid_until, None),
        };
        Response::json(&ReadMeResponse {
            artist: Person { address: profile.artist.embedded_wallet, username: profile.username },
            credential,
            key_id,
            scopes,
            expires_at: expires_at.map(clock::iso_8601).transpose()?,
            fresh_until: fresh_until.map(clock::iso_8601).transpose()?,
            daily_spend: limit,
            left_today,
        })
    }
}
