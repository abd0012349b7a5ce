//! Requests of a subject in fixed windows. One write counts one request, so that many at once don't get into each other's
//! way, as they would at [`RateWindows`](super::RateWindows). Rows: docs/data-model.md, Rate limits.

use aws_sdk_dynamodb::types::ReturnValue;
use serde::Deserialize;

use crate::{
    aws::Dispatch,
    store::{
        engine::table::{SecretTable, StoreError, number, unless_refused},
        secret::rows,
    },
};

/// Counts of all subjects.
#[derive(Clone)]
pub struct RequestCounts(SecretTable);

#[derive(Deserialize)]
struct Counted {
    hits: u32,
}

impl RequestCounts {
    /// Uses the secret table.
    pub fn new(secrets: SecretTable) -> Self {
        Self(secrets)
    }

    /// Counts a request in the subject's window; how many there were. `expires_at` is in Unix seconds. One write.
    pub async fn count(&self, subject: &str, window: u64, expires_at: u64) -> Result<u32, StoreError> {
        self.count_all(1, subject, window, expires_at).await
    }

    /// The same for several requests.
    pub async fn count_all(&self, more: u32, subject: &str, window: u64, expires_at: u64) -> Result<u32, StoreError> {
        let key = rows::request_count(subject, window);
        let call = self.0.client.update_item().table_name(&self.0.name).set_key(Some(key.item()));
        let call = call
            .update_expression("ADD hits :more SET expires_at = :end")
            .expression_attribute_values(":more", number(more))
            .expression_attribute_values(":end", number(expires_at))
            .return_values(ReturnValue::UpdatedNew);
        let row = call.dispatch().await?.attributes.ok_or(StoreError::Missing("a count"))?;
        Ok(serde_dynamo::from_item::<_, Counted>(row)?.hits)
    }

    /// Counts the subject's window from zero again, after [`RequestCounts::count`]. One write.
    pub async fn reset(&self, subject: &str, window: u64) -> Result<(), StoreError> {
        let key = rows::request_count(subject, window);
        let call = self.0.client.update_item().table_name(&self.0.name).set_key(Some(key.item()));
        let call = call.update_expression("SET hits = :none").expression_attribute_values(":none", number(0));
        call.dispatch().await?;
        Ok(())
    }

    /// Counts several if the window's number then is at most `max`; otherwise `false`, and none is counted. One write.
    pub async fn count_within(
        &self,
        (more, max): (u64, u64),
        subject: &str,
        window: u64,
        expires_at: u64,
    ) -> Result<bool, StoreError> {
        let Some(room) = max.checked_sub(more) else { return Ok(false) };
        let key = rows::request_count(subject, window);
        let call = self.0.client.update_item().table_name(&self.0.name).set_key(Some(key.item()));
        let call = call
            .update_expression("ADD hits :more SET expires_at = :end")
            .condition_expression("attribute_not_exists(hits) OR hits <= :room")
            .expression_attribute_values(":more", number(more))
            .expression_attribute_values(":room", number(room))
            .expression_attribute_values(":end", number(expires_at));
        Ok(unless_refused(call.dispatch().await)?.is_some())
    }

    /// Takes back what [`RequestCounts::count_within`] counted. One write.
    pub async fn take_back(&self, counted: u64, subject: &str, window: u64) -> Result<(), StoreError> {
        let key = rows::request_count(subject, window);
        let call = self.0.client.update_item().table_name(&self.0.name).set_key(Some(key.item()));
        let call = call.update_expression("SET hits = hits - :counted");
        call.expression_attribute_values(":counted", number(counted)).dispatch().await?;
        Ok(())
    }
}
