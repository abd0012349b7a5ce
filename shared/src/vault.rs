//! Texts that are kept in Secrets Manager, and in no variable.

use aws_sdk_secretsmanager::{Client, config::Builder};

use crate::{aws::Dispatch, telemetry::trace::AwsCalls};

/// A secret that can't be read.
#[derive(Debug, thiserror::Error)]
#[error("the secret can't be read")]
pub struct VaultError(#[source] Option<Box<aws_sdk_secretsmanager::Error>>);

/// Secrets Manager.
#[derive(Clone)]
pub struct Vault(Client);

impl Vault {
    /// The account's.
    pub fn new(aws: &aws_config::SdkConfig) -> Self {
        Self(Client::from_conf(Builder::from(aws).interceptor(AwsCalls).build()))
    }

    /// The secret's text, without the spaces and line ends around it. One call.
    pub async fn text(&self, arn: &str) -> Result<String, VaultError> {
        let answer = self.0.get_secret_value().secret_id(arn).dispatch().await;
        let answer = answer.map_err(|error| VaultError(Some(Box::new(error.into()))))?;
        answer.secret_string.map(|text| text.trim().to_owned()).ok_or(VaultError(None))
    }
}
