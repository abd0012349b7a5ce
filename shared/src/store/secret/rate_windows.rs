//! Sliding windows of rate limits. Callers hash personal subjects. Rows: docs/data-model.md, Rate limits.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::types::{Put, TransactWriteItem};
use serde::{Deserialize, Serialize};

use crate::store::{
    engine::table::{SecretTable, StoreError, number, row},
    secret::rows,
};

/// Hits of one subject by time slice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateWindow {
    /// Hits by number of the slice.
    pub slices: BTreeMap<u64, u32>,
    /// Optimistic lock.
    pub version: u64,
    /// Expiry, in Unix seconds.
    pub expires_at: u64,
}

/// Rate windows of all subjects.
#[derive(Clone)]
pub struct RateWindows(SecretTable);

/// Written out because flattened maps can't have numeric keys.
#[derive(Deserialize)]
struct StoredWindow {
    pk: String,
    slices: BTreeMap<u64, u32>,
    version: u64,
    expires_at: u64,
}

impl RateWindows {
    /// Uses the secret table.
    pub fn new(secrets: SecretTable) -> Self {
        Self(secrets)
    }

    /// Returns the windows of up to 100 different subjects, in their order; new ones are empty.
    pub async fn load(&self, subjects: &[&str]) -> Result<Vec<RateWindow>, StoreError> {
        let stored: Vec<StoredWindow> =
            self.0.get_many(subjects.iter().map(|subject| rows::rate_window(subject))).await?;
        let mut windows: HashMap<_, _> = stored
            .into_iter()
            .map(|row| (row.pk, RateWindow { slices: row.slices, version: row.version, expires_at: row.expires_at }))
            .collect();
        Ok(subjects.iter().map(|subject| windows.remove(&rows::rate_window(subject).pk).unwrap_or_default()).collect())
    }

    /// Saves all windows or none; `false` if one has changed since it was loaded.
    pub async fn save(&self, windows: Vec<(&str, RateWindow)>) -> Result<bool, StoreError> {
        let puts = windows.into_iter().map(|(subject, mut window)| {
            let loaded = window.version;
            window.version += 1;
            let put = Put::builder()
                .table_name(&self.0.name)
                .set_item(Some(row(&rows::rate_window(subject), &window)?))
                .condition_expression("attribute_not_exists(pk) OR version = :loaded")
                .expression_attribute_values(":loaded", number(loaded))
                .build()?;
            Ok(TransactWriteItem::builder().put(put).build())
        });
        let puts = puts.collect::<Result<_, StoreError>>()?;
        self.0.write_together(puts).await
    }
}
