//! Passkeys of artists, and ceremonies in which they are added or used. Rows: docs/data-model.md, Passkeys.

use aws_sdk_dynamodb::types::{ConditionCheck, ReturnValue, TransactWriteItem, Update};
use serde::{Deserialize, Serialize};

use crate::{
    aws::Dispatch,
    model::{ArtistId, CeremonyId, PasskeyId, PasskeyName},
    store::{
        engine::table::{SecretTable, StoreError, number, row, text, unless_refused, updating},
        secret::rows,
    },
};

/// Most passkeys of an artist.
pub const MAX_PASSKEYS: usize = 10;

/// How long a passkey still counts that was removed by a sign-in without one, in seconds.
const REMOVAL_DELAY: u64 = 7 * 24 * 60 * 60;

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

impl StoredPasskey {
    fn is_live(&self, now: u64) -> bool {
        self.expires_at.is_none_or(|at| at > now)
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

    /// Adds a passkey, or replaces the same one; from now on recent sign-ins need one. One transaction.
    pub async fn add(&self, artist: ArtistId, passkey: &StoredPasskey) -> Result<(), StoreError> {
        let writes = vec![
            self.0.replacement(&rows::passkey(artist, &passkey.id), passkey)?,
            self.0
                .replacement(&rows::passkey_mark(artist), &PasskeyMark { is_passkey_mark: true, expires_at: None })?,
        ];
        self.0.write_together(writes).await?;
        Ok(())
    }

    /// Notes a sign-in, which takes the removal back, and the credential's new counter. `false` if it was removed or used
    /// meanwhile. One write; two Queries and a write more if it was to be removed.
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
            .update_expression("SET credential = :new, used_at = :now REMOVE expires_at")
            .condition_expression("credential = :old")
            .expression_attribute_values(":new", text(&credential))
            .expression_attribute_values(":old", text(&before.credential))
            .expression_attribute_values(":now", number(now));
        if unless_refused(call.dispatch().await)?.is_none() {
            return Ok(false);
        }
        if before.expires_at.is_some() {
            self.mark(artist, now).await?;
        }
        Ok(true)
    }

    /// Removes a passkey: at once after a sign-in with one, else in seven days, in which it can take that back. Fails its
    /// transaction if it isn't there; [`Self::mark`] follows it.
    pub(in crate::store) fn removal(
        &self,
        artist: ArtistId,
        id: &PasskeyId,
        is_by_passkey: bool,
        now: u64,
    ) -> Result<TransactWriteItem, StoreError> {
        let key = rows::passkey(artist, id);
        if is_by_passkey {
            return self.0.removal(&key);
        }
        let update = Update::builder()
            .table_name(&self.0.name)
            .set_key(Some(key.item()))
            .update_expression("SET expires_at = if_not_exists(expires_at, :then)")
            .condition_expression("attribute_exists(pk)")
            .expression_attribute_values(":then", number(now + REMOVAL_DELAY));
        updating(update)
    }

    /// Fails its transaction if the passkey isn't there or is to be removed.
    pub(in crate::store) fn condition(
        &self,
        artist: ArtistId,
        id: &PasskeyId,
    ) -> Result<TransactWriteItem, StoreError> {
        let check = ConditionCheck::builder()
            .table_name(&self.0.name)
            .set_key(Some(rows::passkey(artist, id).item()))
            .condition_expression("attribute_exists(pk) AND attribute_not_exists(expires_at)");
        Ok(TransactWriteItem::builder().condition_check(check.build()?).build())
    }

    /// Marks whether the artist has passkeys, and until when, until what is marked is what is there: others may add one
    /// meanwhile. If this is the last line that runs, the mark says more than there is. Two Queries and a write.
    pub(in crate::store) async fn mark(&self, artist: ArtistId, now: u64) -> Result<(), StoreError> {
        let mut marked = None;
        loop {
            let passkeys = self.list(artist, now).await?;
            // The latest end; `None` if one of them has none.
            let end =
                passkeys.iter().map(|passkey| passkey.expires_at).try_fold(0, |last, end| end.map(|at| last.max(at)));
            let mark = (!passkeys.is_empty()).then_some(PasskeyMark { is_passkey_mark: true, expires_at: end });
            if marked == Some(mark) {
                return Ok(());
            }
            let (key, client) = (rows::passkey_mark(artist), &self.0.client);
            match &mark {
                None => {
                    client.delete_item().table_name(&self.0.name).set_key(Some(key.item())).dispatch().await?;
                }
                Some(mark) => {
                    let item = row(&key, mark)?;
                    client.put_item().table_name(&self.0.name).set_item(Some(item)).dispatch().await?;
                }
            }
            marked = Some(mark);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PasskeyMark {
    is_passkey_mark: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
}
