//! Many artists at once, as lists show them. One read for every hundred.

use std::collections::HashMap;

use serde::Deserialize;

use super::{Artists, profile_key, wallet_key};
use crate::{
    model::{Address, ArtistId, Wallet},
    store::StoreError,
};

/// Most rows that are read at once.
const MAX_READ: usize = 100;

/// What lists show of an artist.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Introduction {
    /// Who it is.
    pub artist_id: ArtistId,
    /// The name that they go by; empty until they choose one.
    pub username: String,
    /// Their wallets, the embedded one first.
    pub wallets: Vec<Wallet>,
}

#[derive(Deserialize)]
struct OwnedWallet {
    address: Address,
    artist_id: ArtistId,
}

impl Artists {
    /// Whose these different wallets are; one that is no artist's is left out.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn owners(&self, wallets: &[Address]) -> Result<HashMap<Address, ArtistId>, StoreError> {
        let mut owners = HashMap::new();
        for wallets in wallets.chunks(MAX_READ) {
            let rows: Vec<OwnedWallet> = self.0.get_many(wallets.iter().copied().map(wallet_key)).await?;
            owners.extend(rows.into_iter().map(|row| (row.address, row.artist_id)));
        }
        Ok(owners)
    }

    /// These different artists; an id that is none's is left out.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn introductions(&self, artists: &[ArtistId]) -> Result<HashMap<ArtistId, Introduction>, StoreError> {
        let mut known = HashMap::new();
        for artists in artists.chunks(MAX_READ) {
            let rows: Vec<Introduction> = self.0.get_many(artists.iter().copied().map(profile_key)).await?;
            known.extend(rows.into_iter().map(|row| (row.artist_id, row)));
        }
        Ok(known)
    }
}
