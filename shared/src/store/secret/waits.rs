//! Requests that wait: few at a time for each artist and network, so that nobody holds all that can wait.

use std::ops::Range;

use serde::Deserialize;

use crate::{
    aws::Dispatch,
    store::{
        engine::table::{PrimaryKey, SecretTable, StoreError, number, unless_refused},
        secret::rows,
    },
};

/// Most requests of an artist that wait for events at once.
pub const MAX_WAITS: u8 = 2;

/// The same of a network: a tenth of the function's concurrency, as artists cost nothing.
pub const MAX_NETWORK_WAITS: u8 = 10;

/// The same of a provider's block of addresses: anybody may have many of its networks.
pub const MAX_PROVIDER_WAITS: u8 = 30;

/// Waiting requests of all artists and networks.
#[derive(Clone)]
pub struct Waits(SecretTable);

/// A place to wait in, until its end at the latest.
#[derive(Debug)]
pub struct WaitPlace {
    key: PrimaryKey,
    end: u64,
}

#[derive(Deserialize)]
struct WaitRow {
    sk: String,
    expires_at: u64,
}

impl Waits {
    /// Uses the secret table.
    pub fn new(secrets: SecretTable) -> Self {
        Self(secrets)
    }

    /// Takes one of these places of each holder until `end` (Unix seconds). If a holder has none that is free, all are
    /// given back, and it is named by its position. For each holder a Query, and a write for each place that was free.
    pub async fn take(
        &self,
        holders: &[(String, Range<u8>)],
        end: u64,
        now: u64,
    ) -> Result<Result<Vec<WaitPlace>, usize>, StoreError> {
        let mut taken = Vec::new();
        for (position, (holder, places)) in holders.iter().enumerate() {
            let Some(place) = self.take_one(holder, places.clone(), end, now).await? else {
                self.give_back(&taken).await?;
                return Ok(Err(position));
            };
            taken.push(place);
        }
        Ok(Ok(taken))
    }

    async fn take_one(
        &self,
        holder: &str,
        places: Range<u8>,
        end: u64,
        now: u64,
    ) -> Result<Option<WaitPlace>, StoreError> {
        let rows: Vec<WaitRow> = self.0.partition(rows::waits(holder)).await?;
        let is_taken = |place: &str| rows.iter().any(|row| row.sk == place && row.expires_at > now);
        for place in places.filter(|place| !is_taken(&place.to_string())) {
            let key = rows::wait(holder, place);
            let call = self.0.client.update_item().table_name(&self.0.name).set_key(Some(key.item()));
            let call = call
                .update_expression("SET expires_at = :end")
                .condition_expression("attribute_not_exists(expires_at) OR expires_at <= :now")
                .expression_attribute_values(":end", number(end))
                .expression_attribute_values(":now", number(now));
            if unless_refused(call.dispatch().await)?.is_some() {
                return Ok(Some(WaitPlace { key, end }));
            }
        }
        Ok(None)
    }

    /// Gives places back. One write each.
    pub async fn give_back(&self, places: &[WaitPlace]) -> Result<(), StoreError> {
        for place in places {
            let call = self.0.client.delete_item().table_name(&self.0.name).set_key(Some(place.key.item()));
            let call =
                call.condition_expression("expires_at = :end").expression_attribute_values(":end", number(place.end));
            unless_refused(call.dispatch().await)?;
        }
        Ok(())
    }
}
