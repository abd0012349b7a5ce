//! Secrets of webhooks (<https://www.standardwebhooks.com>). They are derived from a key in KMS, so none is stored.

use base64::{Engine, prelude::BASE64_STANDARD};
use hmac::{
    Hmac, Mac,
    digest::{Key, KeyInit},
};
use sha2::Sha256;

use crate::{
    config::{self, ConfigError},
    kms::{KmsError, MacKey},
    model::WebhookId,
};

/// Derives secrets.
#[derive(Clone)]
pub struct WebhookSecrets(MacKey);

/// A webhook's secret.
#[derive(Clone)]
pub struct WebhookSecret(Vec<u8>);

impl WebhookSecrets {
    /// Reads `WEBHOOK_KEY_ID`.
    pub fn from_env(aws: &aws_config::SdkConfig) -> Result<Self, ConfigError> {
        Ok(Self(MacKey::from_env(aws, config::variables::WEBHOOK_KEY_ID)?))
    }

    /// The secret with a number. One KMS call.
    pub async fn secret(&self, webhook: WebhookId, generation: u32) -> Result<WebhookSecret, KmsError> {
        Ok(WebhookSecret(self.0.generate(format!("webhook\n{webhook}\n{generation}").as_bytes()).await?))
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
