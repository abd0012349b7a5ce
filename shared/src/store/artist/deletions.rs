//! Accounts that are to be erased. A row is there until nothing else of its artist is. Rows: docs/data-model.md, Artists.

use aws_sdk_dynamodb::types::{ReturnValue, Update};
use serde::{Deserialize, Serialize};

use super::artists::{Artists, Contact};
use crate::{
    aws::Dispatch,
    model::ArtistId,
    store::{
        artist::rows,
        engine::table::{ArtistTable, StoreError, number, text, unless_refused, updating},
    },
};

/// How long an artist can take the deletion back, in seconds.
pub const GRACE: u64 = 7 * 24 * 60 * 60;

/// An account that is to be erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deletion {
    /// Whose.
    pub artist_id: ArtistId,
    /// When erasing begins, in Unix seconds.
    pub due_at: u64,
    /// Since when nobody can sign in to it and nothing of it was under way, in Unix seconds; `None` before it is due.
    #[serde(default)]
    pub begun_at: Option<u64>,
}

/// Result of taking a deletion back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// There was none.
    Nothing,
    /// It is taken back.
    Done,
    /// Too late: the account is being erased, and its mail address is free for another one.
    TooLate,
}

/// Deletions of all artists.
#[derive(Clone)]
pub struct Deletions(ArtistTable);

impl Deletions {
    /// Uses the artist table.
    pub fn new(artists: ArtistTable) -> Self {
        Self(artists)
    }

    /// Stores a deletion, or returns the one that is there. One write.
    pub async fn request(&self, artist: ArtistId, now: u64) -> Result<Deletion, StoreError> {
        let call = self.0.client.update_item().table_name(&self.0.name).set_key(Some(rows::deletion(artist).item()));
        let call = call
            .update_expression("SET artist_id = :artist, due_at = if_not_exists(due_at, :due)")
            .expression_attribute_values(":artist", text(artist))
            .expression_attribute_values(":due", number(now + GRACE))
            .return_values(ReturnValue::AllNew);
        let row = call.dispatch().await?.attributes.ok_or(StoreError::Missing("a deletion"))?;
        Ok(serde_dynamo::from_item(row)?)
    }

    /// Takes a deletion back. One write.
    pub async fn take_back(&self, artist: ArtistId) -> Result<Cancelled, StoreError> {
        let call = self.0.client.delete_item().table_name(&self.0.name).set_key(Some(rows::deletion(artist).item()));
        let call = call.condition_expression("attribute_not_exists(begun_at)").return_values(ReturnValue::AllOld);
        Ok(match unless_refused(call.dispatch().await)? {
            None => Cancelled::TooLate,
            Some(answer) if answer.attributes().is_none_or(|row| row.is_empty()) => Cancelled::Nothing,
            Some(_) => Cancelled::Done,
        })
    }

    /// Returns the deletions that are due. A Query per megabyte.
    pub async fn due(&self, now: u64) -> Result<Vec<Deletion>, StoreError> {
        let query = self.0.query().key_condition_expression("pk = :pk");
        let mut pages =
            query.expression_attribute_values(":pk", text(rows::deletions())).into_paginator().items().send();
        let mut due = Vec::new();
        while let Some(row) = pages.next().await {
            let deletion: Deletion = serde_dynamo::from_item(row?)?;
            due.extend(Some(deletion).filter(|deletion| deletion.due_at <= now));
        }
        Ok(due)
    }

    /// Begins a deletion: from now on its mail addresses sign in to another account. `false` if it was taken
    /// back. One write.
    pub async fn begin(&self, artist: ArtistId, contact: &Contact, now: u64) -> Result<bool, StoreError> {
        let begun = self.begun_now(artist, now);
        let begun = begun.condition_expression("attribute_not_exists(begun_at) AND due_at <= :now");
        let mut writes = vec![updating(begun)?];
        for email in contact.emails() {
            writes.push(Artists::new(self.0.clone()).email_deletion(email, artist)?);
        }
        self.0.write_together(writes).await
    }

    /// Notes that something of the account was still under way. One write.
    pub async fn postpone(&self, artist: ArtistId, now: u64) -> Result<(), StoreError> {
        let begun = self.begun_now(artist, now).condition_expression("attribute_exists(begun_at)");
        self.0.write_together(vec![updating(begun)?]).await?;
        Ok(())
    }

    /// Deletes what is last: the profile with all that shows it, and the deletion itself. `false` if the profile changed
    /// meanwhile. A read, a write for each name that was given up, and a transaction.
    pub async fn finish(&self, artist: ArtistId) -> Result<bool, StoreError> {
        let mut writes = Artists::new(self.0.clone()).erasure(artist).await?;
        writes.push(self.0.deletion(&rows::deletion(artist))?);
        self.0.write_together(writes).await
    }

    fn begun_now(&self, artist: ArtistId, now: u64) -> aws_sdk_dynamodb::types::builders::UpdateBuilder {
        Update::builder()
            .table_name(&self.0.name)
            .set_key(Some(rows::deletion(artist).item()))
            .update_expression("SET begun_at = :now")
            .expression_attribute_values(":now", number(now))
    }
}
