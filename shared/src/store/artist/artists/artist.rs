use std::collections::{BTreeSet, HashMap};

use futures::future::try_join_all;
use serde::{Deserialize, Serialize};

use crate::{
    model::{Address, ArtistId, ChainId, Wallet, WalletType},
    store::{
        artist::rows,
        engine::table::{ArtistTable, PrimaryKey, StoreError},
    },
};

/// An artist as sign-in and writes know them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artist {
    /// Id of the artist.
    pub artist_id: ArtistId,
    /// The Safe that the service deploys and controls for the artist.
    pub embedded_wallet: Address,
}

/// All artists.
#[derive(Clone)]
pub struct Artists(pub(in crate::store::artist) ArtistTable);

#[derive(Serialize)]
pub(super) struct WalletRow<'a> {
    pub(super) artist_id: ArtistId,
    #[serde(flatten)]
    pub(super) wallet: Wallet,
    pub(super) username: &'a str,
    /// Unix seconds; absent for embedded wallets, and for wallets connected before it was stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) connected_at: Option<u64>,
    /// The account began with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) founded: Option<bool>,
    /// No old way in proved that the artist connected it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unproved: Option<bool>,
    /// Chain on which a contract wallet proved itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) chain: Option<ChainId>,
}

#[derive(Deserialize)]
struct OwnerId {
    artist_id: ArtistId,
}

#[derive(Deserialize)]
struct OwnedWallet {
    artist_id: ArtistId,
    #[serde(flatten)]
    wallet: Wallet,
}

#[derive(Deserialize)]
struct NamedOwner {
    address: Address,
    artist_id: ArtistId,
    username: String,
}

#[derive(Deserialize)]
struct WalletName {
    address: Address,
    username: String,
}

impl Artists {
    /// Uses the artist table.
    pub fn new(artists: ArtistTable) -> Self {
        Self(artists)
    }

    /// Returns whether the artist owns the wallet on every chain. A contract wallet proved itself on one; elsewhere its
    /// address may be another's. One read.
    pub async fn owns(&self, artist: ArtistId, wallet: Address) -> Result<bool, StoreError> {
        let owned: Option<OwnedWallet> = self.0.get(&wallet_key(wallet)).await?;
        Ok(owned.is_some_and(|owned| owned.artist_id == artist && owned.wallet.r#type != WalletType::Smart))
    }

    /// Returns which of these wallets the artist [owns](Self::owns). One read each.
    pub async fn owned_of(
        &self,
        artist: ArtistId,
        wallets: impl IntoIterator<Item = Address>,
    ) -> Result<BTreeSet<Address>, StoreError> {
        let owned = wallets
            .into_iter()
            .map(async |wallet| Ok::<_, StoreError>(self.owns(artist, wallet).await?.then_some(wallet)));
        Ok(try_join_all(owned).await?.into_iter().flatten().collect())
    }

    /// Returns usernames by wallet (may be empty); wallets without an owner are left out. One read per 100.
    pub async fn usernames(&self, wallets: &[Address]) -> Result<HashMap<Address, String>, StoreError> {
        let rows: Vec<WalletName> = self.0.get_many(wallets.iter().copied().map(wallet_key)).await?;
        Ok(rows.into_iter().map(|row| (row.address, row.username)).collect())
    }

    /// Returns owners and their usernames (may be empty) by wallet; wallets without an owner are left out. One read per 100.
    pub async fn named_owners(&self, wallets: &[Address]) -> Result<HashMap<Address, (ArtistId, String)>, StoreError> {
        let rows: Vec<NamedOwner> = self.0.get_many(wallets.iter().copied().map(wallet_key)).await?;
        Ok(rows.into_iter().map(|row| (row.address, (row.artist_id, row.username))).collect())
    }

    pub(super) async fn owner(&self, wallet: Address) -> Result<Option<ArtistId>, StoreError> {
        let owner: Option<OwnerId> = self.0.get(&wallet_key(wallet)).await?;
        Ok(owner.map(|owner| owner.artist_id))
    }
}

pub(in crate::store) fn wallet_key(wallet: Address) -> PrimaryKey {
    rows::artist_by_wallet(wallet)
}

pub(in crate::store) fn profile_key(artist: ArtistId) -> PrimaryKey {
    rows::profile(artist)
}
