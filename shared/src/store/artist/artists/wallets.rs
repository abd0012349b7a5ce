//! Connected wallets. A wallet belongs to at most one artist.

use aws_sdk_dynamodb::types::{Delete, TransactWriteItem};

use serde::Deserialize;

use super::{
    artist::{Artists, WalletRow, wallet_key},
    outbox::Outbox,
    profile::{Profile, Revision},
};
use crate::{
    model::{Address, ArtistChange, ArtistId, Wallet},
    store::{
        artist::payouts::PAYOUT_DELAY,
        engine::table::{StoreError, text},
    },
};

/// Maximum number of wallets per artist, the embedded one included: a rename updates all of them in one transaction.
pub const MAX_WALLETS: usize = 10;

/// Reason to refuse a wallet change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalletRefusal {
    /// The artist does not exist.
    Gone,
    /// The wallet belongs to another artist.
    Taken,
    /// The artist already has [`MAX_WALLETS`].
    TooMany,
    /// The challenge was used in the meantime.
    Used,
    /// The wallet is not one of the artist's.
    Unknown,
    /// The embedded wallet can't be disconnected.
    Embedded,
}

#[derive(Deserialize)]
struct Connection {
    #[serde(default)]
    connected_at: Option<u64>,
}

impl Artists {
    /// Connects a wallet in one transaction with `redemption`, which fails if the wallet's proof was used before. One
    /// read and one transaction.
    pub(in crate::store) async fn connect_wallet(
        &self,
        artist: ArtistId,
        wallet: Wallet,
        redemption: &TransactWriteItem,
        now: u64,
    ) -> Result<Result<Profile, WalletRefusal>, StoreError> {
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
                (redemption.clone(), Some(WalletRefusal::Used)),
                (self.wallet_insertion(artist, wallet, profile.shown_name(), Some(now))?, Some(WalletRefusal::Taken)),
                (Outbox::new(self.0.clone()).posting(artist, change)?, None),
                (Outbox::of_rankings(self.0.clone()).posting(artist, change)?, None),
            ]))
        };
        self.revise(artist, now, WalletRefusal::Gone, revision).await
    }

    /// Returns when money can go to a connected wallet, in Unix seconds. One read.
    pub async fn payable_from(&self, wallet: Address) -> Result<u64, StoreError> {
        let row: Option<Connection> = self.0.get(&wallet_key(wallet)).await?;
        Ok(row.and_then(|row| row.connected_at).map_or(0, |at| at.saturating_add(PAYOUT_DELAY.as_secs())))
    }

    /// Disconnects a wallet. One read and one transaction.
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
                (Outbox::new(self.0.clone()).posting(artist, change)?, None),
                (Outbox::of_rankings(self.0.clone()).posting(artist, change)?, None),
            ]))
        };
        self.revise(artist, now, WalletRefusal::Gone, revision).await
    }

    pub(super) fn wallet_insertion(
        &self,
        artist: ArtistId,
        wallet: Wallet,
        username: &str,
        connected_at: Option<u64>,
    ) -> Result<TransactWriteItem, StoreError> {
        self.0.insertion(&wallet_key(wallet.address), &WalletRow { artist_id: artist, wallet, username, connected_at })
    }
}
