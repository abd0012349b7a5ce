//! `POST /artists/api-keys`: creates an API key for the signed-in artist and shows it, this once.

#[cfg(test)]
mod description;

use serde::Serialize;
use shared::{
    api::activity::ActivityLog,
    auth::{api_key::PlainKey, session::SessionAuthenticator},
    clock, config,
    http::{ApiError, Endpoint, FromFields, Request, Response, StartError, serve},
    model::{ActivityKind, DailyLimit, DailySpend, KeyDays, KeyId, KeyName, Scope},
    store::secret::{ApiKeys, KeyGrant, KeyRecord, MAX_KEYS, SecretTable},
};
use utoipa::ToSchema;

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

/// A new key.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
struct CreateApiKeyRequest {
    /// The key's name.
    #[schema(value_type = Option<KeyName>, default = json!(KeyName::default()))]
    name: KeyName,
    /// What it may do. No scope allows withdrawing, wallets, the profile or keys.
    #[schema(value_type = Option<Vec<Scope>>, default = json!(Scope::DEFAULT), min_items = 1, max_items = 3)]
    scopes: Vec<Scope>,
    /// Days until it expires; never unless given.
    expires_in_days: Option<KeyDays>,
    /// Most that it may spend in a day (UTC).
    daily_spend: Option<DailySpendRequest>,
}

/// Most that a key may spend in a day. A currency that is left out has the service's default.
#[derive(FromFields, ToSchema)]
struct DailySpendRequest {
    /// In wei.
    eth: Option<DailyLimit>,
    /// In millionths of a USDC.
    usdc: Option<DailyLimit>,
}

/// A new key.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CreateApiKeyResponse {
    /// The key, shown this once: only its hash is stored.
    api_key: String,
}

impl CreateApiKey {
    fn grant(&self, wanted: CreateApiKeyRequest, now: u64) -> KeyGrant {
        let CreateApiKeyRequest { mut scopes, expires_in_days, daily_spend, .. } = wanted;
        scopes.sort_unstable();
        scopes.dedup();
        let (eth, usdc) = daily_spend.map_or((None, None), |limit| (limit.eth, limit.usdc));
        let daily_spend =
            DailySpend { eth: eth.unwrap_or(self.daily_spend.eth), usdc: usdc.unwrap_or(self.daily_spend.usdc) };
        KeyGrant { scopes, daily_spend, valid_until: expires_in_days.map(|days| now + days.seconds()) }
    }
}

impl Endpoint for CreateApiKey {
    /// Reads `KEY_DAILY_WEI` (0.01 ETH) and `KEY_DAILY_USDC` (25 USDC) besides what its parts read.
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let table = SecretTable::from_env(&aws)?;
        Ok(Self {
            sessions: SessionAuthenticator::from_env(table.clone())?,
            keys: ApiKeys::new(table),
            activity: ActivityLog::from_env(&aws)?,
            daily_spend: DailySpend {
                eth: config::parsed_or("KEY_DAILY_WEI", "10000000000000000")?,
                usdc: config::parsed_or("KEY_DAILY_USDC", "25000000")?,
            },
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.sessions.authenticate(request).await?.artist;
        let wanted: CreateApiKeyRequest = request.json_or_empty()?.read()?;
        let (key, now) = (PlainKey::random()?, clock::now()?.as_secs());
        let (name, grant) = (wanted.name.clone(), self.grant(wanted, now));
        let record = KeyRecord {
            id: KeyId::next(),
            name,
            prefix: key.shown_prefix().to_owned(),
            created_at: now,
            last_used_at: None,
            grant,
        };
        if !self.keys.create(artist, &record, key.hash().as_str()).await? {
            return Err(ApiError::conflict(format!("You have {MAX_KEYS} keys already: revoke one first")));
        }
        self.activity.note(request, artist, ActivityKind::KeyCreated, &record.name.to_string()).await;
        Response::json(&CreateApiKeyResponse { api_key: key.reveal().to_owned() })
    }
}
