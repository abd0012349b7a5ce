//! Accounts of people who were given something before they signed in. Rows: docs/data-model.md, Artists.

use aws_sdk_dynamodb::types::ReturnValue;
use serde::Deserialize;

use super::artist::{Artist, Artists};
use crate::{
    aws::Dispatch,
    model::Email,
    store::{
        artist::rows,
        engine::table::{StoreError, number, text},
    },
};

/// How long an account waits for its mailbox after a gift, in seconds.
const RESERVED_FOR: u64 = 365 * 24 * 60 * 60;

#[derive(Deserialize)]
struct ReservedRow {
    #[serde(flatten)]
    artist: Artist,
    expires_at: u64,
}

impl Artists {
    /// Keeps an account for a mail address that has none, a year from `now` (Unix seconds) on: the one that is kept for it
    /// already, or `artist`. One write.
    pub async fn reserve(&self, email: &Email, artist: Artist, now: u64) -> Result<Artist, StoreError> {
        let call = self.0.client.update_item().table_name(&self.0.name);
        let call = call.set_key(Some(rows::reserved_artist(email).item()));
        let call = call
            .update_expression(
                "SET artist_id = if_not_exists(artist_id, :artist), \
                 embedded_wallet = if_not_exists(embedded_wallet, :wallet), expires_at = :end",
            )
            .expression_attribute_values(":artist", text(artist.artist_id))
            .expression_attribute_values(":wallet", text(artist.embedded_wallet))
            .expression_attribute_values(":end", number(now + RESERVED_FOR))
            .return_values(ReturnValue::AllNew);
        let row = call.dispatch().await?.attributes.ok_or(StoreError::Missing("a reserved account"))?;
        Ok(serde_dynamo::from_item::<_, ReservedRow>(row)?.artist)
    }

    /// The account that is kept for a mail address at `now` (Unix seconds). One read.
    pub async fn reserved(&self, email: &Email, now: u64) -> Result<Option<Artist>, StoreError> {
        let row: Option<ReservedRow> = self.0.get(&rows::reserved_artist(email)).await?;
        Ok(row.filter(|row| row.expires_at > now).map(|row| row.artist))
    }
}
