//! Collections, moments and what belongs to them. Rows: docs/data-model.md, Collections and moments.

use serde::{Deserialize, Serialize};

use crate::{
    aws::Dispatch,
    model::{Address, ChainId, Collection, FeeRecipient, Moment, MomentRef, MomentSale, Protocol, Royalty},
    store::{
        chain::rows,
        engine::{
            index::UnitOfWork,
            table::{ChainTable, PrimaryKey, StoreError, text},
        },
    },
};

/// Reads of collections and moments.
#[derive(Clone)]
pub struct Moments(ChainTable);

/// Settings of a token that does not exist yet, which the contracts allow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlySettings {
    /// See [`Moment::admins`].
    pub admins: Vec<Address>,
    /// See [`Moment::sales`].
    pub sales: Vec<MomentSale>,
    /// See [`Moment::royalty`].
    pub royalty: Option<Royalty>,
}

/// A tier of an edition: tokens of the same work.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tier {
    /// Base of the metadata URIs of its tokens.
    pub uri: String,
    /// Number of tokens minted.
    pub minted: u64,
}

impl Tier {
    /// Returns the metadata URI of the `nth` token, counted from 1; empty if there is no base.
    pub fn uri_of(&self, nth: u64) -> String {
        match self.uri.trim_end_matches('/') {
            "" => String::new(),
            base => format!("{base}/{nth}"),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct KnownCollection {
    #[serde(rename = "sk", skip_serializing)]
    address: Option<Address>,
    protocol: Protocol,
}

#[derive(Serialize, Deserialize)]
struct AdministeredRow {
    collection: Address,
}

#[derive(Clone, Serialize, Deserialize)]
struct SplitRow {
    recipients: Vec<FeeRecipient>,
}

impl Moments {
    /// Uses the chain table.
    pub fn new(chain: ChainTable) -> Self {
        Self(chain)
    }

    /// Returns a collection. One read.
    pub async fn collection(&self, chain: ChainId, address: Address) -> Result<Option<Collection>, StoreError> {
        self.0.get(&collection_key(chain, address)).await
    }

    /// Returns a moment. One read.
    pub async fn moment(&self, moment: &MomentRef) -> Result<Option<Moment>, StoreError> {
        self.0.get(&moment_key(moment)).await
    }

    /// Returns the recipients of a split's proceeds. One read.
    pub async fn split(&self, chain: ChainId, address: Address) -> Result<Option<Vec<FeeRecipient>>, StoreError> {
        let row: Option<SplitRow> = self.0.get(&split_key(chain, address)).await?;
        Ok(row.map(|row| row.recipients))
    }

    /// Returns every collection of a chain. Cost grows with the chain: for the indexer's start, never for a request.
    pub async fn collection_addresses(&self, chain: ChainId) -> Result<Vec<(Address, Protocol)>, StoreError> {
        let rows: Vec<KnownCollection> = self.0.partition(rows::known_collections(chain)).await?;
        Ok(rows.into_iter().filter_map(|row| Some((row.address?, row.protocol))).collect())
    }

    /// Returns up to 100 collections that `account` is an admin of, by address, after `after`. One Query.
    pub async fn administered(
        &self,
        chain: ChainId,
        account: Address,
        after: Option<Address>,
    ) -> Result<Vec<Address>, StoreError> {
        let call = self
            .0
            .query()
            .key_condition_expression("pk = :account AND sk > :after")
            .expression_attribute_values(":account", text(rows::administered_collections(chain, account)))
            .expression_attribute_values(":after", text(after.map_or("0".to_owned(), |after| after.to_string())))
            .limit(100);
        let rows: Vec<AdministeredRow> = serde_dynamo::from_items(call.dispatch().await?.items.unwrap_or_default())?;
        Ok(rows.into_iter().map(|row| row.collection).collect())
    }
}

impl UnitOfWork {
    /// Returns a collection.
    pub async fn collection(&mut self, chain: ChainId, address: Address) -> Result<Option<Collection>, StoreError> {
        self.get_often(&collection_key(chain, address)).await
    }

    /// Adds a new collection.
    pub fn add_collection(&mut self, collection: &Collection) -> Result<(), StoreError> {
        let known = rows::known_collection(collection.chain_id, collection.address);
        self.put(&known, &KnownCollection { address: None, protocol: collection.protocol })?;
        self.put_collection(collection)
    }

    /// Replaces a collection.
    pub fn put_collection(&mut self, collection: &Collection) -> Result<(), StoreError> {
        self.put_often(&collection_key(collection.chain_id, collection.address), collection)
    }

    /// Returns a moment.
    pub async fn moment(&mut self, moment: &MomentRef) -> Result<Option<Moment>, StoreError> {
        self.get_often(&moment_key(moment)).await
    }

    /// Adds or replaces a moment.
    pub fn put_moment(&mut self, moment: &Moment) -> Result<(), StoreError> {
        self.put_often(&moment_key(&moment.place()), moment)
    }

    /// Returns the early settings of a token.
    pub async fn early_settings(&mut self, moment: &MomentRef) -> Result<Option<EarlySettings>, StoreError> {
        self.get(&early_key(moment)).await
    }

    /// Stores the early settings of a token.
    pub fn put_early_settings(&mut self, moment: &MomentRef, settings: &EarlySettings) -> Result<(), StoreError> {
        self.put(&early_key(moment), settings)
    }

    /// Deletes the early settings of a token that now exists.
    pub fn remove_early_settings(&mut self, moment: &MomentRef) {
        self.delete(&early_key(moment));
    }

    /// Returns a tier of an edition.
    pub async fn tier(&mut self, chain: ChainId, edition: Address, tier: u8) -> Result<Option<Tier>, StoreError> {
        self.get(&rows::tier(chain, edition, tier)).await
    }

    /// Replaces a tier of an edition.
    pub fn put_tier(&mut self, chain: ChainId, edition: Address, tier: u8, to: &Tier) -> Result<(), StoreError> {
        self.put(&rows::tier(chain, edition, tier), to)
    }

    /// Adds or removes a collection from those that `account` is an admin of.
    pub fn put_administered(
        &mut self,
        chain: ChainId,
        collection: Address,
        account: Address,
        is_admin: bool,
    ) -> Result<(), StoreError> {
        let key = rows::administered_collection(chain, account, collection);
        if is_admin {
            return self.put(&key, &AdministeredRow { collection });
        }
        self.delete(&key);
        Ok(())
    }

    /// Returns the recipients of a revenue split; `None` if the address is none.
    pub async fn split(&mut self, chain: ChainId, address: Address) -> Result<Option<Vec<FeeRecipient>>, StoreError> {
        let row: Option<SplitRow> = self.get_often(&split_key(chain, address)).await?;
        Ok(row.map(|row| row.recipients))
    }

    /// Stores the recipients of a revenue split.
    pub fn put_split(
        &mut self,
        chain: ChainId,
        address: Address,
        recipients: Vec<FeeRecipient>,
    ) -> Result<(), StoreError> {
        self.put_often(&split_key(chain, address), &SplitRow { recipients })
    }
}

/// Key of a collection.
pub fn collection_key(chain: ChainId, address: Address) -> PrimaryKey {
    rows::collection(chain, address)
}

/// Keys of a moment and of its early settings.
pub fn moment_keys(moment: &MomentRef) -> [PrimaryKey; 2] {
    [moment_key(moment), early_key(moment)]
}

/// Key of a moment.
pub fn moment_key(moment: &MomentRef) -> PrimaryKey {
    rows::moment(moment.chain, moment.collection, &moment.token.to_string())
}

fn early_key(moment: &MomentRef) -> PrimaryKey {
    rows::early_settings(moment.chain, moment.collection, &moment.token.to_string())
}

/// Key of a revenue split.
pub fn split_key(chain: ChainId, address: Address) -> PrimaryKey {
    rows::split(chain, address)
}
