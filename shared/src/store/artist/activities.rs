//! What happened to artists' accounts, for themselves to see. Rows: docs/data-model.md, Artists.

use aws_sdk_dynamodb::types::TransactWriteItem;
use serde::{Deserialize, Serialize};

use crate::{
    aws::Dispatch,
    model::{ActivityId, ActivityKind, ArtistId},
    store::{
        artist::rows,
        engine::table::{ArtistTable, StoreError, row, text},
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

    /// Returns up to `limit` activities older than `before` that aren't expired, newest first: of the account, or of the
    /// artist's works. One Query.
    pub async fn list(
        &self,
        artist: ArtistId,
        is_of_works: bool,
        before: Option<ActivityId>,
        limit: u32,
        now: u64,
    ) -> Result<Vec<Activity>, StoreError> {
        let list = if is_of_works { rows::work_activities(artist) } else { rows::activities(artist) };
        let call = self.0.query().expression_attribute_values(":pk", text(list));
        let call = match before {
            None => call.key_condition_expression("pk = :pk"),
            Some(before) => call
                .key_condition_expression("pk = :pk AND sk < :before")
                .expression_attribute_values(":before", text(before)),
        };
        let answer = call.scan_index_forward(false).limit(i32::try_from(limit).unwrap_or(i32::MAX)).dispatch().await?;
        let rows: Vec<Activity> = serde_dynamo::from_items(answer.items.unwrap_or_default())?;
        Ok(rows.into_iter().filter(|activity| activity.expires_at > now).collect())
    }
}
