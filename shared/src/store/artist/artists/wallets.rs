//! Connected wallets. A wallet belongs to at most one artist.

use std::time::Duration;

use aws_sdk_dynamodb::types::{ConditionCheck, Delete, TransactWriteItem};
use serde::Deserialize;

use super::{
    artist::{Artist, Artists, WalletRow, profile_key, wallet_key},
    outbox::Outbox,
    profile::{Profile, Revision},
};
use crate::{
    model::{Address, ArtistChange, ArtistId, COUNTS_AFTER, ChainId, Wallet, WalletType},
    store::engine::table::{StoreError, number, text},
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
    /// The artist has no other way in.
    LastWayIn,
}

/// A way in that an artist keeps while a wallet is disconnected.
pub(in crate::store) enum OtherWayIn {
    /// Another wallet that is old, as long as the profile has this version.
    Wallet(u64),
    /// One of another kind: the check fails its transaction if that was removed meanwhile.
    Checked(Box<TransactWriteItem>),
}

impl OtherWayIn {
    /// An old wallet of the profile.
    pub(in crate::store) fn wallet(profile: &Profile) -> Self {
        Self::Wallet(profile.version)
    }
}

/// A connected wallet that counts as a way in and whose signature is a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OldWallet {
    /// Its address.
    pub address: Address,
    /// Chain on which a contract is asked; `None` for a key.
    pub chain: Option<ChainId>,
}

/// Whose a wallet is that signs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalletOwner {
    /// An artist's who connected it.
    Artist {
        /// The artist.
        artist: Artist,
        /// It was connected less than a day ago.
        is_young: bool,
    },
    /// An account of the service, or a contract that proved itself on another chain.
    Other,
    /// Nobody's.
    Nobody,
}

#[derive(Deserialize)]
struct SignInWallet {
    artist_id: ArtistId,
    #[serde(flatten)]
    wallet: Wallet,
    #[serde(default)]
    chain: Option<ChainId>,
    #[serde(default)]
    connected_at: Option<u64>,
    #[serde(default)]
    founded: Option<bool>,
}

impl SignInWallet {
    /// One of unknown age is old.
    fn is_old(&self, now: u64) -> bool {
        self.founded == Some(true) || self.connected_at.is_none_or(|at| at.saturating_add(COUNTS_AFTER) <= now)
    }
}

/// How long after it was added an address can be paid.
pub const PAYOUT_DELAY: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Deserialize)]
struct Connection {
    artist_id: ArtistId,
    #[serde(flatten)]
    wallet: Wallet,
    #[serde(default)]
    connected_at: Option<u64>,
}

impl Connection {
    /// A contract wallet proved itself on one chain; elsewhere its address may be another's.
    fn is_payable_for(&self, artist: ArtistId) -> bool {
        self.artist_id == artist && self.wallet.r#type == WalletType::External
    }
}

impl Artists {
    /// Connects a wallet in one transaction with `redemption`, which fails if the wallet's proof was used before. One
    /// read and one transaction.
    pub(in crate::store) async fn connect_wallet(
        &self,
        artist: ArtistId,
        wallet: Wallet,
        chain: ChainId,
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
                (self.connection(artist, wallet, chain, profile.shown_name(), false, now)?, Some(WalletRefusal::Taken)),
                (Outbox::new(self.0.clone()).posting(artist, change)?, None),
                (Outbox::of_rankings(self.0.clone()).posting(artist, change)?, None),
            ]))
        };
        self.revise(artist, now, WalletRefusal::Gone, revision).await
    }

    /// Returns when the artist's money can go to a connected wallet, in Unix seconds. One read, two for the artist's own.
    pub(in crate::store::artist) async fn payable_from(
        &self,
        artist: ArtistId,
        wallet: Address,
    ) -> Result<Option<u64>, StoreError> {
        let row: Option<Connection> = self.0.get(&wallet_key(wallet)).await?;
        let Some(row) = row.filter(|row| row.is_payable_for(artist)) else { return Ok(None) };
        let profile = self.profile(artist).await?.filter(|profile| profile.has_connected(row.wallet));
        Ok(profile.map(|_| row.connected_at.map_or(0, |at| at.saturating_add(PAYOUT_DELAY.as_secs()))))
    }

    /// Disconnects a wallet. It takes an `other` way in, and is refused as [`WalletRefusal::LastWayIn`] if that is no more,
    /// too. One read and one transaction.
    pub(in crate::store) async fn disconnect_wallet(
        &self,
        artist: ArtistId,
        address: Address,
        other: Option<&OtherWayIn>,
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
            let mut writes = vec![
                (TransactWriteItem::builder().delete(delete.build()?).build(), None),
                (Outbox::new(self.0.clone()).posting(artist, change)?, None),
                (Outbox::of_rankings(self.0.clone()).posting(artist, change)?, None),
            ];
            match other {
                Some(OtherWayIn::Wallet(version)) if *version == profile.version => {}
                Some(OtherWayIn::Checked(check)) => writes.push(((**check).clone(), Some(WalletRefusal::LastWayIn))),
                _ => return Ok(Revision::Refused(WalletRefusal::LastWayIn)),
            }
            Ok(Revision::Write(writes))
        };
        self.revise(artist, now, WalletRefusal::Gone, revision).await
    }

    /// Returns the connected wallets that count as ways in at `now` (Unix seconds). One read.
    pub async fn old_wallets(&self, profile: &Profile, now: u64) -> Result<Vec<OldWallet>, StoreError> {
        let keys: Vec<_> = profile.connected_wallets().map(|wallet| wallet_key(wallet.address)).collect();
        let rows: Vec<SignInWallet> = if keys.is_empty() { Vec::new() } else { self.0.get_many(keys).await? };
        let is_own =
            |row: &SignInWallet| row.artist_id == profile.artist.artist_id && profile.has_connected(row.wallet);
        let old = rows.into_iter().filter(|row| is_own(row) && row.is_old(now));
        // A contract that proved itself on an unknown chain can't be asked.
        let old = old.filter(|row| row.wallet.r#type != WalletType::Smart || row.chain.is_some());
        Ok(old.map(|row| OldWallet { address: row.wallet.address, chain: row.chain }).collect())
    }

    /// Fails its transaction if the profile, and so its wallets, has changed since it was `loaded`.
    pub(in crate::store) fn unchanged_profile(&self, loaded: &Profile) -> Result<TransactWriteItem, StoreError> {
        let check = ConditionCheck::builder()
            .table_name(&self.0.name)
            .set_key(Some(profile_key(loaded.artist.artist_id).item()))
            .condition_expression("version = :loaded")
            .expression_attribute_values(":loaded", number(loaded.version));
        Ok(TransactWriteItem::builder().condition_check(check.build()?).build())
    }

    /// Returns whose sign-in a proved wallet is: its row and the artist's profile must agree. A contract wallet proved
    /// itself on one chain; elsewhere its address may be another's. `now` is in Unix seconds. Up to two reads.
    pub async fn find_by_wallet(&self, wallet: Wallet, chain: ChainId, now: u64) -> Result<WalletOwner, StoreError> {
        let row: Option<SignInWallet> = self.0.get(&wallet_key(wallet.address)).await?;
        let Some(row) = row else { return Ok(WalletOwner::Nobody) };
        let is_same = row.wallet.r#type == wallet.r#type
            && match wallet.r#type {
                WalletType::External => true,
                WalletType::Smart => row.chain == Some(chain),
                WalletType::Embedded => false,
            };
        let profile = if is_same { self.profile(row.artist_id).await? } else { None };
        let profile = profile.filter(|profile| profile.has_connected(wallet));
        let is_young = !row.is_old(now);
        Ok(profile.map_or(WalletOwner::Other, |profile| WalletOwner::Artist { artist: profile.artist, is_young }))
    }

    /// Creates an artist who has a wallet and no mail address; `false` if the wallet is an artist's. One transaction.
    pub async fn create_with_wallet(
        &self,
        artist: &Artist,
        wallet: Wallet,
        chain: ChainId,
        now: u64,
    ) -> Result<bool, StoreError> {
        let embedded = Wallet { address: artist.embedded_wallet, r#type: WalletType::Embedded };
        let change = ArtistChange::WalletConnected { wallet: wallet.address };
        let rows = vec![
            self.connection(artist.artist_id, wallet, chain, "", true, now)?,
            self.embedded_insertion(artist)?,
            self.first_profile(artist, vec![embedded, wallet], now)?,
            Outbox::new(self.0.clone()).posting(artist.artist_id, change)?,
            Outbox::of_rankings(self.0.clone()).posting(artist.artist_id, change)?,
        ];
        self.0.write_together(rows).await
    }

    pub(super) fn embedded_insertion(&self, artist: &Artist) -> Result<TransactWriteItem, StoreError> {
        let wallet = Wallet { address: artist.embedded_wallet, r#type: WalletType::Embedded };
        let row = WalletRow {
            artist_id: artist.artist_id,
            wallet,
            username: "",
            connected_at: None,
            founded: None,
            chain: None,
        };
        self.0.insertion(&wallet_key(wallet.address), &row)
    }

    fn connection(
        &self,
        artist_id: ArtistId,
        wallet: Wallet,
        chain: ChainId,
        username: &str,
        founds: bool,
        now: u64,
    ) -> Result<TransactWriteItem, StoreError> {
        let chain = (wallet.r#type == WalletType::Smart).then_some(chain);
        let founded = founds.then_some(true);
        let row = WalletRow { artist_id, wallet, username, connected_at: Some(now), founded, chain };
        self.0.insertion(&wallet_key(wallet.address), &row)
    }
}
