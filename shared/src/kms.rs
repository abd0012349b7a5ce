//! KMS keys of sign-in: an HMAC over codes and a signature over tokens. No key leaves KMS.

use aws_sdk_kms::{
    Client,
    config::Builder,
    error::SdkError,
    primitives::Blob,
    types::{MacAlgorithmSpec, MessageType, SigningAlgorithmSpec},
};
use p256::ecdsa::Signature;

use crate::{
    aws::Dispatch,
    config::{self, ConfigError, Variable},
    telemetry::trace::AwsCalls,
};

/// A failed KMS operation.
#[derive(Debug, thiserror::Error)]
pub enum KmsError {
    /// The call failed.
    #[error("KMS call failed")]
    Call(#[source] Box<aws_sdk_kms::Error>),
    /// The answer lacks a part or has an unreadable one, which is named.
    #[error("KMS answered without a usable {0}")]
    Answer(&'static str),
}

impl<E> From<SdkError<E>> for KmsError
where
    aws_sdk_kms::Error: From<SdkError<E>>,
{
    fn from(error: SdkError<E>) -> Self {
        Self::Call(Box::new(error.into()))
    }
}

fn client(aws: &aws_config::SdkConfig) -> Client {
    Client::from_conf(Builder::from(aws).interceptor(AwsCalls).build())
}

/// Symmetric keys that make and check message authentication codes (HMAC-SHA-256). There is one, and a second while it takes
/// the other's place.
#[derive(Clone)]
pub struct MacKeys {
    client: Client,
    ids: Vec<String>,
}

impl MacKeys {
    /// The keys whose ids are in the variable, separated by commas; the first one makes new codes.
    pub fn from_env(aws: &aws_config::SdkConfig, ids: &Variable) -> Result<Self, ConfigError> {
        let ids = config::required(ids)?.split(',').map(str::to_owned).collect();
        Ok(Self { client: client(aws), ids })
    }

    /// Id of the key that makes new codes.
    pub fn first(&self) -> &str {
        self.ids.first().map_or("", String::as_str)
    }

    /// The given key's id, if it is one of them; else that of the oldest.
    pub fn known_or_oldest<'a>(&'a self, id: Option<&'a str>) -> &'a str {
        let known = id.filter(|id| self.ids.iter().any(|own| own == id));
        known.or(self.ids.last().map(String::as_str)).unwrap_or_default()
    }

    /// The MAC of `message` by the key with an id. One KMS call.
    pub async fn generate(&self, id: &str, message: &[u8]) -> Result<Vec<u8>, KmsError> {
        let call = self.client.generate_mac().key_id(id).mac_algorithm(MacAlgorithmSpec::HmacSha256);
        let answer = call.message(Blob::new(message)).dispatch().await?;
        answer.mac.map(Blob::into_inner).ok_or(KmsError::Answer("MAC"))
    }

    /// Whether `mac` is the MAC of `message` by one of the keys. A KMS call for each key that is tried, which compares in
    /// constant time.
    pub async fn verify(&self, message: &[u8], mac: &[u8]) -> Result<bool, KmsError> {
        for id in &self.ids {
            if self.is_of(id, message, mac).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn is_of(&self, id: &str, message: &[u8], mac: &[u8]) -> Result<bool, KmsError> {
        let call = self.client.verify_mac().key_id(id).mac_algorithm(MacAlgorithmSpec::HmacSha256);
        match call.message(Blob::new(message)).mac(Blob::new(mac)).dispatch().await {
            Ok(answer) => Ok(answer.mac_valid),
            Err(error) if error.as_service_error().is_some_and(|e| e.is_kms_invalid_mac_exception()) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// An ECDSA key on P-256.
#[derive(Clone)]
pub struct SigningKey {
    client: Client,
    id: String,
}

impl SigningKey {
    /// The key whose id is in the variable.
    pub fn from_env(aws: &aws_config::SdkConfig, id: &Variable) -> Result<Self, ConfigError> {
        Ok(Self { client: client(aws), id: config::required(id)? })
    }

    /// The ES256 signature of `message` (at most 4096 bytes): r and s, 32 bytes each. One KMS call.
    pub async fn sign(&self, message: &[u8]) -> Result<[u8; 64], KmsError> {
        let call = self.client.sign().key_id(&self.id).signing_algorithm(SigningAlgorithmSpec::EcdsaSha256);
        let answer = call.message_type(MessageType::Raw).message(Blob::new(message)).dispatch().await?;
        let der = answer.signature.ok_or(KmsError::Answer("signature"))?;
        let signature = Signature::from_der(der.as_ref()).map_err(|_| KmsError::Answer("signature"))?;
        Ok(signature.to_bytes().into())
    }
}
