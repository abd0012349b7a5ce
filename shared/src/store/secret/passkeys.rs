//! Passkeys of artists, and ceremonies in which they are added or used. Rows: docs/data-model.md, Passkeys.

use aws_sdk_dynamodb::types::{AttributeValue, ConditionCheck, Put, ReturnValue, TransactWriteItem, Update};
use serde::{Deserialize, Serialize};

use crate::{
    aws::Dispatch,
    model::{ArtistId, COUNTS_AFTER, CeremonyId, PasskeyId, PasskeyName},
    store::{
        engine::table::{SecretTable, StoreError, number, row, text, unless_refused, updating},
        secret::rows,
    },
};

/// Most passkeys of an artist.
pub const MAX_PASSKEYS: usize = 10;

/// How long a passkey or a wallet still signs in that was removed without one, in seconds.
pub(in crate::store) const REMOVAL_DELAY: u64 = 7 * 24 * 60 * 60;

/// How long a ceremony can be answered, in seconds.
const CEREMONY_LIFETIME: u64 = 5 * 60;

/// A passkey as stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StoredPasskey {
    /// Its id.
    pub id: PasskeyId,
    /// What its artist calls it.
    pub name: PasskeyName,
    /// Public key and counter, as JSON of the library that verifies them.
    pub credential: String,
    /// When it was added, in Unix seconds.
    pub created_at: u64,
    /// When it signed in last, in Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_at: Option<u64>,
    /// When it is removed, in Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
}

/// What a passkey is to answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ceremony {
    /// State of the library that verifies the answer, as JSON.
    pub state: String,
    /// Artist who adds a passkey; `None` for a sign-in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artist_id: Option<ArtistId>,
    expires_at: u64,
}

/// Passkeys of all artists.
#[derive(Clone)]
pub struct Passkeys(SecretTable);

/// An artist's passkeys, as tokens are judged by them; one row, which all changes of passkeys agree on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PasskeyMark {
    version: u64,
    passkeys: Vec<MarkedPasskey>,
}

/// A passkey in the mark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkedPasskey {
    /// Its id.
    pub id: PasskeyId,
    /// From when it counts, in Unix seconds.
    pub counts_from: u64,
    /// When it is removed, in Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
}

impl StoredPasskey {
    fn is_live(&self, now: u64) -> bool {
        self.expires_at.is_none_or(|at| at > now)
    }

    /// Whether its answer is a proof at `now` (Unix seconds): it is a day old and isn't to be removed.
    pub fn proves(&self, now: u64) -> bool {
        self.marked().proves(now)
    }

    /// What the mark has of it.
    pub(in crate::store) fn marked(&self) -> MarkedPasskey {
        let counts_from = self.created_at.saturating_add(COUNTS_AFTER);
        MarkedPasskey { id: self.id.clone(), counts_from, expires_at: self.expires_at }
    }
}

impl MarkedPasskey {
    fn is_live(&self, now: u64) -> bool {
        self.expires_at.is_none_or(|at| at > now)
    }

    /// Whether recent sign-ins need it, or another one.
    fn holds(&self, now: u64) -> bool {
        self.counts_from <= now && self.is_live(now)
    }

    fn proves(&self, now: u64) -> bool {
        self.holds(now) && self.expires_at.is_none()
    }
}

impl PasskeyMark {
    /// Whether there is none: the artist's passkeys, if any, are from before there were marks.
    pub fn is_missing(&self) -> bool {
        self.version == 0
    }

    /// The passkeys that sign in at `now` (Unix seconds).
    pub fn live(&self, now: u64) -> impl Iterator<Item = &MarkedPasskey> {
        self.passkeys.iter().filter(move |passkey| passkey.is_live(now))
    }

    /// The passkey with this id, if it signs in at `now`.
    pub fn find(&self, id: &PasskeyId, now: u64) -> Option<&MarkedPasskey> {
        self.live(now).find(|passkey| passkey.id == *id)
    }

    /// Whether sign-ins with this passkey may do what takes one.
    pub fn holds(&self, id: &PasskeyId, now: u64) -> bool {
        self.find(id, now).is_some_and(|passkey| passkey.holds(now))
    }

    /// Whether sign-ins without a passkey may not.
    pub fn any_holds(&self, now: u64) -> bool {
        self.passkeys.iter().any(|passkey| passkey.holds(now))
    }

    /// Whether this passkey's answer is a proof.
    pub fn proves(&self, id: &PasskeyId, now: u64) -> bool {
        self.find(id, now).is_some_and(|passkey| passkey.proves(now))
    }

    /// Whether a passkey other than `without` is a way in that counts.
    pub(in crate::store) fn is_way_in(&self, without: Option<&PasskeyId>, now: u64) -> bool {
        self.passkeys.iter().any(|passkey| Some(&passkey.id) != without && passkey.proves(now))
    }
}

impl Passkeys {
    /// Uses the secret table.
    pub fn new(secrets: SecretTable) -> Self {
        Self(secrets)
    }

    /// Stores a ceremony that begins `now` (Unix seconds), and returns its id. One write.
    pub async fn begin(&self, state: String, artist_id: Option<ArtistId>, now: u64) -> Result<CeremonyId, StoreError> {
        let id = CeremonyId::random();
        let ceremony = Ceremony { state, artist_id, expires_at: now + CEREMONY_LIFETIME };
        let item = row(&rows::ceremony(id), &ceremony)?;
        self.0.client.put_item().table_name(&self.0.name).set_item(Some(item)).dispatch().await?;
        Ok(id)
    }

    /// Takes a ceremony of the artist, or of nobody for a sign-in: it is answered once. `None` if unknown, another's, used or
    /// expired. One write.
    pub async fn take(
        &self,
        id: CeremonyId,
        artist: Option<ArtistId>,
        now: u64,
    ) -> Result<Option<Ceremony>, StoreError> {
        let asker = if artist.is_some() { "artist_id = :artist" } else { "attribute_not_exists(artist_id)" };
        let call = self.0.client.delete_item().table_name(&self.0.name).set_key(Some(rows::ceremony(id).item()));
        let call = call
            .condition_expression(format!("{asker} AND expires_at > :now"))
            .expression_attribute_values(":now", number(now))
            .return_values(ReturnValue::AllOld);
        let call = match artist {
            Some(artist) => call.expression_attribute_values(":artist", text(artist)),
            None => call,
        };
        let answer = unless_refused(call.dispatch().await)?;
        Ok(answer.and_then(|answer| answer.attributes).map(serde_dynamo::from_item).transpose()?)
    }

    /// Returns an artist's passkeys, oldest first. A Query.
    pub async fn list(&self, artist: ArtistId, now: u64) -> Result<Vec<StoredPasskey>, StoreError> {
        let query = self.0.query().key_condition_expression("pk = :pk").consistent_read(true);
        let answer = query.expression_attribute_values(":pk", text(rows::passkeys(artist))).dispatch().await?;
        let mut all: Vec<StoredPasskey> = serde_dynamo::from_items(answer.items.unwrap_or_default())?;
        all.retain(|passkey| passkey.is_live(now));
        all.sort_unstable_by_key(|passkey| passkey.created_at);
        Ok(all)
    }

    /// Returns a passkey. One read.
    pub async fn find(&self, artist: ArtistId, id: &PasskeyId, now: u64) -> Result<Option<StoredPasskey>, StoreError> {
        let found: Option<StoredPasskey> = self.0.get(&rows::passkey(artist, id)).await?;
        Ok(found.filter(|passkey| passkey.is_live(now)))
    }

    /// Notes a sign-in or a proof, and the credential's new counter. `false` if it was removed or used meanwhile. One write.
    pub async fn note_use(
        &self,
        artist: ArtistId,
        before: &StoredPasskey,
        credential: String,
        now: u64,
    ) -> Result<bool, StoreError> {
        let key = rows::passkey(artist, &before.id).item();
        let call = self.0.client.update_item().table_name(&self.0.name).set_key(Some(key));
        let call = call
            .update_expression("SET credential = :new, used_at = :now")
            .condition_expression("credential = :old")
            .expression_attribute_values(":new", text(&credential))
            .expression_attribute_values(":old", text(&before.credential))
            .expression_attribute_values(":now", number(now));
        Ok(unless_refused(call.dispatch().await)?.is_some())
    }

    /// Returns the mark of an artist's passkeys. One read.
    pub(in crate::store) async fn mark(&self, artist: ArtistId) -> Result<PasskeyMark, StoreError> {
        let marks: Vec<PasskeyMark> = self.0.get_many([rows::passkey_mark(artist)]).await?;
        Ok(marks.into_iter().next().unwrap_or_default())
    }

    /// The same; that of the passkeys as stored if there is none. One read, and a Query where there is no mark.
    pub(in crate::store) async fn mark_or_stored(&self, artist: ArtistId, now: u64) -> Result<PasskeyMark, StoreError> {
        let mark = self.mark(artist).await?;
        if !mark.is_missing() {
            return Ok(mark);
        }
        let stored = self.list(artist, now).await?;
        Ok(PasskeyMark { passkeys: stored.iter().map(StoredPasskey::marked).collect(), ..mark })
    }

    /// Puts these passkeys into the mark, without those that are gone at `now` (Unix seconds); fails its transaction if the
    /// mark has changed since it was `loaded`.
    pub(in crate::store) fn marking(
        &self,
        artist: ArtistId,
        loaded: &PasskeyMark,
        mut passkeys: Vec<MarkedPasskey>,
        now: u64,
    ) -> Result<TransactWriteItem, StoreError> {
        passkeys.retain(|passkey| passkey.is_live(now));
        let mark = PasskeyMark { version: loaded.version + 1, passkeys };
        let mut item = row(&rows::passkey_mark(artist), &mark)?;
        // The version before lists sessions, and knows a mark among them by this alone.
        item.insert("is_passkey_mark".to_owned(), AttributeValue::Bool(true));
        let put = Put::builder()
            .table_name(&self.0.name)
            .set_item(Some(item))
            .condition_expression("attribute_not_exists(pk) OR version = :loaded")
            .expression_attribute_values(":loaded", number(loaded.version));
        Ok(TransactWriteItem::builder().put(put.build()?).build())
    }

    /// Fails its transaction if the mark has changed since it was `loaded`.
    pub(in crate::store) fn unchanged_mark(
        &self,
        artist: ArtistId,
        loaded: &PasskeyMark,
    ) -> Result<TransactWriteItem, StoreError> {
        let check = ConditionCheck::builder()
            .table_name(&self.0.name)
            .set_key(Some(rows::passkey_mark(artist).item()))
            .condition_expression("version = :loaded")
            .expression_attribute_values(":loaded", number(loaded.version));
        Ok(TransactWriteItem::builder().condition_check(check.build()?).build())
    }

    /// Adds a passkey, or replaces the same one.
    pub(in crate::store) fn addition(
        &self,
        artist: ArtistId,
        passkey: &StoredPasskey,
    ) -> Result<TransactWriteItem, StoreError> {
        self.0.replacement(&rows::passkey(artist, &passkey.id), passkey)
    }

    /// Removes a passkey; fails its transaction if it isn't there.
    pub(in crate::store) fn removal(&self, artist: ArtistId, id: &PasskeyId) -> Result<TransactWriteItem, StoreError> {
        self.0.removal(&rows::passkey(artist, id))
    }

    /// Has a passkey end at a time (Unix seconds), or, without one, takes that back; fails its transaction if it isn't there.
    pub(in crate::store) fn ending(
        &self,
        artist: ArtistId,
        id: &PasskeyId,
        at: Option<u64>,
    ) -> Result<TransactWriteItem, StoreError> {
        let update = Update::builder()
            .table_name(&self.0.name)
            .set_key(Some(rows::passkey(artist, id).item()))
            .condition_expression("attribute_exists(pk)");
        updating(match at {
            Some(at) => {
                update.update_expression("SET expires_at = :then").expression_attribute_values(":then", number(at))
            }
            None => update.update_expression("REMOVE expires_at"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDED: u64 = 1_000_000;
    const COUNTS: u64 = ADDED + COUNTS_AFTER;

    fn mark(expires_at: Option<u64>) -> (PasskeyId, PasskeyMark) {
        let (id, name) = (PasskeyId::of(b"one"), PasskeyName::default());
        let passkey = StoredPasskey {
            id: id.clone(),
            name,
            credential: String::new(),
            created_at: ADDED,
            used_at: None,
            expires_at,
        };
        (id, PasskeyMark { version: 1, passkeys: vec![passkey.marked()] })
    }

    #[test]
    fn passkey_counts_after_a_day() {
        let (id, mark) = mark(None);
        assert!(mark.find(&id, ADDED).is_some(), "it signs in");
        for (now, counts) in [(ADDED, false), (COUNTS - 1, false), (COUNTS, true)] {
            assert_eq!((mark.holds(&id, now), mark.any_holds(now)), (counts, counts), "{now}");
            assert_eq!((mark.proves(&id, now), mark.is_way_in(None, now)), (counts, counts), "{now}");
        }
        assert!(!mark.is_way_in(Some(&id), COUNTS));
        assert!(!mark.holds(&PasskeyId::of(b"other"), COUNTS));
    }

    #[test]
    fn passkey_that_is_to_be_removed_is_needed_until_then_and_proves_nothing() {
        let end = COUNTS + REMOVAL_DELAY;
        let (id, mark) = mark(Some(end));
        assert!(mark.holds(&id, end - 1) && mark.any_holds(end - 1));
        assert!(!mark.proves(&id, COUNTS) && !mark.is_way_in(None, COUNTS));
        assert!(mark.find(&id, end).is_none() && !mark.any_holds(end));
    }
}
