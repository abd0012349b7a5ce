//! What happened to artists' accounts, for themselves to see. Rows: docs/data-model.md, Artists.

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use serde::{Deserialize, Serialize};

use crate::{
    aws::Dispatch,
    model::{ActivityId, ActivityKind, ArtistId, DAY},
    store::{
        artist::rows,
        engine::table::{ArtistTable, StoreError, readable, row, text},
    },
};

/// Something that happened to an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Activity {
    /// Sorts by time.
    pub id: ActivityId,
    /// What.
    pub kind: ActivityKind,
    /// Time, in Unix seconds.
    pub at: u64,
    /// Network that asked for it.
    pub network: String,
    /// What it concerns: a key's name, an address, an amount; may be empty.
    pub subject: String,
    /// Expiry, in Unix seconds.
    pub expires_at: u64,
}

/// A page of activities.
#[derive(Clone, Debug)]
pub struct ActivityPage {
    /// The newest first.
    pub activities: Vec<Activity>,
    /// Where the next page begins, if there may be one.
    pub last: Option<ActivityId>,
}

/// The newest activity of a day with its kind and subject.
#[derive(Serialize, Deserialize)]
struct ActivityOfDay {
    activity: ActivityId,
    expires_at: u64,
}

/// Activities of all artists.
#[derive(Clone)]
pub struct Activities(ArtistTable);

impl Activities {
    /// Uses the artist table.
    pub fn new(artists: ArtistTable) -> Self {
        Self(artists)
    }

    /// Records an activity. One write.
    pub async fn record(&self, artist: ArtistId, activity: &Activity) -> Result<(), StoreError> {
        let key = rows::activity(artist, activity.id);
        let item = row(&key, activity)?;
        self.0.client.put_item().table_name(&self.0.name).set_item(Some(item)).dispatch().await?;
        Ok(())
    }

    /// Records a write of the artist's works together with it. A key makes any number of these, so they have a list of
    /// their own, and none hides what happened to the account.
    pub(super) fn recording(&self, artist: ArtistId, activity: &Activity) -> Result<TransactWriteItem, StoreError> {
        self.0.insertion(&rows::work_activity(artist, activity.id), activity)
    }

    /// The same of a change that costs nothing, in place of the day's last one with this kind and subject: undoing and
    /// repeating it buries nothing else. One read. Fails its transaction if another takes that place first.
    pub(super) async fn recording_newest(
        &self,
        artist: ArtistId,
        activity: &Activity,
    ) -> Result<Vec<TransactWriteItem>, StoreError> {
        let Activity { id, kind, at, subject, .. } = activity;
        let day = at / DAY;
        let key = rows::activity_of_day(artist, day, &format!("{kind:?}"), subject);
        let of_day = ActivityOfDay { activity: *id, expires_at: (day + 2) * DAY };
        let mut writes = vec![self.recording(artist, activity)?];
        match self.0.get::<ActivityOfDay>(&key).await? {
            Some(before) => {
                writes.push(self.0.removal(&rows::work_activity(artist, before.activity))?);
                writes.push(self.0.replacement(&key, &of_day)?);
            }
            None => writes.push(self.0.insertion(&key, &of_day)?),
        }
        Ok(writes)
    }

    /// Returns up to `limit` activities older than `before` that aren't expired, newest first: of the account, or of the
    /// artist's works. Kinds of a later version, which a rollback leaves behind, are left out. One Query.
    pub async fn list(
        &self,
        artist: ArtistId,
        is_of_works: bool,
        before: Option<ActivityId>,
        limit: u32,
        now: u64,
    ) -> Result<ActivityPage, StoreError> {
        let list = if is_of_works { rows::work_activities(artist) } else { rows::activities(artist) };
        let call = self.0.query().expression_attribute_values(":pk", text(list));
        let call = match before {
            None => call.key_condition_expression("pk = :pk"),
            Some(before) => call
                .key_condition_expression("pk = :pk AND sk < :before")
                .expression_attribute_values(":before", text(before)),
        };
        let answer = call.scan_index_forward(false).limit(i32::try_from(limit).unwrap_or(i32::MAX)).dispatch().await?;
        let mut activities: Vec<Activity> = readable(answer.items.unwrap_or_default());
        let read = activities.len();
        activities.retain(|activity| activity.expires_at > now);
        let last = match answer.last_evaluated_key.and_then(|mut key| key.remove("sk")) {
            // Older ones are expired, too.
            Some(AttributeValue::S(last)) if activities.len() == read => last.parse().ok(),
            _ => None,
        };
        Ok(ActivityPage { activities, last })
    }
}
