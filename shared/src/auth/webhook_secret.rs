//! Secrets of webhooks (<https://www.standardwebhooks.com>). They are derived from a key in KMS, so none is stored.

use base64::{Engine, prelude::BASE64_STANDARD};
use hmac::{
    Hmac, Mac,
    digest::{Key, KeyInit},
};
use sha2::Sha256;

use crate::{
    config::{self, ConfigError},
    kms::{KmsError, MacKeys},
    store::artist::{SecretName, Webhook},
};

/// Derives secrets.
#[derive(Clone)]
pub struct WebhookSecrets(MacKeys);

/// A webhook's secret.
#[derive(Clone)]
pub struct WebhookSecret(Vec<u8>);

impl WebhookSecrets {
    /// Reads `WEBHOOK_KEY_IDS`.
    pub fn from_env(aws: &aws_config::SdkConfig) -> Result<Self, ConfigError> {
        Ok(Self(MacKeys::from_env(aws, config::variables::WEBHOOK_KEY_IDS)?))
    }

    /// Id of the key that new secrets are derived from.
    pub fn key(&self) -> &str {
        self.0.first()
    }

    /// A webhook's newest secret. One KMS call.
    pub async fn newest(&self, webhook: &Webhook) -> Result<WebhookSecret, KmsError> {
        self.secret(webhook, &webhook.newest_secret()).await
    }

    /// One of a webhook's secrets. That of a retired key is lost: another one takes its place, which no receiver knows. One
    /// KMS call.
    pub async fn secret(&self, webhook: &Webhook, name: &SecretName) -> Result<WebhookSecret, KmsError> {
        let key = self.0.known_or_oldest(name.key.as_deref());
        let text = format!("webhook\n{}\n{}", webhook.id, name.generation);
        Ok(WebhookSecret(self.0.generate(key, text.as_bytes()).await?))
    }
}

impl WebhookSecret {
    /// The secret as its artist gets it.
    pub fn reveal(&self) -> String {
        format!("whsec_{}", BASE64_STANDARD.encode(&self.0))
    }

    /// The signature of a message that is sent at `timestamp` (Unix seconds).
    pub fn sign(&self, id: &str, timestamp: u64, body: &str) -> String {
        // A key shorter than a block is padded with zeros; KMS makes half a block.
        let mut key = Key::<Hmac<Sha256>>::default();
        key.iter_mut().zip(&self.0).for_each(|(padded, byte)| *padded = *byte);
        let mut mac = <Hmac<Sha256> as KeyInit>::new(&key);
        mac.update(format!("{id}.{timestamp}.{body}").as_bytes());
        format!("v1,{}", BASE64_STANDARD.encode(mac.finalize().into_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// <https://github.com/standard-webhooks/standard-webhooks/blob/main/libraries/python/tests/test_webhooks.py>
    #[test]
    fn the_published_example_is_signed_as_published() {
        let secret = WebhookSecret(BASE64_STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap());
        assert_eq!(secret.reveal(), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        let signature = secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, "{\"test\": 2432232314}");
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }
}
