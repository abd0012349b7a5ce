//! Requests that wait for events: two at a time for each artist, so that nobody holds all that can wait.

use crate::{
    aws::Dispatch,
    model::ArtistId,
    store::{
        engine::table::{PrimaryKey, SecretTable, StoreError, number, unless_refused},
        secret::rows,
    },
};

/// Most requests of an artist that wait at once.
pub const MAX_WAITS: u8 = 2;

/// Waiting requests of all artists.
#[derive(Clone)]
pub struct Waits(SecretTable);

/// A place to wait in, until its end at the latest.
#[derive(Debug)]
pub struct WaitPlace {
    key: PrimaryKey,
    end: u64,
}

impl Waits {
    /// Uses the secret table.
    pub fn new(secrets: SecretTable) -> Self {
        Self(secrets)
    }

    /// Takes a place until `end` (Unix seconds); `None` if all are taken. A write for each place that is looked at.
    pub async fn take(&self, artist: ArtistId, end: u64, now: u64) -> Result<Option<WaitPlace>, StoreError> {
        for place in 0..MAX_WAITS {
            let key = rows::wait(artist, place);
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

    /// Gives a place back. One write.
    pub async fn give_back(&self, place: &WaitPlace) -> Result<(), StoreError> {
        let call = self.0.client.delete_item().table_name(&self.0.name).set_key(Some(place.key.item()));
        let call =
            call.condition_expression("expires_at = :end").expression_attribute_values(":end", number(place.end));
        unless_refused(call.dispatch().await)?;
        Ok(())
    }
}
