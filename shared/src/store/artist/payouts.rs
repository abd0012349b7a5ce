//! Addresses that an artist's money may go to besides their own wallets. Rows: docs/data-model.md, Artists.

use aws_sdk_dynamodb::types::{Delete, TransactWriteItem, Update};
use serde::{Deserialize, Serialize};

use crate::{
    aws::Dispatch,
    model::{Address, ArtistId},
    store::{
        artist::{
            artists::{Artists, PAYOUT_DELAY},
            rows,
        },
        engine::table::{ArtistTable, StoreError, number, text, updating},
    },
};

/// Most addresses of an artist.
pub const MAX_PAYOUTS: u32 = 20;

/// An address to withdraw to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PayoutAddress {
    /// The account.
    pub address: Address,
    /// When it was added, in Unix seconds.
    pub added_at: u64,
}

/// Payout addresses of all artists.
#[derive(Clone)]
pub struct PayoutAddresses(ArtistTable);

impl PayoutAddress {
    /// When it can be paid, in Unix seconds.
    pub fn usable_at(self) -> u64 {
        self.added_at + PAYOUT_DELAY.as_secs()
    }
}

impl PayoutAddresses {
    /// Uses the artist table.
    pub fn new(artists: ArtistTable) -> Self {
        Self(artists)
    }

    /// Adds an address; `false` if it is there already or the artist has [`MAX_PAYOUTS`]. One write.
    pub async fn add(&self, artist: ArtistId, added: &PayoutAddress) -> Result<bool, StoreError> {
        let count = self
            .count(artist)
            .update_expression("ADD kept :one")
            .condition_expression("attribute_not_exists(kept) OR kept < :max")
            .expression_attribute_values(":one", number(1))
            .expression_attribute_values(":max", number(MAX_PAYOUTS));
        let writes = vec![updating(count)?, self.0.insertion(&rows::payout_address(artist, added.address), added)?];
        self.0.write_together(writes).await
    }

    /// Returns when the artist's money can go to an address, in Unix seconds; `None` unless it is their wallet or payout
    /// address. Two reads.
    pub async fn payable_from(&self, artist: ArtistId, to: Address) -> Result<Option<u64>, StoreError> {
        match Artists::new(self.0.clone()).payable_from(artist, to).await? {
            None => Ok(self.find(artist, to).await?.map(PayoutAddress::usable_at)),
            payable_from => Ok(payable_from),
        }
    }

    /// Returns an address, if the artist added it. One read.
    pub async fn find(&self, artist: ArtistId, address: Address) -> Result<Option<PayoutAddress>, StoreError> {
        self.0.get(&rows::payout_address(artist, address)).await
    }

    /// Returns an artist's addresses. One Query.
    pub async fn list(&self, artist: ArtistId) -> Result<Vec<PayoutAddress>, StoreError> {
        let call = self.0.query().key_condition_expression("pk = :pk AND begins_with(sk, :prefix)");
        let call = call.expression_attribute_values(":pk", text(rows::payout_addresses(artist)));
        let answer = call.expression_attribute_values(":prefix", text("0x")).dispatch().await?;
        Ok(serde_dynamo::from_items(answer.items.unwrap_or_default())?)
    }

    /// Removes an address; `false` if the artist has no such address. One write.
    pub async fn remove(&self, artist: ArtistId, address: Address) -> Result<bool, StoreError> {
        let count = self
            .count(artist)
            .update_expression("ADD kept :minus_one")
            .expression_attribute_values(":minus_one", number(-1));
        let delete =
            Delete::builder().table_name(&self.0.name).set_key(Some(rows::payout_address(artist, address).item()));
        let delete = delete.condition_expression("attribute_exists(pk)").build()?;
        self.0.write_together(vec![updating(count)?, TransactWriteItem::builder().delete(delete).build()]).await
    }

    fn count(&self, artist: ArtistId) -> aws_sdk_dynamodb::types::builders::UpdateBuilder {
        let key = rows::payout_count(artist);
        Update::builder().table_name(&self.0.name).set_key(Some(key.item()))
    }
}
