use alloy::primitives::U256;
use aws_sdk_dynamodb::types::{TransactWriteItem, Update};

use super::{
    charge::CountedOutlay,
    transaction::{Transaction, Transactions},
};
use crate::{
    model::{Amount, ArtistId, DAY, DailySpend, KeyId},
    store::{
        artist::rows,
        engine::table::{PrimaryKey, StoreError, number, updating},
    },
};

/// Largest amount in a row: DynamoDB keeps 38 digits.
const MOST: u128 = 10_u128.pow(38) - 1;

/// What a request pays out of the artist's account, to be counted against the daily limit of its credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outlay {
    /// The API key; `None` for tokens, which have one limit together.
    pub key: Option<KeyId>,
    /// The limit.
    pub limit: DailySpend,
    /// What each of the request's transactions pays, in their order.
    pub each: Vec<Spent>,
}

impl Outlay {
    /// Whether it pays anything.
    pub fn is_any(&self) -> bool {
        self.each.iter().copied().any(Spent::is_any)
    }

    /// What the transactions pay together.
    pub fn total(&self) -> Spent {
        self.each.iter().fold(Spent::default(), |sum, one| Spent {
            eth: sum.eth.saturating_add(one.eth),
            usdc: sum.usdc.saturating_add(one.usdc),
        })
    }

    /// Whether the limit of a whole day suffices.
    pub fn fits(&self) -> bool {
        let Spent { eth, usdc } = self.total();
        eth <= self.limit.eth.0 && usdc <= self.limit.usdc.0
    }
}

/// What a transaction pays, or a credential spent in a day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Wei.
    pub eth: u128,
    /// Millionths of a USDC.
    pub usdc: u128,
}

impl Spent {
    /// Whether it is anything.
    pub fn is_any(self) -> bool {
        self.eth > 0 || self.usdc > 0
    }

    /// How it is kept in the row of a transaction that is queued now; `None` if it is nothing.
    pub(super) fn counted(self, now: u64) -> Option<CountedOutlay> {
        let amount = |units: u128| Amount(U256::from(units));
        self.is_any().then(|| CountedOutlay { day: now / DAY, eth: amount(self.eth), usdc: amount(self.usdc) })
    }
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

    /// Counts the outlay, if it [fits](Outlay::fits) what is left today. It stays counted for what is sent and fails.
    pub(super) fn count_outlay(
        &self,
        artist: ArtistId,
        outlay: &Outlay,
        now: u64,
    ) -> Result<TransactWriteItem, StoreError> {
        let day = now / DAY;
        let key = spent_key(artist, outlay.key, now);
        let Spent { eth, usdc } = outlay.total();
        let update = Update::builder()
            .table_name(&self.table.name)
            .set_key(Some(key.item()))
            .update_expression("SET expires_at = :end ADD eth :eth, usdc :usdc")
            .condition_expression("attribute_not_exists(pk) OR (eth <= :eth_left AND usdc <= :usdc_left)")
            .expression_attribute_values(":end", number((day + 2) * DAY))
            .expression_attribute_values(":eth", number(eth))
            .expression_attribute_values(":usdc", number(usdc))
            .expression_attribute_values(":eth_left", number(outlay.limit.eth.0.saturating_sub(eth)))
            .expression_attribute_values(":usdc_left", number(outlay.limit.usdc.0.saturating_sub(usdc)));
        updating(update)
    }

    /// Gives back what was counted for a transaction that is never sent, if the count has as much; `None` if that was
    /// for another day.
    pub(super) fn return_outlay(
        &self,
        transaction: &Transaction,
        now: u64,
    ) -> Result<Option<TransactWriteItem>, StoreError> {
        let Some(outlay) = transaction.outlay.filter(|outlay| outlay.day == now / DAY) else { return Ok(None) };
        // A row may say what no limit allows.
        let amount = |Amount(units): Amount| number(units.saturating_to::<u128>().min(MOST));
        let update = Update::builder()
            .table_name(&self.table.name)
            .set_key(Some(spent_key(transaction.artist_id, transaction.key, now).item()))
            .update_expression("SET eth = eth - :eth, usdc = usdc - :usdc")
            .condition_expression("eth >= :eth AND usdc >= :usdc")
            .expression_attribute_values(":eth", amount(outlay.eth))
            .expression_attribute_values(":usdc", amount(outlay.usdc));
        updating(update).map(Some)
    }
}
