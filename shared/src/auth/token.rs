//! Access tokens: JWTs signed with ES256 by a KMS key that only sign-in may use. Other functions have the public keys.

use std::time::Duration;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use jsonwebtoken::{
    Algorithm, DecodingKey, Header, Validation, decode, decode_header,
    jwk::{
        AlgorithmParameters, CommonParameters, EllipticCurve, EllipticCurveKeyParameters, EllipticCurveKeyType, Jwk,
        JwkSet, KeyAlgorithm, PublicKeyUse, ThumbprintHash,
    },
};
use p256::{elliptic_curve::sec1::ToEncodedPoint, pkcs8::DecodePublicKey};
use serde::{Deserialize, Serialize};

use crate::{
    config::{self, ConfigError},
    http::{ApiError, Request},
    kms::{KmsError, SigningKey},
    model::{ArtistId, PasskeyId, SessionId},
    store::secret::PasskeyMark,
};

/// Time for which a token is valid.
pub const LIFETIME: Duration = Duration::from_secs(60 * 60);

/// The header's `typ` (RFC 9068), which keeps other JWTs of ours from passing as access tokens.
const TYPE: &str = "at+jwt";

#[derive(Debug, Serialize, Deserialize)]
struct Claims {
    iss: String,
    aud: String,
    sub: ArtistId,
    iat: u64,
    exp: u64,
    jti: SessionId,
    /// How the artist signed in (RFC 8176, and `webauthn`), where that matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    amr: Option<Vec<String>>,
    /// The passkey of the sign-in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    passkey: Option<PasskeyId>,
    /// The artist signed in with a wallet that was connected less than a day ago, or without a proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    young: Option<bool>,
}

/// What an artist signed in with, where that matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Means {
    /// A passkey.
    Passkey(PasskeyId),
    /// A wallet that was connected less than a day ago, or without a proof.
    YoungWallet,
    /// Another wallet, or a mailbox.
    Other,
}

const WEBAUTHN: &str = "webauthn";

/// Public keys that verify tokens; the first belongs to the signing key.
#[derive(Clone, Debug)]
pub struct PublicKeys(JwkSet);

impl PublicKeys {
    /// Reads `TOKEN_PUBLIC_KEYS`. A retired key must stay there until its last token has expired.
    pub fn from_env() -> Result<Self, ConfigError> {
        config::parsed(config::variables::TOKEN_PUBLIC_KEYS)
    }

    /// The key set in its published form (RFC 7517).
    pub fn jwks(&self) -> &JwkSet {
        &self.0
    }

    fn signing_key_id(&self) -> Option<String> {
        self.0.keys.first()?.common.key_id.clone()
    }
}

/// Reason why a text is no public key.
#[derive(Debug, thiserror::Error)]
pub enum InvalidKey {
    /// Not base64.
    #[error("not base64: {0}")]
    Base64(#[from] base64::DecodeError),
    /// Not a P-256 key.
    #[error("not the SubjectPublicKeyInfo of a P-256 key: {0}")]
    Spki(#[from] p256::pkcs8::spki::Error),
    /// A point without coordinates, or a key without a thumbprint.
    #[error("not a usable P-256 key")]
    Point,
}

impl std::str::FromStr for PublicKeys {
    type Err = InvalidKey;

    fn from_str(list: &str) -> Result<Self, InvalidKey> {
        let keys = list.split(',').map(|key| jwk(key.trim())).collect::<Result<_, _>>()?;
        Ok(Self(JwkSet { keys }))
    }
}

fn jwk(base64_spki: &str) -> Result<Jwk, InvalidKey> {
    let spki = base64::prelude::BASE64_STANDARD.decode(base64_spki)?;
    let point = p256::PublicKey::from_public_key_der(&spki)?.to_encoded_point(false);
    let (Some(x), Some(y)) = (point.x(), point.y()) else { return Err(InvalidKey::Point) };
    let mut jwk = Jwk {
        common: CommonParameters {
            public_key_use: Some(PublicKeyUse::Signature),
            key_algorithm: Some(KeyAlgorithm::ES256),
            ..CommonParameters::default()
        },
        algorithm: AlgorithmParameters::EllipticCurve(EllipticCurveKeyParameters {
            key_type: EllipticCurveKeyType::EC,
            curve: EllipticCurve::P256,
            x: BASE64_URL_SAFE_NO_PAD.encode(x),
            y: BASE64_URL_SAFE_NO_PAD.encode(y),
        }),
    };
    jwk.common.key_id = Some(jwk.thumbprint(ThumbprintHash::SHA256).map_err(|_| InvalidKey::Point)?);
    Ok(jwk)
}

#[derive(Clone, Debug)]
struct Parties {
    issuer: String,
    audience: String,
}

impl Parties {
    fn from_env() -> Result<Self, ConfigError> {
        Ok(Self {
            issuer: config::required(config::variables::TOKEN_ISSUER)?,
            audience: config::required(config::variables::TOKEN_AUDIENCE)?,
        })
    }
}

/// Failure to issue a token.
#[derive(Debug, thiserror::Error)]
pub enum IssueError {
    /// KMS failed.
    #[error(transparent)]
    Kms(#[from] KmsError),
    /// Writing JSON failed.
    #[error("token couldn't be written as JSON")]
    Json(#[from] serde_json::Error),
}

/// A new token.
pub struct IssuedToken {
    /// Its id.
    pub id: SessionId,
    /// The token itself, only for the answer to who signed in.
    pub text: String,
}

/// Issues tokens. Only sign-in has one.
pub struct TokenIssuer {
    key: SigningKey,
    key_id: Option<String>,
    parties: Parties,
}

impl TokenIssuer {
    /// Reads `TOKEN_KEY_ID` (the KMS key), `TOKEN_PUBLIC_KEYS`, `TOKEN_ISSUER` and `TOKEN_AUDIENCE`.
    pub fn from_env(aws: &aws_config::SdkConfig) -> Result<Self, ConfigError> {
        let key = SigningKey::from_env(aws, config::variables::TOKEN_KEY_ID)?;
        Ok(Self { key, key_id: PublicKeys::from_env()?.signing_key_id(), parties: Parties::from_env()? })
    }

    /// A token for an artist who signed in, valid from `now` for [`LIFETIME`]. One KMS call.
    pub async fn issue(&self, artist: ArtistId, means: Means, now: Duration) -> Result<IssuedToken, IssueError> {
        let id = SessionId::next();
        let header = Header { typ: Some(TYPE.to_owned()), kid: self.key_id.clone(), ..Header::new(Algorithm::ES256) };
        let young = (means == Means::YoungWallet).then_some(true);
        let passkey = match means {
            Means::Passkey(passkey) => Some(passkey),
            Means::YoungWallet | Means::Other => None,
        };
        let claims = Claims {
            iss: self.parties.issuer.clone(),
            aud: self.parties.audience.clone(),
            sub: artist,
            iat: now.as_secs(),
            exp: (now + LIFETIME).as_secs(),
            jti: id,
            amr: passkey.is_some().then(|| vec![WEBAUTHN.to_owned()]),
            passkey,
            young,
        };
        let mut token = BASE64_URL_SAFE_NO_PAD.encode(serde_json::to_vec(&header)?);
        token.push('.');
        BASE64_URL_SAFE_NO_PAD.encode_string(serde_json::to_vec(&claims)?, &mut token);
        let signature = self.key.sign(token.as_bytes()).await?;
        token.push('.');
        BASE64_URL_SAFE_NO_PAD.encode_string(signature, &mut token);
        Ok(IssuedToken { id, text: token })
    }
}

/// Verifies tokens with public keys.
#[derive(Clone)]
pub struct TokenVerifier {
    keys: PublicKeys,
    validation: Validation,
}

impl TokenVerifier {
    /// Reads `TOKEN_PUBLIC_KEYS`, `TOKEN_ISSUER` and `TOKEN_AUDIENCE`.
    pub fn from_env() -> Result<Self, ConfigError> {
        let parties = Parties::from_env()?;
        let mut validation = Validation::new(Algorithm::ES256);
        validation.set_issuer(&[parties.issuer]);
        validation.set_audience(&[parties.audience]);
        validation.set_required_spec_claims(&["iss", "aud", "sub", "exp"]);
        validation.leeway = 0;
        Ok(Self { keys: PublicKeys::from_env()?, validation })
    }

    /// The token that a request brings; 401 without a valid one. No call to storage or AWS: it may be signed out.
    pub fn verify(&self, token: Option<&str>) -> Result<VerifiedToken, ApiError> {
        let token = token
            .ok_or_else(|| ApiError::unauthorized("Sign in and send the token as Authorization: Bearer <token>"))?;
        self.decode(token).ok_or_else(|| {
            ApiError::invalid_token("The token is not valid or has expired: sign in again to get a new one")
        })
    }

    fn decode(&self, token: &str) -> Option<VerifiedToken> {
        let header = decode_header(token).ok()?;
        if !header.typ?.eq_ignore_ascii_case(TYPE) {
            return None;
        }
        let key = DecodingKey::from_jwk(self.keys.0.find(&header.kid?)?).ok()?;
        let claims = decode::<Claims>(token, &key, &self.validation).ok()?.claims;
        let Claims { sub, jti, iat, exp, passkey, young, .. } = claims;
        let means = match passkey {
            Some(passkey) => Means::Passkey(passkey),
            None if young == Some(true) => Means::YoungWallet,
            None => Means::Other,
        };
        let passkeys = PasskeyMark::default();
        Some(VerifiedToken { artist: sub, id: jti, issued_at: iat, expires_at: exp, means, passkeys })
    }
}

/// What `Authorization: Bearer` has.
pub(super) fn bearer(request: &Request) -> Option<&str> {
    let (scheme, credential) = request.header("authorization")?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| credential.trim())
}

/// A token whose signature, parties and time are right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedToken {
    /// Whose it is.
    pub artist: ArtistId,
    /// Its id (`jti`); later tokens have greater ones.
    pub id: SessionId,
    /// When its artist signed in, in Unix seconds.
    pub issued_at: u64,
    /// When it expires, in Unix seconds.
    pub expires_at: u64,
    /// What its artist signed in with.
    pub means: Means,
    /// The artist's passkeys, as [`super::session::SessionAuthenticator`] read.
    pub passkeys: PasskeyMark,
}
