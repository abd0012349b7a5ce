use aws_sdk_dynamodb::types::{TransactWriteItem, Update};

use super::{charge::DAY, transaction::Transactions};
use crate::{
    model::{ArtistId, DailySpend, KeyId},
    store::{
        artist::rows,
        engine::table::{PrimaryKey, StoreError, number, updating},
    },
};

/// What a request pays out of the artist's account, to be counted against the daily limit of its credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outlay {
    /// The API key; `None` for tokens, which have one limit together.
    pub key: Option<KeyId>,
    /// The limit.
    pub limit: DailySpend,
    /// Wei.
    pub eth: u128,
    /// Millionths of a USDC.
    pub usdc: u128,
}

impl Outlay {
    /// Whether it pays anything.
    pub fn is_any(&self) -> bool {
        self.eth > 0 || self.usdc > 0
    }

    /// Whether the limit of a whole day suffices.
    pub fn fits(&self) -> bool {
        self.eth <= self.limit.eth.0 && self.usdc <= self.limit.usdc.0
    }
}

/// What a credential spent in a day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Wei.
    pub eth: u128,
    /// Millionths of a USDC.
    pub usdc: u128,
}

fn spent_key(artist: ArtistId, key: Option<KeyId>, now: u64) -> PrimaryKey {
    let spender = key.map_or_else(|| "TOKEN".to_owned(), |key| key.to_string());
    rows::spent(artist, now / DAY, &spender)
}

impl Transactions {
    /// Returns what an API key, or old tokens together, spent today. One read.
    pub async fn spent(&self, artist: ArtistId, key: Option<KeyId>, now: u64) -> Result<Spent, StoreError> {
        let row = self.table.item(spent_key(artist, key, now).item()).await?.unwrap_or_default();
        // Wei are beyond the numbers that rows are read as.
        let amount = |name: &str| row.get(name).and_then(|value| value.as_n().ok()?.parse().ok()).unwrap_or_default();
        Ok(Spent { eth: amount("eth"), usdc: amount("usdc") })
    }

    /// Counts the outlay, if it [fits](Outlay::fits) what is left today. It stays counted if the write fails.
    pub(super) fn count_outlay(
        &self,
        artist: ArtistId,
        outlay: &Outlay,
        now: u64,
    ) -> Result<TransactWriteItem, StoreError> {
        let day = now / DAY;
        let key = spent_key(artist, outlay.key, now);
        let update = Update::builder()
            .table_name(&self.table.name)
            .set_key(Some(key.item()))
            .update_expression("SET expires_at = :end ADD eth :eth, usdc :usdc")
            .condition_expression("attribute_not_exists(pk) OR (eth <= :eth_left AND usdc <= :usdc_left)")
            .expression_attribute_values(":end", number((day + 2) * DAY))
            .expression_attribute_values(":eth", number(outlay.eth))
            .expression_attribute_values(":usdc", number(outlay.usdc))
            .expression_attribute_values(":eth_left", number(outlay.limit.eth.0.saturating_sub(outlay.eth)))
            .expression_attribute_values(":usdc_left", number(outlay.limit.usdc.0.saturating_sub(outlay.usdc)));
        updating(update)
    }
}
