//! Connected wallets. A wallet belongs to at most one artist.

use std::time::Duration;

use aws_sdk_dynamodb::types::{AttributeValue, ConditionCheck, Delete, TransactWriteItem, Update};
use serde::Deserialize;

use super::{
    artist::{Artist, Artists, WalletRow, profile_key, wallet_key},
    outbox::Outbox,
    profile::{LeavingWallet, Profile, Revision, Writes},
};
use crate::{
    model::{Address, ArtistChange, ArtistId, COUNTS_AFTER, ChainId, Wallet, WalletType},
    store::engine::table::{StoreError, number, text, updating},
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
    /// The proof is of something else, was used, or is by a way in that doesn't count.
    Unproved,
}

/// What proves a connection.
pub(in crate::store) struct ConnectionProof {
    /// Uses up the message that the wallet signed.
    pub(in crate::store) challenge: TransactWriteItem,
    /// Uses up the proof by an old way in, if one was given.
    pub(in crate::store) old_way_in: Option<TransactWriteItem>,
    /// The wallet was connected before, without one.
    pub(in crate::store) was_unproved: bool,
}

impl ConnectionProof {
    fn redemptions(&self) -> Writes<WalletRefusal> {
        let own = (self.challenge.clone(), Some(WalletRefusal::Used));
        let other = self.old_way_in.clone().map(|proof| (proof, Some(WalletRefusal::Unproved)));
        [own].into_iter().chain(other).collect()
    }
}

/// How a wallet is disconnected.
#[derive(Default)]
pub(in crate::store) struct Departure {
    /// From when on, in Unix seconds; at once by default.
    pub(in crate::store) at: Option<u64>,
    /// Uses up the proof, if one was given.
    pub(in crate::store) redemption: Option<TransactWriteItem>,
    /// Fail if another way in that stays was removed meanwhile, and write what else goes with the wallet.
    pub(in crate::store) others: Vec<TransactWriteItem>,
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
        /// It was connected less than a day ago, or without a proof by an old way in.
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
    #[serde(default)]
    unproved: Option<bool>,
}

impl SignInWallet {
    /// One of unknown age is old; one that no old way in proved never is.
    fn is_old(&self, now: u64) -> bool {
        let has_aged = self.connected_at.is_none_or(|at| at.saturating_add(COUNTS_AFTER) <= now);
        self.founded == Some(true) || self.unproved != Some(true) && has_aged
    }
}

/// How an artist came to have a wallet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Founded,
    Proved,
    Unproved,
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
    /// Connects a wallet in one transaction with its `proof`, which fails if that was used before; one that is connected
    /// stays after all, and counts once it is proved. One read and one transaction.
    pub(in crate::store) async fn connect_wallet(
        &self,
        artist: ArtistId,
        wallet: Wallet,
        chain: ChainId,
        proof: &ConnectionProof,
        now: u64,
    ) -> Result<Result<Profile, WalletRefusal>, StoreError> {
        let revision = |profile: &mut Profile| {
            let (was_leaving, is_proved) = (profile.leaves_at(wallet.address).is_some(), proof.old_way_in.is_some());
            let mut writes = proof.redemptions();
            profile.leaving.retain(|leaving| leaving.address != wallet.address);
            if profile.wallets.iter().any(|known| known.address == wallet.address) {
                let proves = is_proved && proof.was_unproved;
                if !was_leaving && !proves {
                    return Ok(Revision::Nothing);
                }
                if proves {
                    writes.push((self.proving(artist, wallet.address, now)?, Some(WalletRefusal::Used)));
                }
                return Ok(Revision::Write(writes));
            }
            if profile.wallets.len() >= MAX_WALLETS {
                return Ok(Revision::Refused(WalletRefusal::TooMany));
            }
            profile.wallets.push(wallet);
            let change = ArtistChange::WalletConnected { wallet: wallet.address };
            let origin = if is_proved { Origin::Proved } else { Origin::Unproved };
            let connection = self.connection(artist, wallet, chain, profile.shown_name(), origin, now)?;
            writes.extend([
                (connection, Some(WalletRefusal::Taken)),
                (Outbox::new(self.0.clone()).posting(artist, change)?, None),
                (Outbox::of_rankings(self.0.clone()).posting(artist, change)?, None),
            ]);
            Ok(Revision::Write(writes))
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

    /// Whether the artist connected the wallet without a proof by an old way in. One read.
    pub(in crate::store) async fn is_unproved(&self, artist: ArtistId, wallet: Address) -> Result<bool, StoreError> {
        let row: Option<SignInWallet> = self.0.get(&wallet_key(wallet)).await?;
        Ok(row.is_some_and(|row| row.artist_id == artist && row.unproved == Some(true)))
    }

    /// Disconnects a wallet of a `loaded` profile, or notes that it is to be; refused without a reason if another change of
    /// the ways in was faster. One read and one transaction.
    pub(in crate::store) async fn disconnect_wallet(
        &self,
        loaded: &Profile,
        address: Address,
        departure: &Departure,
        now: u64,
    ) -> Result<Result<Profile, Option<WalletRefusal>>, StoreError> {
        let artist = loaded.artist.artist_id;
        let revision = |profile: &mut Profile| {
            if profile.version != loaded.version {
                return Ok(Revision::Refused(None));
            }
            let redemption = departure.redemption.clone().map(|proof| (proof, Some(Some(WalletRefusal::Unproved))));
            let others = departure.others.iter().cloned().map(|write| (write, Some(None)));
            let mut writes: Writes<Option<WalletRefusal>> = redemption.into_iter().chain(others).collect();
            if let Some(at) = departure.at {
                if profile.leaves_at(address) == Some(at) {
                    return Ok(Revision::Nothing);
                }
                profile.leaving.push(LeavingWallet { address, at });
                return Ok(Revision::Write(writes));
            }
            profile.leaving.retain(|leaving| leaving.address != address);
            profile.wallets.retain(|wallet| wallet.address != address);
            let delete = Delete::builder()
                .table_name(&self.0.name)
                .set_key(Some(wallet_key(address).item()))
                .condition_expression("artist_id = :artist")
                .expression_attribute_values(":artist", text(artist));
            let change = ArtistChange::WalletRemoved { wallet: address };
            writes.extend([
                (TransactWriteItem::builder().delete(delete.build()?).build(), None),
                (Outbox::new(self.0.clone()).posting(artist, change)?, None),
                (Outbox::of_rankings(self.0.clone()).posting(artist, change)?, None),
            ]);
            Ok(Revision::Write(writes))
        };
        self.revise(artist, now, Some(WalletRefusal::Gone), revision).await
    }

    /// Returns the connected wallets that count as ways in at `now` (Unix seconds), without those that are to be
    /// disconnected. One read.
    pub async fn old_wallets(&self, profile: &Profile, now: u64) -> Result<Vec<OldWallet>, StoreError> {
        let keys: Vec<_> = profile.connected_wallets().map(|wallet| wallet_key(wallet.address)).collect();
        let rows: Vec<SignInWallet> = if keys.is_empty() { Vec::new() } else { self.0.get_many(keys).await? };
        let is_own =
            |row: &SignInWallet| row.artist_id == profile.artist.artist_id && profile.has_connected(row.wallet);
        let stays = |row: &SignInWallet| profile.leaves_at(row.wallet.address).is_none();
        let old = rows.into_iter().filter(|row| is_own(row) && stays(row) && row.is_old(now));
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
            self.connection(artist.artist_id, wallet, chain, "", Origin::Founded, now)?,
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
            unproved: None,
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
        origin: Origin,
        now: u64,
    ) -> Result<TransactWriteItem, StoreError> {
        let chain = (wallet.r#type == WalletType::Smart).then_some(chain);
        let founded = (origin == Origin::Founded).then_some(true);
        let unproved = (origin == Origin::Unproved).then_some(true);
        let row = WalletRow { artist_id, wallet, username, connected_at: Some(now), founded, unproved, chain };
        self.0.insertion(&wallet_key(wallet.address), &row)
    }

    /// Has a wallet that was connected without a proof be connected `now` with one; fails its transaction if it isn't such.
    fn proving(&self, artist: ArtistId, wallet: Address, now: u64) -> Result<TransactWriteItem, StoreError> {
        let update = Update::builder()
            .table_name(&self.0.name)
            .set_key(Some(wallet_key(wallet).item()))
            .update_expression("SET connected_at = :now REMOVE unproved")
            .condition_expression("artist_id = :artist AND unproved = :yes")
            .expression_attribute_values(":now", number(now))
            .expression_attribute_values(":artist", text(artist))
            .expression_attribute_values(":yes", AttributeValue::Bool(true));
        updating(update)
    }
}
