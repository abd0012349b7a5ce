//! Wallets that artists connect. A wallet is one artist's.

use aws_sdk_dynamodb::types::{Delete, TransactWriteItem};

use super::{Artists, Profile, WalletRow, profiles::Revision, wallet_key};
use crate::{
    model::{Address, ArtistId, Wallet},
    store::{
        Challenges, StoreError, StoredChallenge,
        inbox::{ArtistChange, Inbox},
        text,
    },
};

/// Most wallets that an artist has, with the one that the service keeps: what changes together must fit one transaction.
pub const MAX_WALLETS: usize = 10;

/// Why a wallet can't be connected or disconnected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalletRefusal {
    /// There is no such artist.
    Gone,
    /// It is another artist's.
    Taken,
    /// The artist has [`MAX_WALLETS`].
    TooMany,
    /// The message that proves it was used meanwhile.
    Used,
    /// It isn't the artist's.
    Unknown,
    /// It is the one that the service keeps.
    Embedded,
}

impl Artists {
    /// Connects a wallet to the artist who was given this challenge, and uses the challenge up. One read and one
    /// transaction.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn connect_wallet(
        &self,
        wallet: Wallet,
        challenge: &StoredChallenge,
        challenges: &Challenges,
        now: u64,
    ) -> Result<Result<Profile, WalletRefusal>, StoreError> {
        let artist = challenge.artist_id;
        let revision = |profile: &mut Profile| {
            if profile.wallets.iter().any(|known| known.address == wallet.address) {
                return Ok(Revision::Nothing);
            }
            if profile.wallets.len() >= MAX_WALLETS {
                return Ok(Revision::Refused(WalletRefusal::TooMany));
            }
            profile.wallets.push(wallet);
            let change = ArtistChange::WalletConnected { wallet: wallet.address };
            Ok(Revision::Write(vec![
                (challenges.redemption(challenge)?, Some(WalletRefusal::Used)),
                (self.wallet_insertion(artist, wallet, &profile.username)?, Some(WalletRefusal::Taken)),
                (Inbox::new(self.0.clone()).posting(artist, change)?, None),
                (Inbox::of_rankings(self.0.clone()).posting(artist, change)?, None),
            ]))
        };
        self.revise(artist, now, WalletRefusal::Gone, revision).await
    }

    /// Disconnects a wallet of an artist. One read and one transaction.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn disconnect_wallet(
        &self,
        artist: ArtistId,
        address: Address,
        now: u64,
    ) -> Result<Result<Profile, WalletRefusal>, StoreError> {
        let revision = |profile: &mut Profile| {
            if address == profile.artist.embedded_wallet {
                return Ok(Revision::Refused(WalletRefusal::Embedded));
            }
            let Some(position) = profile.wallets.iter().position(|wallet| wallet.address == address) else {
                return Ok(Revision::Refused(WalletRefusal::Unknown));
            };
            profile.wallets.remove(position);
            let delete = Delete::builder()
                .table_name(&self.0.name)
                .set_key(Some(wallet_key(address).item()))
                .condition_expression("artist_id = :artist")
                .expression_attribute_values(":artist", text(artist));
            let change = ArtistChange::WalletRemoved { wallet: address };
            Ok(Revision::Write(vec![
                (TransactWriteItem::builder().delete(delete.build()?).build(), None),
                (Inbox::new(self.0.clone()).posting(artist, change)?, None),
                (Inbox::of_rankings(self.0.clone()).posting(artist, change)?, None),
            ]))
        };
        self.revise(artist, now, WalletRefusal::Gone, revision).await
    }

    pub(super) fn wallet_insertion(
        &self,
        artist: ArtistId,
        wallet: Wallet,
        username: &str,
    ) -> Result<TransactWriteItem, StoreError> {
        self.0.insertion(&wallet_key(wallet.address), &WalletRow { artist_id: artist, wallet, username })
    }
}
