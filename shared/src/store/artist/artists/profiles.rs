//! Reading and changing profiles. Every change updates all affected rows and posts to the outbox in one transaction.

use std::collections::{BTreeSet, HashMap};

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem, Update};

use super::{
    artist::{Artist, Artists, profile_key},
    outbox::Outbox,
    profile::{Profile, ProfileChange, ProfileRefusal, Revision, Writes},
};
use crate::{
    aws::Dispatch,
    model::{
        Address, ArtistChange, ArtistEvent, ArtistId, Bio, Cid, Event, EventData, EventId, Picture, SocialUsername,
        Wallet,
    },
    store::{
        artist::service_events::ServiceEvents,
        engine::table::{Item, StoreError, WriteReason, backoff, number, text, unless_refused, updating},
    },
};

impl Artists {
    /// Returns a profile. One read.
    pub async fn profile(&self, artist: ArtistId) -> Result<Option<Profile>, StoreError> {
        self.0.get(&profile_key(artist)).await
    }

    /// Returns the profile of a wallet's owner; `None` if the wallet has none. Two reads.
    pub async fn profile_of(&self, wallet: Address) -> Result<Option<Profile>, StoreError> {
        match self.owner(wallet).await? {
            Some(artist) => self.profile(artist).await,
            None => Ok(None),
        }
    }

    /// Returns profiles by wallet; wallets without an owner are left out. Two reads per 100 wallets.
    pub async fn profiles_of(&self, wallets: &[Address]) -> Result<HashMap<Address, Profile>, StoreError> {
        let wallets = Vec::from_iter(BTreeSet::from_iter(wallets.iter().copied()));
        let owners = self.owners(&wallets).await?;
        let artists: BTreeSet<ArtistId> = owners.values().copied().collect();
        let profiles: Vec<Profile> = self.0.get_many(artists.into_iter().map(profile_key)).await?;
        let by_artist: HashMap<_, _> = profiles.iter().map(|profile| (profile.artist.artist_id, profile)).collect();
        let profile_of = |(wallet, artist)| Some((wallet, (*by_artist.get(&artist)?).clone()));
        Ok(owners.into_iter().filter_map(profile_of).collect())
    }

    /// Changes a profile and every row that shows the name; returns the new profile. One read and one transaction; twice
    /// if another artist has the shape of a name from before look-alikes counted.
    pub async fn update_profile(
        &self,
        artist: ArtistId,
        change: &ProfileChange,
        now: u64,
    ) -> Result<Result<Profile, ProfileRefusal>, StoreError> {
        let gone = Some(ProfileRefusal::Gone);
        let revision = |profile: &mut Profile| self.change(profile, change, true, now);
        let mut updated = self.revise(artist, now, gone, revision).await?;
        if matches!(updated, Err(None)) {
            let revision = |profile: &mut Profile| self.change(profile, change, false, now);
            updated = self.revise(artist, now, gone, revision).await?;
        }
        Ok(updated.map_err(|refusal| refusal.unwrap_or(ProfileRefusal::NameTaken)))
    }

    /// Refused with `None` if it `claims_shape` of a name without one, and that is another artist's.
    fn change(
        &self,
        profile: &mut Profile,
        change: &ProfileChange,
        claims_shape: bool,
        now: u64,
    ) -> Result<Revision<Option<ProfileRefusal>>, StoreError> {
        if let Some(suspension) = profile.suspension.filter(|suspension| suspension.holds_at(now)) {
            return Ok(Revision::Refused(Some(ProfileRefusal::Suspended(suspension))));
        }
        let before = profile.clone();
        let named = match &change.username {
            Some(username) => match self.rename(profile, username, now)? {
                Ok(writes) => writes,
                Err(refusal) => return Ok(Revision::Refused(Some(refusal))),
            },
            None => Vec::new(),
        };
        change.apply_texts(profile);
        change.apply_face(profile);
        if *profile == before {
            return Ok(Revision::Nothing);
        }
        let mut writes: Writes<Option<ProfileRefusal>> =
            named.into_iter().map(|(write, refusal)| (write, refusal.map(Some))).collect();
        if claims_shape && let Some(claim) = self.claim_shape(profile, now)? {
            writes.push((claim, Some(None)));
        }
        let change = if profile.username == before.username { ArtistChange::Described } else { ArtistChange::Renamed };
        writes.push((Outbox::new(self.0.clone()).posting(profile.artist.artist_id, change)?, None));
        Ok(Revision::Write(writes))
    }

    /// Stores the forms of an artist's picture, unless the artist has another one meanwhile. One write.
    pub async fn set_avatar_forms(&self, artist: ArtistId, avatar: Cid, forms: &Picture) -> Result<(), StoreError> {
        let call = self.0.client.update_item().table_name(&self.0.name).set_key(Some(profile_key(artist).item()));
        let call = call
            .update_expression("SET avatar_forms = :forms")
            .condition_expression("avatar = :avatar")
            .expression_attribute_values(":forms", AttributeValue::M(serde_dynamo::to_item(forms)?))
            .expression_attribute_values(":avatar", text(avatar));
        unless_refused(call.dispatch().await).map(drop)
    }

    /// Writes what `revision` changes, in one transaction; starts over after a concurrent change.
    pub(super) async fn revise<R: Copy>(
        &self,
        artist: ArtistId,
        now: u64,
        gone: R,
        revision: impl Fn(&mut Profile) -> Result<Revision<R>, StoreError>,
    ) -> Result<Result<Profile, R>, StoreError> {
        const ATTEMPTS: u32 = 20;
        for attempt in 0..ATTEMPTS {
            let Some(loaded) = self.profile(artist).await? else { return Ok(Err(gone)) };
            let mut profile = loaded.clone();
            let (writes, told) = match revision(&mut profile)? {
                Revision::Write(writes) => (writes, Vec::new()),
                Revision::Tell(writes, told) => (writes, told),
                Revision::Nothing => return Ok(Ok(profile)),
                Revision::Refused(refusal) => return Ok(Err(refusal)),
            };
            let (writes, meanings): (Vec<_>, Vec<_>) = writes.into_iter().unzip();
            (profile.version, profile.updated_at) = (loaded.version + 1, now);
            let replacement = self.replacement(&loaded, &profile)?;
            let told: Vec<Event> = [updated(&profile, now)].into_iter().chain(told).collect();
            let events = ServiceEvents::new(self.0.clone()).appending(&told, now).await?;
            let writes = writes.into_iter().chain([replacement]).chain(events).collect();
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

    pub(super) fn first_profile(
        &self,
        artist: &Artist,
        wallets: Vec<Wallet>,
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
            avatar: None,
            avatar_forms: None,
            links: Vec::new(),
            wallets,
            is_withheld: false,
            suspension: None,
            updated_at: now,
            leaving: Vec::new(),
            held_names: Vec::new(),
            has_shape: false,
            version: 0,
        };
        self.0.insertion(&profile_key(artist.artist_id), &profile)
    }

    /// Writes what differs from the `loaded` profile alone: roles name the fields that their function may change.
    fn replacement(&self, loaded: &Profile, profile: &Profile) -> Result<TransactWriteItem, StoreError> {
        let mut update = Update::builder()
            .table_name(&self.0.name)
            .set_key(Some(profile_key(profile.artist.artist_id).item()))
            .condition_expression("version = :loaded")
            .expression_attribute_values(":loaded", number(loaded.version));
        let mut settings = Vec::new();
        let (before, after): (Item, Item) = (serde_dynamo::to_item(loaded)?, serde_dynamo::to_item(profile)?);
        for (name, value) in after.into_iter().filter(|(name, value)| before.get(name) != Some(value)) {
            settings.push(format!("#{name} = :{name}"));
            update = update
                .expression_attribute_names(format!("#{name}"), &name)
                .expression_attribute_values(format!(":{name}"), value);
        }
        let update = update.update_expression(format!("SET {}", settings.join(", ")));
        updating(update)
    }
}

fn updated(profile: &Profile, now: u64) -> Event {
    let Artist { artist_id, embedded_wallet } = profile.artist;
    let id = EventId::named(&format!("artist.updated/{artist_id}/{}", profile.version));
    let data = EventData::ArtistUpdated(ArtistEvent { address: embedded_wallet });
    Event { id, time: now, is_reverted: false, data }
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

    fn apply_face(&self, profile: &mut Profile) {
        if let Some(avatar) = self.avatar {
            profile.avatar = avatar.0;
        }
        if let Some(links) = &self.links {
            profile.links.clone_from(links);
        }
    }
}
