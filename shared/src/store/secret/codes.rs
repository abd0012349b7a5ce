//! Sign-in codes and links. A code with a nonce, or of a known device, stands alone; one without is kept for the client
//! that asked, and as the address's newest, for a person who asks on one device and signs in on another. Rows:
//! docs/data-model.md, Sign-in codes.

use aws_sdk_dynamodb::types::ReturnValue;
use futures::future::try_join_all;
use serde::{Deserialize, Serialize};

use crate::{
    aws::Dispatch,
    model::{DeviceId, Email, OneTimeCode, SignInLink},
    store::{
        engine::table::{PrimaryKey, SecretTable, StoreError, number, row, text, unless_refused},
        secret::rows,
    },
};

/// Stored part of a code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredCode {
    /// HMAC of address, code and time of issue, in hexadecimal.
    pub mac: String,
    /// Time of issue, in Unix milliseconds.
    pub issued_at: u64,
    /// Expiry, in Unix seconds; the row is deleted some time after.
    pub expires_at: u64,
    /// Number of tries so far.
    pub tries: u32,
    /// Whom it is for.
    pub holder: CodeHolder,
    /// Hash of the link in the same mail, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

/// Stored part of a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredLink {
    /// Address of the mail.
    pub email: Email,
    /// Expiry, in Unix seconds; the row is deleted some time after.
    pub expires_at: u64,
    /// The code in the same mail, if there is one.
    pub code: Option<StoredCode>,
}

/// Who asked for a code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CodeHolder {
    /// Whoever has the nonce, which is hashed.
    Nonce(String),
    /// A known device.
    Device(DeviceId),
    /// A client's network, hashed.
    Client(String),
}

/// Open codes and links.
#[derive(Clone)]
pub struct Codes(SecretTable);

impl Codes {
    /// Uses the secret table.
    pub fn new(secrets: SecretTable) -> Self {
        Self(secrets)
    }

    /// Stores a link and the code of its mail, which replaces the holder's previous one. Up to three writes at once.
    pub async fn put(&self, email: &Email, link: &SignInLink, stored: &StoredLink) -> Result<(), StoreError> {
        let (at_link, code) = (rows::link(&email.fingerprint(), &link.hash()), stored.code.as_ref());
        let held = code.map(|code| self.put_at(held(email, &code.holder), code));
        let newest = code.filter(|code| code.holder.is_newest()).map(|code| self.put_at(newest(email), code));
        let (link, codes) = (self.put_at(at_link, stored), try_join_all(held.into_iter().chain(newest)));
        tokio::try_join!(link, codes)?;
        Ok(())
    }

    async fn put_at<R: Serialize>(&self, key: PrimaryKey, fields: &R) -> Result<(), StoreError> {
        let item = row(&key, fields)?;
        self.0.client.put_item().table_name(&self.0.name).set_item(Some(item)).dispatch().await?;
        Ok(())
    }

    /// Counts a try and returns the codes that it may be: the holder's, and unless a nonce is given the address's newest.
    /// Expired ones and those without tries left are none. Up to two writes at once.
    pub async fn count_try(&self, email: &Email, holder: &CodeHolder, now: u64) -> Result<Vec<StoredCode>, StoreError> {
        let held = held(email, holder);
        if !holder.is_newest() {
            return Ok(self.count_at(&held, now).await?.into_iter().collect());
        }
        let newest = newest(email);
        let (held, newest) = tokio::try_join!(self.count_at(&held, now), self.count_at(&newest, now))?;
        let newest = newest.filter(|newest| held.as_ref().is_none_or(|held| held.mac != newest.mac));
        Ok(held.into_iter().chain(newest).collect())
    }

    async fn count_at(&self, key: &PrimaryKey, now: u64) -> Result<Option<StoredCode>, StoreError> {
        let call = self
            .0
            .client
            .update_item()
            .table_name(&self.0.name)
            .set_key(Some(key.item()))
            .update_expression("SET tries = tries + :one")
            .condition_expression("tries < :max AND expires_at > :now")
            .expression_attribute_values(":one", number(1))
            .expression_attribute_values(":max", number(OneTimeCode::MAX_TRIES))
            .expression_attribute_values(":now", number(now))
            .return_values(ReturnValue::AllNew);
        let answer = unless_refused(call.dispatch().await)?;
        Ok(answer.and_then(|answer| answer.attributes).map(serde_dynamo::from_item).transpose()?)
    }

    /// Returns the link if it is neither used nor expired. One read.
    pub async fn link(&self, link: &SignInLink, now: u64) -> Result<Option<StoredLink>, StoreError> {
        let stored: Option<StoredLink> = self.0.get(&rows::link(&link.fingerprint(), &link.hash())).await?;
        Ok(stored.filter(|stored| stored.expires_at > now))
    }

    /// Deletes a link and the code of its mail; `false` if the link was used. Up to three writes at once.
    pub async fn remove_link(&self, link: &SignInLink, stored: &StoredLink) -> Result<bool, StoreError> {
        let key = rows::link(&link.fingerprint(), &link.hash());
        let code = async {
            match &stored.code {
                Some(code) => self.remove_code(&stored.email, code).await,
                None => Ok(false),
            }
        };
        let (is_removed, _) = tokio::try_join!(self.remove_at(&key, "attribute_exists(pk)", None), code)?;
        Ok(is_removed)
    }

    /// Deletes a code and the link of its mail; `false` if the code was used or replaced. Up to three writes at once.
    pub async fn remove(&self, email: &Email, code: &StoredCode) -> Result<bool, StoreError> {
        let link = async {
            match &code.link {
                Some(link) => {
                    self.remove_at(&rows::link(&email.fingerprint(), link), "attribute_exists(pk)", None).await
                }
                None => Ok(false),
            }
        };
        let (is_removed, _) = tokio::try_join!(self.remove_code(email, code), link)?;
        Ok(is_removed)
    }

    async fn remove_code(&self, email: &Email, code: &StoredCode) -> Result<bool, StoreError> {
        let remove = async |key: PrimaryKey| self.remove_at(&key, "mac = :mac", Some(&code.mac)).await;
        let held = remove(held(email, &code.holder));
        if !code.holder.is_newest() {
            return held.await;
        }
        let (is_removed, _) = tokio::try_join!(held, remove(newest(email)))?;
        Ok(is_removed)
    }

    async fn remove_at(&self, key: &PrimaryKey, condition: &str, mac: Option<&str>) -> Result<bool, StoreError> {
        let call = self.0.client.delete_item().table_name(&self.0.name).set_key(Some(key.item()));
        let values = mac.map(|mac| [(":mac".to_owned(), text(mac))].into());
        let call = call.condition_expression(condition).set_expression_attribute_values(values);
        Ok(unless_refused(call.dispatch().await)?.is_some())
    }
}

impl CodeHolder {
    /// Whether the code counts as the address's newest, too.
    fn is_newest(&self) -> bool {
        !matches!(self, Self::Nonce(_))
    }
}

fn held(email: &Email, holder: &CodeHolder) -> PrimaryKey {
    let name = match holder {
        CodeHolder::Nonce(hash) => format!("NONCE#{hash}"),
        CodeHolder::Device(id) => format!("DEVICE#{id}"),
        CodeHolder::Client(hash) => format!("CLIENT#{hash}"),
    };
    rows::held_code(&email.fingerprint(), &name)
}

fn newest(email: &Email) -> PrimaryKey {
    rows::newest_code(&email.fingerprint())
}
