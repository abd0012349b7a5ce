//! Collections and their moments, in the table of what the chain can rebuild.
//!
//! - `pk = COLLECTION#<chain>#<address>`, `sk = COLLECTION`: a collection;
//! - `pk = COLLECTIONS#<chain>`, `sk = <address>`: that there is one, of which protocol, for the indexer's start;
//! - `pk = MOMENTS#<chain>#<collection>`, `sk = <token id, 78 digits>`: a moment, in the order of token ids;
//! - `pk = EARLY#<chain>#<collection>`, `sk = <token id, 78 digits>`: what was set for a token that isn't there yet;
//! - `pk = PERMISSIONS#<chain>#<collection>#<token id>`, `sk = <address>`: what an account may do with a token, or with
//!   token id 0 on the whole collection;
//! - `pk = TIER#<chain>#<collection>#<tier>`, `sk = TIER`: a tier of an edition;
//! - `pk = ADMIN_OF#<chain>#<account>`, `sk = <collection>`: that the account is an admin of the whole collection;
//! - `pk = SPLIT#<chain>#<address>`, `sk = SPLIT`: who gets how much of what a revenue split receives.

use std::collections::{BTreeSet, HashMap};

use alloy::primitives::U256;
use serde::{Deserialize, Serialize};

use super::{Key, StoreError, Table, Unit, text};
use crate::model::{
    Address, Amount, ChainId, Collection, FeeRecipient, Moment, MomentRef, MomentSale, Protocol, Royalty,
};

/// All collections and moments, for those who read.
#[derive(Clone)]
pub struct Moments(Table);

/// What was set for a token before it was there: the contracts allow it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlySettings {
    /// See [`Moment::admins`].
    pub admins: Vec<Address>,
    /// See [`Moment::sales`].
    pub sales: Vec<MomentSale>,
    /// See [`Moment::royalty`].
    pub royalty: Option<Royalty>,
}

/// A tier of an edition: tokens that are the same work.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tier {
    /// What the metadata URIs of its tokens begin with.
    pub uri: String,
    /// How many tokens it has.
    pub minted: u64,
}

impl Tier {
    /// The metadata URI of its `nth` token, counted from 1; empty where nobody said.
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
struct PermissionRow {
    permissions: Amount,
}

#[derive(Serialize, Deserialize)]
struct AdministeredRow {
    collection: Address,
}

#[derive(Serialize, Deserialize)]
struct SplitRow {
    recipients: Vec<FeeRecipient>,
}

impl Moments {
    /// The collections and moments in the chain's table.
    pub fn new(chain: Table) -> Self {
        Self(chain)
    }

    /// A collection. One read.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn collection(&self, chain: ChainId, address: Address) -> Result<Option<Collection>, StoreError> {
        self.0.get(&collection_key(chain, address)).await
    }

    /// A moment. One read.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn moment(&self, moment: &MomentRef) -> Result<Option<Moment>, StoreError> {
        self.0.get(&moment_key(moment)).await
    }

    /// Collections of a chain by their addresses; unknown ones are left out. One read for every hundred.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn collections(
        &self,
        chain: ChainId,
        addresses: impl IntoIterator<Item = Address>,
    ) -> Result<HashMap<Address, Collection>, StoreError> {
        let addresses = BTreeSet::from_iter(addresses);
        let mut found = HashMap::new();
        for addresses in Vec::from_iter(addresses).chunks(100) {
            let keys = addresses.iter().map(|address| collection_key(chain, *address));
            let rows: Vec<Collection> = self.0.get_many(keys).await?;
            found.extend(rows.into_iter().map(|row| (row.address, row)));
        }
        Ok(found)
    }

    /// Moments in the order in which they are asked for; unknown ones are left out. One read for every hundred.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn moments(&self, places: &[MomentRef]) -> Result<Vec<Moment>, StoreError> {
        let mut found = HashMap::new();
        for places in Vec::from_iter(BTreeSet::from_iter(places)).chunks(100) {
            let rows: Vec<Moment> = self.0.get_many(places.iter().map(|place| moment_key(place))).await?;
            found.extend(rows.into_iter().map(|row| (row.place(), row)));
        }
        Ok(places.iter().filter_map(|place| found.remove(place)).collect())
    }

    /// Every collection of a chain. Grows with the chain: for the indexer's start alone, never for a request.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn collection_addresses(&self, chain: ChainId) -> Result<Vec<(Address, Protocol)>, StoreError> {
        let call = self
            .0
            .client
            .query()
            .table_name(&self.0.name)
            .key_condition_expression("pk = :collections")
            .expression_attribute_values(":collections", text(known_partition(chain)))
            .consistent_read(true);
        let items = call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await?;
        let rows: Vec<KnownCollection> = serde_dynamo::from_items(items)?;
        Ok(rows.into_iter().filter_map(|row| Some((row.address?, row.protocol))).collect())
    }

    /// Collections that an account was an admin of, all of them, when the chain was read last: those after `after`, by
    /// their addresses, 100 at most. One Query.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn administered(
        &self,
        chain: ChainId,
        account: Address,
        after: Option<Address>,
    ) -> Result<Vec<Address>, StoreError> {
        let call = self
            .0
            .client
            .query()
            .table_name(&self.0.name)
            .key_condition_expression("pk = :account AND sk > :after")
            .expression_attribute_values(":account", text(administered_partition(chain, account)))
            .expression_attribute_values(":after", text(after.map_or("0".to_owned(), |after| after.to_string())))
            .consistent_read(true)
            .limit(100);
        let rows: Vec<AdministeredRow> = serde_dynamo::from_items(call.send().await?.items.unwrap_or_default())?;
        Ok(rows.into_iter().map(|row| row.collection).collect())
    }
}

impl Unit {
    /// A collection.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn collection(&mut self, chain: ChainId, address: Address) -> Result<Option<Collection>, StoreError> {
        self.get(&collection_key(chain, address)).await
    }

    /// Adds a collection that isn't known yet.
    ///
    /// # Errors
    /// When it can't be written as a row.
    pub fn add_collection(&mut self, collection: &Collection) -> Result<(), StoreError> {
        let known = Key::new(known_partition(collection.chain_id), collection.address.to_string());
        self.put(&known, &KnownCollection { address: None, protocol: collection.protocol })?;
        self.put_collection(collection)
    }

    /// Replaces what is known of a collection.
    ///
    /// # Errors
    /// When it can't be written as a row.
    pub fn put_collection(&mut self, collection: &Collection) -> Result<(), StoreError> {
        self.put(&collection_key(collection.chain_id, collection.address), collection)
    }

    /// A moment.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn moment(&mut self, moment: &MomentRef) -> Result<Option<Moment>, StoreError> {
        self.get(&moment_key(moment)).await
    }

    /// Replaces what is known of a moment, or adds it.
    ///
    /// # Errors
    /// When it can't be written as a row.
    pub fn put_moment(&mut self, moment: &Moment) -> Result<(), StoreError> {
        self.put(&moment_key(&moment.place()), moment)
    }

    /// What was set for a token that isn't there yet.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn early_settings(&mut self, moment: &MomentRef) -> Result<Option<EarlySettings>, StoreError> {
        self.get(&early_key(moment)).await
    }

    /// Keeps what was set for a token that isn't there yet.
    ///
    /// # Errors
    /// When it can't be written as a row.
    pub fn put_early_settings(&mut self, moment: &MomentRef, settings: &EarlySettings) -> Result<(), StoreError> {
        self.put(&early_key(moment), settings)
    }

    /// Forgets what was set for a token, now that it is there.
    pub fn remove_early_settings(&mut self, moment: &MomentRef) {
        self.delete(&early_key(moment));
    }

    /// Keeps what an account may do with a token, or with token id 0 on the whole collection: the contract's mask.
    ///
    /// # Errors
    /// When it can't be written as a row.
    pub fn put_permissions(&mut self, on: &MomentRef, account: Address, permissions: U256) -> Result<(), StoreError> {
        let key = Key::new(format!("PERMISSIONS#{on}"), account.to_string());
        if permissions.is_zero() {
            self.delete(&key);
            return Ok(());
        }
        self.put(&key, &PermissionRow { permissions: Amount(permissions) })
    }

    /// A tier of an edition.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn tier(&mut self, chain: ChainId, edition: Address, tier: u8) -> Result<Option<Tier>, StoreError> {
        self.get(&tier_key(chain, edition, tier)).await
    }

    /// Replaces what is known of a tier of an edition.
    ///
    /// # Errors
    /// When it can't be written as a row.
    pub fn put_tier(&mut self, chain: ChainId, edition: Address, tier: u8, to: &Tier) -> Result<(), StoreError> {
        self.put(&tier_key(chain, edition, tier), to)
    }

    /// Lists a collection among those that an account is an admin of, or takes it out.
    ///
    /// # Errors
    /// When it can't be written as a row.
    pub fn put_administered(
        &mut self,
        chain: ChainId,
        collection: Address,
        account: Address,
        is_admin: bool,
    ) -> Result<(), StoreError> {
        let key = Key::new(administered_partition(chain, account), collection.to_string());
        if is_admin {
            return self.put(&key, &AdministeredRow { collection });
        }
        self.delete(&key);
        Ok(())
    }

    /// Who gets how much of what an account receives, if it is a revenue split.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn split(&mut self, chain: ChainId, address: Address) -> Result<Option<Vec<FeeRecipient>>, StoreError> {
        let row: Option<SplitRow> = self.get(&split_key(chain, address)).await?;
        Ok(row.map(|row| row.recipients))
    }

    /// Keeps who gets how much of what a split receives.
    ///
    /// # Errors
    /// When it can't be written as a row.
    pub fn put_split(
        &mut self,
        chain: ChainId,
        address: Address,
        recipients: Vec<FeeRecipient>,
    ) -> Result<(), StoreError> {
        self.put(&split_key(chain, address), &SplitRow { recipients })
    }
}

/// Where a collection is kept.
pub fn collection_key(chain: ChainId, address: Address) -> Key {
    Key::new(format!("COLLECTION#{chain}#{address}"), "COLLECTION")
}

/// Where a moment is kept, and what was set before it was there.
pub fn moment_keys(moment: &MomentRef) -> [Key; 2] {
    [moment_key(moment), early_key(moment)]
}

/// Where a moment is kept.
pub fn moment_key(moment: &MomentRef) -> Key {
    Key::new(format!("MOMENTS#{}#{}", moment.chain, moment.collection), token_digits(moment))
}

fn early_key(moment: &MomentRef) -> Key {
    Key::new(format!("EARLY#{}#{}", moment.chain, moment.collection), token_digits(moment))
}

fn tier_key(chain: ChainId, edition: Address, tier: u8) -> Key {
    Key::new(format!("TIER#{chain}#{edition}#{tier}"), "TIER")
}

/// Where it is kept who gets how much of what a split receives.
pub fn split_key(chain: ChainId, address: Address) -> Key {
    Key::new(format!("SPLIT#{chain}#{address}"), "SPLIT")
}

fn administered_partition(chain: ChainId, account: Address) -> String {
    format!("ADMIN_OF#{chain}#{account}")
}

fn known_partition(chain: ChainId) -> String {
    format!("COLLECTIONS#{chain}")
}

fn token_digits(moment: &MomentRef) -> String {
    format!("{:0>78}", moment.token.to_string())
}
