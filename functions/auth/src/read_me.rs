//! Contract of `GET /me`.

use serde::Serialize;
use shared::{
    api::read::Person,
    model::{DailyLimit, DailySpend, KeyId, Scope},
};
use utoipa::ToSchema;

/// Who asks, and what the credential may do.
#[derive(Serialize, ToSchema)]
pub struct ReadMeResponse {
    /// The artist: account and username.
    pub artist: Person,
    /// What the request was sent with.
    pub credential: CredentialKind,
    /// Id of the API key; null for a token.
    #[schema(required = true)]
    pub key_id: Option<KeyId>,
    /// What it may do. A token may do what no scope allows, too.
    pub scopes: Vec<Scope>,
    /// ISO 8601; null for a key without an end.
    #[schema(required = true)]
    pub expires_at: Option<String>,
    /// ISO 8601: until when it may do what takes a recent sign-in; null if it may not.
    #[schema(required = true)]
    pub fresh_until: Option<String>,
    /// Most that it may spend in a day (UTC), in the currencies' smallest units; null without a limit.
    #[schema(required = true)]
    pub daily_spend: Option<DailySpend>,
    /// What is left of that today.
    #[schema(required = true)]
    pub left_today: Option<DailySpend>,
}

/// A kind of credential.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum CredentialKind {
    /// A token.
    Token,
    /// An API key.
    Key,
}

/// What is left of a daily limit.
pub fn left(limit: DailySpend, eth: u128, usdc: u128) -> DailySpend {
    DailySpend { eth: DailyLimit(limit.eth.0.saturating_sub(eth)), usdc: DailyLimit(limit.usdc.0.saturating_sub(usdc)) }
}

/// Read who I am
///
/// Returns the artist of the token or API key, what it may do, until when, and what it may still spend today.
#[utoipa::path(
    get,
    path = "/me",
    tag = "Sign-in",
    security(("token" = []), ("apiKey" = [])),
    responses((status = 200, description = "The credential.", body = ReadMeResponse)),
)]
pub fn read_me() {}
