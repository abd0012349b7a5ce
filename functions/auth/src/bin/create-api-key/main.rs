//! `POST /artists/api-keys`: creates an API key for the signed-in artist and shows it, this once.

use auth::create_api_key::{CreateApiKeyRequest, CreateApiKeyResponse};
use shared::{
    api::activity::ActivityLog,
    auth::{
        api_key::{Credential, PlainKey},
        session::SessionAuthenticator,
    },
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{ActivityKind, DailySpend, KeyId, Scope},
    store::secret::{ApiKeys, KeyGrant, KeyRecord, MAX_KEYS, SecretTable},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<CreateApiKey>().await
}

struct CreateApiKey {
    sessions: SessionAuthenticator,
    keys: ApiKeys,
    activity: ActivityLog,
    daily_spend: DailySpend,
}

impl CreateApiKey {
    fn grant(&self, wanted: CreateApiKeyRequest, now: u64) -> KeyGrant {
        let CreateApiKeyRequest { mut scopes, expires_in_days, daily_spend, .. } = wanted;
        scopes.sort_unstable();
        scopes.dedup();
        let (eth, usdc) = daily_spend.map_or((None, None), |limit| (limit.eth, limit.usdc));
        let daily_spend =
            DailySpend { eth: eth.unwrap_or(self.daily_spend.eth), usdc: usdc.unwrap_or(self.daily_spend.usdc) };
        KeyGrant { scopes, daily_spend, valid_until: Some(now + expires_in_days.seconds()) }
    }

    /// Whether a key takes a recent sign-in: it gives permissions away, or spends more than an old token.
    fn is_powerful(&self, grant: &KeyGrant) -> bool {
        let (most, usual) = (grant.daily_spend, self.daily_spend);
        grant.scopes.contains(&Scope::Admin) || most.eth > usual.eth || most.usdc > usual.usdc
    }
}

impl Endpoint for CreateApiKey {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let table = SecretTable::from_env(&aws)?;
        Ok(Self {
            sessions: SessionAuthenticator::from_env(table.clone())?,
            keys: ApiKeys::new(table),
            activity: ActivityLog::from_env(&aws)?,
            daily_spend: Credential::daily_spend()?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let (token, now) = (self.sessions.authenticate(request).await?, clock::now()?);
        let artist = token.artist;
        let wanted: CreateApiKeyRequest = request.json_or_empty()?.read()?;
        let (name, grant) = (wanted.name.clone(), self.grant(wanted, now.as_secs()));
        let is_powerful = self.is_powerful(&grant);
        if is_powerful && !token.is_fresh(now) {
            return Err(ApiError::stale_sign_in());
        }
        let key = PlainKey::random()?;
        let record = KeyRecord {
            id: KeyId::next(),
            name,
            prefix: key.shown_prefix().to_owned(),
            created_at: now.as_secs(),
            last_used_at: None,
            grant,
        };
        if !self.keys.create(artist, &record, key.hash().as_str()).await? {
            return Err(ApiError::conflict(format!("You have {MAX_KEYS} keys already: revoke one first")));
        }
        let kind = if is_powerful { ActivityKind::PowerfulKeyCreated } else { ActivityKind::KeyCreated };
        self.activity.note(request, artist, kind, &record.prefix).await;
        Response::json(&CreateApiKeyResponse { api_key: key.reveal().to_owned() })
    }
}
