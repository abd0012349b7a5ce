//! What the indexer is to carry into the rows of the chains, in the table of what the chain can't rebuild: changes to
//! artists, each posted in the transaction that makes it, so that none is lost.
//!
//! `pk = INBOX` or `pk = INBOX#RANKINGS`, `sk = <UUID v7>`: one change. It says what changed and not to what: whoever carries it reads the artist
//! as they are then, so that neither the order of changes nor doing one twice matters.

use aws_sdk_dynamodb::types::{Put, TransactWriteItem};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Key, StoreError, Table, row, text};
use crate::model::{Address, ArtistId};

/// What changed of an artist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ArtistChange {
    /// The name, and perhaps what else the profile says.
    Renamed,
    /// What the profile says besides the name.
    Described,
    /// A wallet became theirs.
    WalletConnected {
        /// Which.
        wallet: Address,
    },
    /// A wallet is no longer theirs.
    WalletRemoved {
        /// Which.
        wallet: Address,
    },
}

/// A change that waits to be carried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtistChanged {
    /// Which posting it is; later ones sort after earlier ones.
    #[serde(rename = "sk")]
    pub id: Uuid,
    /// Whose.
    pub artist_id: ArtistId,
    /// What.
    #[serde(flatten)]
    pub change: ArtistChange,
}

/// All changes that wait for one reader.
#[derive(Clone)]
pub struct Inbox {
    table: Table,
    partition: &'static str,
}

#[derive(Serialize)]
struct Posting {
    artist_id: ArtistId,
    #[serde(flatten)]
    change: ArtistChange,
}

impl Inbox {
    /// The indexer's inbox, in the artists' table: every change.
    pub fn new(artists: Table) -> Self {
        Self { table: artists, partition: "INBOX" }
    }

    /// The inbox of whoever ranks collectors: wallets that change hands.
    pub fn of_rankings(artists: Table) -> Self {
        Self { table: artists, partition: "INBOX#RANKINGS" }
    }

    /// The write that posts a change, for the transaction that makes it.
    pub(super) fn posting(&self, artist_id: ArtistId, change: ArtistChange) -> Result<TransactWriteItem, StoreError> {
        let item = row(&self.key(Uuid::now_v7()), &Posting { artist_id, change })?;
        let put = Put::builder().table_name(&self.table.name).set_item(Some(item)).build()?;
        Ok(TransactWriteItem::builder().put(put).build())
    }

    /// The oldest changes, `limit` at most. One Query.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn oldest(&self, limit: u16) -> Result<Vec<ArtistChanged>, StoreError> {
        let call = self
            .table
            .client
            .query()
            .table_name(&self.table.name)
            .key_condition_expression("pk = :inbox")
            .expression_attribute_values(":inbox", text(self.partition))
            .limit(limit.into())
            .consistent_read(true);
        Ok(serde_dynamo::from_items(call.send().await?.items.unwrap_or_default())?)
    }

    /// Takes out a change that was carried. One write.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn remove(&self, id: Uuid) -> Result<(), StoreError> {
        let call = self.table.client.delete_item().table_name(&self.table.name);
        call.set_key(Some(self.key(id).item())).send().await?;
        Ok(())
    }

    fn key(&self, id: Uuid) -> Key {
        Key::new(self.partition, id.to_string())
    }
}
