use aws_sdk_dynamodb::types::{TransactWriteItem, Update};

use super::{charge::DAY, transaction::Transactions};
use crate::{
    model::{ArtistId, DailySpend, KeyId},
    store::{
        artist::rows,
        engine::table::{StoreError, number, updating},
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

impl Transactions {
    /// Counts the outlay, if it [fits](Outlay::fits) what is left today. It stays counted if the write fails.
    pub(super) fn count_outlay(
        &self,
        artist: ArtistId,
        outlay: &Outlay,
        now: u64,
    ) -> Result<TransactWriteItem, StoreError> {
        let day = now / DAY;
        let spender = outlay.key.map_or_else(|| "TOKEN".to_owned(), |key| key.to_string());
        let key = rows::spent(artist, day, &spender);
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
