//! What artists show of themselves. Every change to a profile goes through [`Artists::revise`].

use std::collections::{BTreeSet, HashMap};

use aws_sdk_dynamodb::types::{TransactWriteItem, Update};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Artist, Artists, profile_key, usernames::HeldName, wallet_key};
use crate::{
    model::{Address, ArtistId, Bio, Email, SocialUsername, Username, Wallet},
    store::{
        Item, StoreError, WriteReason, backoff,
        inbox::{ArtistChange, Inbox},
        number,
    },
};

/// What an artist shows of themselves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// Who it is, and the account that the service keeps for them.
    #[serde(flatten)]
    pub artist: Artist,
    /// Unix time in seconds.
    pub created_at: u64,
    /// The name that they go by; empty until they choose one.
    pub username: String,
    /// What they say about themselves; may be empty.
    pub bio: String,
    /// Their name at Instagram; may be empty.
    pub instagram_username: String,
    /// Their name at Twitter; may be empty.
    pub twitter_username: String,
    /// Their name at Telegram; may be empty.
    pub telegram_username: String,
    /// Their wallets, the embedded one first, then in the order in which they were connected.
    pub wallets: Vec<Wallet>,
    /// Unix time in seconds.
    pub updated_at: u64,
    /// Names that they gave up lately, which nobody else can take yet.
    pub(super) held_names: Vec<HeldName>,
    /// Grows with each change, so that of two at once one starts again.
    version: u64,
}

/// What an artist wants to be shown instead of what is shown now; what is `None` stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToSchema)]
pub struct ProfileChange {
    /// The name that they go by.
    pub username: Option<Username>,
    /// What they say about themselves.
    pub bio: Option<Bio>,
    /// Their name at Instagram.
    pub instagram_username: Option<SocialUsername>,
    /// Their name at Twitter.
    pub twitter_username: Option<SocialUsername>,
    /// Their name at Telegram.
    pub telegram_username: Option<SocialUsername>,
}

/// Why a profile can't be changed in the way that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileRefusal {
    /// There is no such artist.
    Gone,
    /// The name is another artist's, or kept for one.
    NameTaken,
    /// [`super::HELD_NAMES`] names are kept for the artist already, the first of them until this Unix time in seconds.
    TooManyNames {
        /// When one of them is free.
        until: u64,
    },
}

/// Writes, each with what it means when its condition doesn't hold; without a meaning, others were faster.
pub(super) type Writes<R> = Vec<(TransactWriteItem, Option<R>)>;

/// What is to be written along with a profile's change.
pub(super) enum Revision<R> {
    /// These.
    Write(Writes<R>),
    /// Nothing is to change.
    Nothing,
    /// The change can't be.
    Refused(R),
}

#[derive(Deserialize)]
struct OwnedWallet {
    artist_id: ArtistId,
    address: Address,
}

#[derive(Serialize)]
struct NewProfile<'a> {
    #[serde(flatten)]
    profile: Profile,
    email: &'a Email,
}

impl Profile {
    /// The artist's own wallets, in the order in which they were connected.
    pub fn own_wallets(&self) -> impl Iterator<Item = Address> {
        let embedded = self.artist.embedded_wallet;
        self.wallets.iter().map(|wallet| wallet.address).filter(move |&address| address != embedded)
    }

    /// Until when each name that the artist gave up is kept, as Unix times in seconds.
    pub fn held_until(&self, now: u64) -> impl Iterator<Item = u64> {
        self.held_names.iter().map(|name| name.until).filter(move |&until| until > now)
    }
}

impl Artists {
    /// What an artist shows of themselves; `None` when there is no such artist. One read.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn profile(&self, artist: ArtistId) -> Result<Option<Profile>, StoreError> {
        self.0.get(&profile_key(artist)).await
    }

    /// The profile of whoever a wallet belongs to; `None` when it is no artist's. Two reads.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn profile_of(&self, wallet: Address) -> Result<Option<Profile>, StoreError> {
        match self.owner(wallet).await? {
            Some(artist) => self.profile(artist).await,
            None => Ok(None),
        }
    }

    /// The profiles of those whom wallets belong to; a wallet that is no artist's is left out. Two reads for every
    /// hundred.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn profiles_of(&self, wallets: &[Address]) -> Result<HashMap<Address, Profile>, StoreError> {
        let wallets = Vec::from_iter(BTreeSet::from_iter(wallets));
        let mut found = HashMap::new();
        for wallets in wallets.chunks(100) {
            let owned: Vec<OwnedWallet> = self.0.get_many(wallets.iter().map(|wallet| wallet_key(**wallet))).await?;
            let owners: BTreeSet<ArtistId> = owned.iter().map(|wallet| wallet.artist_id).collect();
            let profiles: Vec<Profile> = self.0.get_many(owners.into_iter().map(profile_key)).await?;
            let profile_of = |wallet: &OwnedWallet| {
                let profile = profiles.iter().find(|profile| profile.artist.artist_id == wallet.artist_id)?;
                Some((wallet.address, profile.clone()))
            };
            found.extend(owned.iter().filter_map(profile_of));
        }
        Ok(found)
    }

    /// Changes a profile, with everything that shows the name, and gives what it is then. One read and one transaction.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn update_profile(
        &self,
        artist: ArtistId,
        change: &ProfileChange,
        now: u64,
    ) -> Result<Result<Profile, ProfileRefusal>, StoreError> {
        let revision = |profile: &mut Profile| {
            let before = profile.clone();
            let mut writes = match &change.username {
                Some(username) => match self.rename(profile, username, now)? {
                    Ok(writes) => writes,
                    Err(refusal) => return Ok(Revision::Refused(refusal)),
                },
                None => Vec::new(),
            };
            change.apply_texts(profile);
            if *profile == before {
                return Ok(Revision::Nothing);
            }
            let change =
                if profile.username == before.username { ArtistChange::Described } else { ArtistChange::Renamed };
            writes.push((Inbox::new(self.0.clone()).posting(artist, change)?, None));
            Ok(Revision::Write(writes))
        };
        self.revise(artist, now, ProfileRefusal::Gone, revision).await
    }

    /// Reads a profile, lets `revision` change it and say what goes with that, and writes all of it together, again and
    /// again while others change the same. One read and one transaction, if nobody does.
    pub(super) async fn revise<R: Copy>(
        &self,
        artist: ArtistId,
        now: u64,
        gone: R,
        revision: impl Fn(&mut Profile) -> Result<Revision<R>, StoreError>,
    ) -> Result<Result<Profile, R>, StoreError> {
        const ATTEMPTS: u32 = 8;
        for attempt in 0..ATTEMPTS {
            let Some(mut profile) = self.profile(artist).await? else { return Ok(Err(gone)) };
            let (writes, meanings): (Vec<_>, Vec<_>) = match revision(&mut profile)? {
                Revision::Write(writes) => writes.into_iter().unzip(),
                Revision::Nothing => return Ok(Ok(profile)),
                Revision::Refused(refusal) => return Ok(Err(refusal)),
            };
            profile.updated_at = now;
            let writes = writes.into_iter().chain([self.replacement(&mut profile)?]).collect();
            let Err(reasons) = self.0.write_or_reasons(writes).await? else { return Ok(Ok(profile)) };
            let refused = reasons.into_iter().zip(meanings).find_map(|(reason, meaning)| match reason {
                WriteReason::Condition => meaning,
                _ => None,
            });
            if let Some(refusal) = refused {
                return Ok(Err(refusal));
            }
            tokio::time::sleep(backoff(attempt)).await;
        }
        Err(StoreError::Contention("a profile"))
    }

    /// The write that makes a new artist's profile.
    pub(super) fn first_profile(
        &self,
        email: &Email,
        artist: &Artist,
        wallet: Wallet,
        now: u64,
    ) -> Result<TransactWriteItem, StoreError> {
        let profile = Profile {
            artist: *artist,
            created_at: now,
            username: String::new(),
            bio: String::new(),
            instagram_username: String::new(),
            twitter_username: String::new(),
            telegram_username: String::new(),
            wallets: vec![wallet],
            updated_at: now,
            held_names: Vec::new(),
            version: 0,
        };
        self.0.insertion(&profile_key(artist.artist_id), &NewProfile { profile, email })
    }

    /// The write that puts a profile in the place of the one that it was made from, if that is still there. What isn't
    /// of the profile stays in the row.
    fn replacement(&self, profile: &mut Profile) -> Result<TransactWriteItem, StoreError> {
        let loaded = profile.version;
        profile.version += 1;
        let mut update = Update::builder()
            .table_name(&self.0.name)
            .set_key(Some(profile_key(profile.artist.artist_id).item()))
            .condition_expression("version = :loaded")
            .expression_attribute_values(":loaded", number(loaded));
        let mut settings = Vec::new();
        let fields: Item = serde_dynamo::to_item(&*profile)?;
        for (name, value) in fields {
            settings.push(format!("#{name} = :{name}"));
            update = update
                .expression_attribute_names(format!("#{name}"), &name)
                .expression_attribute_values(format!(":{name}"), value);
        }
        let update = update.update_expression(format!("SET {}", settings.join(", "))).build()?;
        Ok(TransactWriteItem::builder().update(update).build())
    }
}

impl ProfileChange {
    fn apply_texts(&self, profile: &mut Profile) {
        let texts = [
            (&mut profile.bio, self.bio.as_ref().map(Bio::as_str)),
            (&mut profile.instagram_username, self.instagram_username.as_ref().map(SocialUsername::as_str)),
            (&mut profile.twitter_username, self.twitter_username.as_ref().map(SocialUsername::as_str)),
            (&mut profile.telegram_username, self.telegram_username.as_ref().map(SocialUsername::as_str)),
        ];
        for (field, text) in texts {
            if let Some(text) = text {
                text.clone_into(field);
            }
        }
    }
}
