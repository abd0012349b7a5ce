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

/// A symmetric key that makes and checks message authentication codes (HMAC-SHA-256).
#[derive(Clone)]
pub struct MacKey {
    client: Client,
    id: String,
}

impl MacKey {
    /// The key whose id is in the variable.
    pub fn from_env(aws: &aws_config::SdkConfig, id: &Variable) -> Result<Self, ConfigError> {
        Ok(Self { client: client(aws), id: config::required(id)? })
    }

    /// The MAC of `message`. One KMS call.
    pub async fn generate(&self, message: &[u8]) -> Result<Vec<u8>, KmsError> {
        let call = self.client.generate_mac().key_id(&self.id).mac_algorithm(MacAlgorithmSpec::HmacSha256);
        let answer = call.message(Blob::new(message)).dispatch().await?;
        answer.mac.map(Blob::into_inner).ok_or(KmsError::Answer("MAC"))
    }

    /// Whether `mac` is the MAC of `message`. One KMS call, which compares in constant time.
    pub async fn verify(&self, message: &[u8], mac: &[u8]) -> Result<bool, KmsError> {
        let call = self.client.verify_mac().key_id(&self.id).mac_algorithm(MacAlgorithmSpec::HmacSha256);
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
