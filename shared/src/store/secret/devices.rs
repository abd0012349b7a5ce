//! Devices on which an address signed in, by the hash of a secret that they keep. Rows: docs/data-model.md, Sign-in codes.

use serde::{Deserialize, Serialize};

use crate::{
    aws::Dispatch,
    model::{DeviceId, Email},
    store::{
        engine::table::{PrimaryKey, SecretTable, StoreError, number, row, text, unless_refused},
        secret::rows,
    },
};

/// How long a device is known after the last sign-in, in seconds.
const KNOWN_FOR: u64 = 365 * 24 * 60 * 60;

/// Most devices of an address; the one that was used longest ago makes room.
const MAX_DEVICES: usize = 20;

/// A known device.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Device {
    /// Hash of its token.
    #[serde(rename = "sk")]
    pub id: DeviceId,
    /// What is stored of it.
    #[serde(flatten)]
    pub fields: DeviceFields,
}

/// What is stored of a known device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceFields {
    /// Time of the first sign-in, in Unix seconds.
    pub created_at: u64,
    /// Time of the last sign-in, in Unix seconds.
    pub seen_at: u64,
    /// Network of the last sign-in.
    pub network: String,
    /// What it called itself (`User-Agent`), up to 200 characters.
    pub agent: String,
    /// Wrong codes in a row.
    pub wrong: u32,
    /// Expiry, in Unix seconds.
    pub expires_at: u64,
}

/// Stored under the device alone, for who asks before it is known who signs in.
#[derive(Serialize, Deserialize)]
struct KnownDevice {
    expires_at: u64,
}

/// Known devices of all addresses.
#[derive(Clone)]
pub struct Devices(SecretTable);

impl Devices {
    /// Uses the secret table.
    pub fn new(secrets: SecretTable) -> Self {
        Self(secrets)
    }

    /// Remembers a device that signed in at `now` (Unix seconds). A Query, two writes at once, and two for
    /// each that makes room.
    pub async fn remember(
        &self,
        email: &Email,
        id: &DeviceId,
        network: String,
        agent: String,
        now: u64,
    ) -> Result<(), StoreError> {
        let mut others = self.list(email, 0).await?;
        others.sort_unstable_by_key(|device| std::cmp::Reverse(device.fields.seen_at));
        for oldest in others.iter().skip(MAX_DEVICES - 1) {
            self.forget(email, &oldest.id).await?;
        }
        let device =
            DeviceFields { created_at: now, seen_at: now, network, agent, wrong: 0, expires_at: now + KNOWN_FOR };
        let known = KnownDevice { expires_at: device.expires_at };
        let (own_row, known_row) = (key(email, id), rows::known_device(id));
        tokio::try_join!(self.put(&own_row, &device), self.put(&known_row, &known))?;
        Ok(())
    }

    async fn put(&self, key: &PrimaryKey, fields: &impl Serialize) -> Result<(), StoreError> {
        let call = self.0.client.put_item().table_name(&self.0.name).set_item(Some(row(key, fields)?));
        call.dispatch().await?;
        Ok(())
    }

    /// Whether anybody signed in on a device that is known at `now` (Unix seconds). One read.
    pub async fn is_known(&self, id: &DeviceId, now: u64) -> Result<bool, StoreError> {
        let known: Option<KnownDevice> = self.0.get(&rows::known_device(id)).await?;
        Ok(known.is_some_and(|device| device.expires_at > now))
    }

    /// Notes a sign-in of a known device, which is known for as long again. Two writes.
    pub async fn note_use(&self, email: &Email, id: &DeviceId, network: &str, now: u64) -> Result<(), StoreError> {
        let call = self.0.client.update_item().table_name(&self.0.name).set_key(Some(key(email, id).item()));
        let call = call
            .update_expression("SET seen_at = :now, network = :network, wrong = :none, expires_at = :end")
            .condition_expression("attribute_exists(pk)")
            .expression_attribute_values(":now", number(now))
            .expression_attribute_values(":network", text(network))
            .expression_attribute_values(":none", number(0))
            .expression_attribute_values(":end", number(now + KNOWN_FOR));
        if unless_refused(call.dispatch().await)?.is_some() {
            self.put(&rows::known_device(id), &KnownDevice { expires_at: now + KNOWN_FOR }).await?;
        }
        Ok(())
    }

    /// Returns the devices of an address that are known at `now` (Unix seconds). One Query.
    pub async fn list(&self, email: &Email, now: u64) -> Result<Vec<Device>, StoreError> {
        let call = self.0.query().key_condition_expression("pk = :pk");
        let answer =
            call.expression_attribute_values(":pk", text(rows::devices(&email.fingerprint()))).dispatch().await?;
        let devices: Vec<Device> = serde_dynamo::from_items(answer.items.unwrap_or_default())?;
        Ok(devices.into_iter().filter(|device| device.fields.expires_at > now).collect())
    }

    /// Forgets all devices of an address. A Query, and two writes for each.
    pub async fn forget_all(&self, email: &Email) -> Result<(), StoreError> {
        for device in self.list(email, 0).await? {
            self.forget(email, &device.id).await?;
        }
        Ok(())
    }

    /// Forgets a device; `false` if it wasn't the address's. Two writes.
    pub async fn forget(&self, email: &Email, id: &DeviceId) -> Result<bool, StoreError> {
        let delete = |key: PrimaryKey| self.0.client.delete_item().table_name(&self.0.name).set_key(Some(key.item()));
        let own = delete(key(email, id)).condition_expression("attribute_exists(pk)");
        if unless_refused(own.dispatch().await)?.is_none() {
            return Ok(false);
        }
        delete(rows::known_device(id)).dispatch().await?;
        Ok(true)
    }
}

pub(in crate::store) fn key(email: &Email, id: &DeviceId) -> PrimaryKey {
    rows::device(&email.fingerprint(), id)
}
