//! Artists, in the table of what the chain can't rebuild.
//!
//! - `pk = ARTIST#<id>`, `sk = PROFILE`: the artist, with their wallets;
//! - `pk = EMAIL#<address>`, `sk = ARTIST`: which artist signs in with it, and the wallet, so that a sign-in is one read;
//! - `pk = WALLET#<address>`, `sk = ARTIST`: whose wallet it is, with the name to show for it;
//! - `pk = USERNAME#<folded name>`, `sk = ARTIST`: whose name it is, or until when it is kept for whom.
//!
//! Whatever changes one of these changes all that say the same in one transaction, and tells the indexer.

mod introductions;
mod profiles;
mod usernames;
mod wallets;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

pub use self::{
    introductions::Introduction,
    profiles::{Profile, ProfileChange, ProfileRefusal},
    usernames::{HELD_NAMES, NAME_HELD_FOR},
    wallets::{MAX_WALLETS, WalletRefusal},
};
use super::{Key, StoreError, Table};
use crate::model::{Address, ArtistId, Email, Wallet, WalletType};

/// An artist as sign-in knows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artist {
    /// The artist's id.
    pub artist_id: ArtistId,
    /// The account that the service keeps for them.
    pub embedded_wallet: Address,
    /// The operator lane that owns the account.
    pub lane: Address,
}

/// All artists.
#[derive(Clone)]
pub struct Artists(Table);

#[derive(Serialize)]
struct WalletRow<'a> {
    artist_id: ArtistId,
    #[serde(flatten)]
    wallet: Wallet,
    username: &'a str,
}

#[derive(Deserialize)]
struct WalletOwner {
    artist_id: ArtistId,
}

#[derive(Deserialize)]
struct WalletName {
    address: Address,
    username: String,
}

impl Artists {
    /// The artists in their table.
    pub fn new(artists: Table) -> Self {
        Self(artists)
    }

    /// The artist who signs in with this address. One read.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn find_by_email(&self, email: &Email) -> Result<Option<Artist>, StoreError> {
        self.0.get(&email_key(email)).await
    }

    /// Makes an artist with this address and embedded wallet. `false` when the address has one already.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn create(&self, email: &Email, artist: &Artist, now: u64) -> Result<bool, StoreError> {
        let wallet = Wallet { address: artist.embedded_wallet, r#type: WalletType::Embedded };
        let rows = vec![
            self.0.insertion(&email_key(email), artist)?,
            self.first_profile(email, artist, wallet, now)?,
            self.wallet_insertion(artist.artist_id, wallet, "")?,
        ];
        self.0.write_together(rows).await
    }

    /// Whether a wallet is this artist's. One read.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn owns(&self, artist: ArtistId, wallet: Address) -> Result<bool, StoreError> {
        Ok(self.owner(wallet).await? == Some(artist))
    }

    /// The names to show for wallets; one that is no artist's, or whose artist has no name, is left out. One read for
    /// every hundred.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn usernames(&self, wallets: &[Address]) -> Result<HashMap<Address, String>, StoreError> {
        let mut names = HashMap::new();
        for wallets in wallets.chunks(100) {
            let rows: Vec<WalletName> = self.0.get_many(wallets.iter().copied().map(wallet_key)).await?;
            names.extend(rows.into_iter().map(|row| (row.address, row.username)));
        }
        Ok(names)
    }

    /// Whose wallet it is. One read.
    async fn owner(&self, wallet: Address) -> Result<Option<ArtistId>, StoreError> {
        let owner: Option<WalletOwner> = self.0.get(&wallet_key(wallet)).await?;
        Ok(owner.map(|owner| owner.artist_id))
    }
}

fn email_key(email: &Email) -> Key {
    Key::new(format!("EMAIL#{email}"), "ARTIST")
}

fn wallet_key(wallet: Address) -> Key {
    Key::new(format!("WALLET#{wallet}"), "ARTIST")
}

pub(super) fn profile_key(artist: ArtistId) -> Key {
    Key::new(format!("ARTIST#{artist}"), "PROFILE")
}
