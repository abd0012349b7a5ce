//! The service as a relying party of WebAuthn, and what people see of their passkeys.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use shared::{
    clock,
    http::{ApiError, Field, FromField},
    model::{CeremonyId, Invalid, PasskeyId, PasskeyName},
    store::secret::StoredPasskey,
};
use url::{Host, Url};
use utoipa::ToSchema;
use webauthn_rs::{
    Webauthn, WebauthnBuilder,
    prelude::{
        CreationChallengeResponse, DiscoverableAuthentication, Passkey, PublicKeyCredential,
        RegisterPublicKeyCredential,
    },
};

/// What an authenticator answered, as `toJSON()` writes it: a [`RegisterPublicKeyCredential`] or a
/// [`PublicKeyCredential`].
pub struct Credential<T>(pub T);

impl<T: DeserializeOwned> FromField for Credential<T> {
    fn from_field(field: &Field<'_>) -> Option<Self> {
        let value = field.given()?.clone();
        let error = Invalid("must be what navigator.credentials gave, as its toJSON() writes it");
        field.note(serde_json::from_value(value).map(Self).map_err(|_| error))
    }
}

/// An authenticator's answer when a passkey is made.
pub type NewCredential = Credential<RegisterPublicKeyCredential>;

/// An authenticator's answer when a passkey signs in.
pub type UsedCredential = Credential<PublicKeyCredential>;

/// A passkey as its artist sees it.
#[derive(Serialize, ToSchema)]
pub struct ListedPasskey {
    pub id: PasskeyId,
    pub name: PasskeyName,
    /// ISO 8601.
    pub created_at: String,
    /// ISO 8601; null until it signs in.
    #[schema(required = true)]
    pub last_used_at: Option<String>,
    /// ISO 8601: when it is removed; null unless it is to be. `PATCH /artists/passkeys` takes that back.
    #[schema(required = true)]
    pub removed_at: Option<String>,
}

/// All passkeys of an artist.
#[derive(Serialize, ToSchema)]
pub struct PasskeysResponse {
    /// Oldest first.
    pub passkeys: Vec<ListedPasskey>,
}

impl PasskeysResponse {
    /// The passkeys as stored.
    pub fn of(stored: Vec<StoredPasskey>) -> Result<Self, ApiError> {
        Ok(Self { passkeys: stored.into_iter().map(ListedPasskey::try_from).collect::<Result<_, _>>()? })
    }
}

impl TryFrom<StoredPasskey> for ListedPasskey {
    type Error = ApiError;

    fn try_from(stored: StoredPasskey) -> Result<Self, ApiError> {
        Ok(Self {
            id: stored.id,
            name: stored.name,
            created_at: clock::iso_8601(stored.created_at)?,
            last_used_at: stored.used_at.map(clock::iso_8601).transpose()?,
            removed_at: stored.expires_at.map(clock::iso_8601).transpose()?,
        })
    }
}

/// What an authenticator is to answer, and where the answer belongs to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CeremonyResponse {
    /// Send it along with the authenticator's answer, within 5 minutes.
    pub ceremony: CeremonyId,
    /// Options for `navigator.credentials` (`PublicKeyCredential.parseCreationOptionsFromJSON` or
    /// `parseRequestOptionsFromJSON`).
    #[schema(value_type = Object)]
    pub public_key: Value,
}

/// The relying party whose pages are at `address`. Loopback addresses are `localhost` there: an IP address can't be one.
pub fn relying_party(address: &Url) -> Result<Webauthn, ApiError> {
    let mut origin = address.clone();
    let is_loopback = match origin.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        _ => false,
    };
    if is_loopback {
        origin.set_host(Some("localhost")).map_err(ApiError::internal)?;
    }
    let host = origin.host_str().unwrap_or_default().to_owned();
    WebauthnBuilder::new(&host, &origin)
        .map_err(ApiError::internal)?
        .rp_name("Moments")
        .build()
        .map_err(ApiError::internal)
}

/// Asks for a passkey that an authenticator finds without being told which one: a person then types no name.
pub fn discoverable(options: CreationChallengeResponse) -> Result<Value, ApiError> {
    let mut value = serde_json::to_value(options.public_key).map_err(ApiError::internal)?;
    value["authenticatorSelection"]["residentKey"] = "required".into();
    value["authenticatorSelection"]["requireResidentKey"] = true.into();
    Ok(value)
}

/// Asks one of these passkeys for an answer, which is checked against the passkey as it is by then.
pub fn assertion(
    relying_party: &Webauthn,
    passkeys: &[Passkey],
) -> Result<(Value, DiscoverableAuthentication), ApiError> {
    let (named, _) = relying_party.start_passkey_authentication(passkeys).map_err(ApiError::internal)?;
    let (mut options, state) = relying_party.start_discoverable_authentication().map_err(ApiError::internal)?;
    options.public_key.allow_credentials = named.public_key.allow_credentials;
    Ok((serde_json::to_value(options.public_key).map_err(ApiError::internal)?, state))
}

/// The library's view of a stored passkey.
pub fn credential_of(stored: &StoredPasskey) -> Result<Passkey, ApiError> {
    serde_json::from_str(&stored.credential).map_err(ApiError::internal)
}
