//! Batch reads of artists. One read per 100.

use std::collections::HashMap;

use serde::Deserialize;

use super::artist::{Artists, profile_key, wallet_key};
use crate::{
    model::{Address, ArtistId, Wallet},
    store::engine::table::StoreError,
};

/// An artist as shown in lists.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "ProfileRow")]
pub struct Introduction {
    /// Id of the artist.
    pub artist_id: ArtistId,
    /// Username; empty until one is chosen, and if the operator hid the artist.
    pub username: String,
    /// Wallets, the embedded one first.
    pub wallets: Vec<Wallet>,
}

#[derive(Deserialize)]
struct ProfileRow {
    artist_id: ArtistId,
    username: String,
    wallets: Vec<Wallet>,
    #[serde(default)]
    is_withheld: bool,
}

#[derive(Deserialize)]
struct OwnedWallet {
    address: Address,
    artist_id: ArtistId,
}

impl From<ProfileRow> for Introduction {
    fn from(ProfileRow { artist_id, username, wallets, is_withheld }: ProfileRow) -> Self {
        Self { artist_id, username: if is_withheld { String::new() } else { username }, wallets }
    }
}

impl Artists {
    /// Returns owners by wallet. Wallets must differ; those without an owner are left out.
    pub async fn owners(&self, wallets: &[Address]) -> Result<HashMap<Address, ArtistId>, StoreError> {
        Ok(owners(self.0.get_many(wallets.iter().copied().map(wallet_key)).await?))
    }

    /// [`Artists::owners`] without wallets whose rows can't be read.
    pub async fn readable_owners(&self, wallets: &[Address]) -> Result<HashMap<Address, ArtistId>, StoreError> {
        Ok(owners(self.0.get_readable(wallets.iter().copied().map(wallet_key)).await?))
    }

    /// Returns artists by id. Ids must differ; unknown ones are left out.
    pub async fn introductions(&self, artists: &[ArtistId]) -> Result<HashMap<ArtistId, Introduction>, StoreError> {
        let rows: Vec<Introduction> = self.0.get_many(artists.iter().copied().map(profile_key)).await?;
        Ok(rows.into_iter().map(|row| (row.artist_id, row)).collect())
    }
}

fn owners(wallets: Vec<OwnedWallet>) -> HashMap<Address, ArtistId> {
    wallets.into_iter().map(|wallet| (wallet.address, wallet.artist_id)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hidden_artist_has_no_username() {
        let introduced = |is_withheld: bool| -> Introduction {
            let id = "019a2b3c-4d5e-7f60-8172-839405a6b7c8";
            let row = json!({"artist_id": id, "username": "rude", "wallets": [], "is_withheld": is_withheld});
            serde_json::from_value(row).unwrap()
        };
        assert_eq!(introduced(false).username, "rude");
        assert_eq!(introduced(true).username, "");
    }
}
