//! Usernames are unique among those that look alike; a name that is given up stays reserved for its artist for a while. A
//! name has two rows: of its folded form, by which it is found, and of its shape, which keeps look-alikes away. A name that
//! was taken before look-alikes counted has the first alone, until its artist changes the profile, or for good if the shape
//! is another's.

use std::time::Duration;

use aws_sdk_dynamodb::types::{Put, TransactWriteItem, Update};
use serde::{Deserialize, Serialize};

use super::{
    artist::{Artists, wallet_key},
    profile::{HeldName, Profile, ProfileRefusal, Writes},
};
use crate::{
    model::{Address, ArtistId, ArtistName, CheckedAddress, FoldedName, NameShape, Recipient, Username},
    store::{
        artist::rows,
        artist::search::{ListedArtist, Search},
        engine::table::{PrimaryKey, StoreError, number, row, text, updating},
    },
};

/// How long a given-up name stays reserved, so that nobody can impersonate its artist.
pub const NAME_HELD_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Maximum number of reserved names per artist, so that nobody can hoard names.
pub const HELD_NAMES: usize = 3;

#[derive(Serialize)]
struct NameRow<'a> {
    artist_id: ArtistId,
    username: &'a str,
}

#[derive(Deserialize)]
struct NameOwner {
    artist_id: ArtistId,
    /// Set once the name is given up.
    expires_at: Option<u64>,
}

impl Artists {
    /// Returns all wallets of an artist; of a wallet without one, that alone; of an unknown name, none. Two reads.
    pub async fn accounts(&self, artist: &ArtistName) -> Result<Vec<Address>, StoreError> {
        Ok(match (self.profile_named(artist).await?, artist) {
            (Some(profile), _) => profile.wallets.iter().map(|wallet| wallet.address).collect(),
            (None, ArtistName::Account(account)) => vec![*account],
            (None, ArtistName::Username(_)) => Vec::new(),
        })
    }

    /// Returns the profile of the artist who has a username or a wallet. Two reads.
    pub async fn profile_named(&self, artist: &ArtistName) -> Result<Option<Profile>, StoreError> {
        let name = match artist {
            ArtistName::Account(account) => return self.profile_of(*account).await,
            ArtistName::Username(name) => name,
        };
        let owner: Option<NameOwner> = self.0.get(&name_key(name.as_str())).await?;
        let Some(owner) = owner.filter(|owner| owner.expires_at.is_none()) else { return Ok(None) };
        let named = FoldedName::of(name.as_str());
        let profile = self.profile(owner.artist_id).await?;
        Ok(profile.filter(|profile| FoldedName::of(&profile.username) == named))
    }

    /// Returns a recipient's account, of an artist the embedded wallet; `None` for an unknown username. Two reads for a
    /// username.
    pub async fn account_of(&self, recipient: &Recipient) -> Result<Option<Address>, StoreError> {
        match recipient {
            Recipient::Account(CheckedAddress(account)) => Ok(Some(*account)),
            Recipient::Username(username) => {
                let profile = self.profile_named(&ArtistName::Username(username.clone())).await?;
                Ok(profile.map(|profile| profile.artist.embedded_wallet))
            }
        }
    }

    /// Also returns the writes for the names' rows, the wallets and the search index.
    pub(super) fn rename(
        &self,
        profile: &mut Profile,
        username: &Username,
        now: u64,
    ) -> Result<Result<Writes<ProfileRefusal>, ProfileRefusal>, StoreError> {
        let artist = profile.artist.artist_id;
        if profile.username == username.as_str() {
            return Ok(Ok(Vec::new()));
        }
        let (folded, shape) = (FoldedName::of(&profile.username), NameShape::of(&profile.username));
        let new = NameShape::of(username.as_str());
        let is_same = folded == FoldedName::of(username.as_str());
        let held = held_keys(profile);
        let claimed = if is_same { held.clone() } else { name_keys(username.as_str()) };
        profile.held_names.retain(|name| name.until > now && NameShape::of(&name.folded) != new);
        let mut until = now;
        if !profile.username.is_empty() && shape != new {
            if profile.held_names.len() >= HELD_NAMES {
                let until = profile.held_names.iter().map(|name| name.until).min().unwrap_or(now);
                return Ok(Err(ProfileRefusal::TooManyNames { until }));
            }
            until = now + NAME_HELD_FOR.as_secs();
            profile.held_names.push(HeldName { folded: folded.to_string(), until });
        }
        let mut writes = Vec::new();
        for key in &claimed {
            writes.push((self.claim(key, artist, username.as_str(), now)?, Some(ProfileRefusal::NameTaken)));
        }
        for key in held.iter().filter(|key| !claimed.contains(key)) {
            writes.push((self.release(key, artist, until)?, None));
        }
        profile.has_shape |= !is_same;
        let before = std::mem::replace(&mut profile.username, username.to_string());
        writes.extend(self.show_name(profile, &before)?.into_iter().map(|write| (write, None)));
        Ok(Ok(writes))
    }

    /// The writes that show a profile's name, in the place of `before` (may be empty), at its wallets and in the search.
    pub(super) fn show_name(&self, profile: &Profile, before: &str) -> Result<Vec<TransactWriteItem>, StoreError> {
        let name = profile.shown_name();
        let listed = ListedArtist { address: profile.artist.embedded_wallet, username: name.to_owned() };
        let before = Some(before).filter(|name| !name.is_empty());
        let mut writes = Search::new(self.0.clone()).relist(before, Some(&listed).filter(|_| !name.is_empty()))?;
        for wallet in &profile.wallets {
            let update = Update::builder()
                .table_name(&self.0.name)
                .set_key(Some(wallet_key(wallet.address).item()))
                .update_expression("SET username = :username")
                // The profile, whose version is checked, says whose it is: no role may name a wallet's owner for a name.
                .condition_expression("attribute_exists(pk)")
                .expression_attribute_values(":username", text(name));
            writes.push(updating(update)?);
        }
        Ok(writes)
    }

    /// Takes the shape of a name that was taken before look-alikes counted; `None` if there is no row to take.
    pub(super) fn claim_shape(&self, profile: &mut Profile, now: u64) -> Result<Option<TransactWriteItem>, StoreError> {
        if profile.username.is_empty() || std::mem::replace(&mut profile.has_shape, true) {
            return Ok(None);
        }
        let shape = rows::username(NameShape::of(&profile.username).as_str());
        if shape == name_key(&profile.username) {
            return Ok(None);
        }
        self.claim(&shape, profile.artist.artist_id, &profile.username, now).map(Some)
    }

    fn claim(
        &self,
        key: &PrimaryKey,
        artist: ArtistId,
        username: &str,
        now: u64,
    ) -> Result<TransactWriteItem, StoreError> {
        let put = Put::builder()
            .table_name(&self.0.name)
            .set_item(Some(row(key, &NameRow { artist_id: artist, username })?))
            .condition_expression("attribute_not_exists(pk) OR artist_id = :artist OR expires_at <= :now")
            .expression_attribute_values(":artist", text(artist))
            .expression_attribute_values(":now", number(now));
        Ok(TransactWriteItem::builder().put(put.build()?).build())
    }

    fn release(&self, key: &PrimaryKey, artist: ArtistId, until: u64) -> Result<TransactWriteItem, StoreError> {
        let update = Update::builder()
            .table_name(&self.0.name)
            .set_key(Some(key.item()))
            .update_expression("SET expires_at = :until")
            .condition_expression("artist_id = :artist")
            .expression_attribute_values(":until", number(until))
            .expression_attribute_values(":artist", text(artist));
        updating(update)
    }
}

/// The row by which a name, as it was given or folded, is found.
fn name_key(name: &str) -> PrimaryKey {
    rows::username(FoldedName::of(name).as_str())
}

/// All rows of a name, as it was given or folded.
pub(super) fn name_keys(name: &str) -> Vec<PrimaryKey> {
    let (found, shape) = (name_key(name), rows::username(NameShape::of(name).as_str()));
    if found == shape { vec![found] } else { vec![found, shape] }
}

/// The rows of a profile's name that are the artist's.
pub(super) fn held_keys(profile: &Profile) -> Vec<PrimaryKey> {
    match profile.username.as_str() {
        "" => Vec::new(),
        name if profile.has_shape => name_keys(name),
        name => vec![name_key(name)],
    }
}
