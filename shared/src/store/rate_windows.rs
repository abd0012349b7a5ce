//! What limits have let through lately: one row per limited subject, in the table of secrets.
//!
//! `pk = RATE#<subject>`, `sk = WINDOW`. Subjects are hashed by whoever names them, where they are personal.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::types::{Put, TransactWriteItem};
use serde::{Deserialize, Serialize};

use super::{Key, StoreError, Table, number, row};

/// Hits of one subject, counted by the slice of time that they fell into.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateWindow {
    /// Number of the slice → hits in it.
    pub slices: BTreeMap<u64, u32>,
    /// Grows with each change, so that of two writers at once one starts again.
    pub version: u64,
    /// Unix time in seconds from which the row says nothing any more.
    pub expires_at: u64,
}

/// The windows of every subject.
#[derive(Clone)]
pub struct RateWindows(Table);

/// A window with its subject. Written out, since flattened maps can't have numbers for keys.
#[derive(Deserialize)]
struct StoredWindow {
    pk: String,
    slices: BTreeMap<u64, u32>,
    version: u64,
    expires_at: u64,
}

impl RateWindows {
    /// The windows in the table of secrets.
    pub fn new(secrets: Table) -> Self {
        Self(secrets)
    }

    /// The windows of up to 100 different subjects, in their order; one that has none starts empty.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn load(&self, subjects: &[&str]) -> Result<Vec<RateWindow>, StoreError> {
        let stored: Vec<StoredWindow> = self.0.get_many(subjects.iter().map(|subject| key(subject))).await?;
        let mut windows: HashMap<_, _> = stored
            .into_iter()
            .map(|row| (row.pk, RateWindow { slices: row.slices, version: row.version, expires_at: row.expires_at }))
            .collect();
        Ok(subjects.iter().map(|subject| windows.remove(&key(subject).pk).unwrap_or_default()).collect())
    }

    /// Writes all windows back, or none. `false` when one of them has changed since it was loaded.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn save(&self, windows: Vec<(&str, RateWindow)>) -> Result<bool, StoreError> {
        let puts = windows.into_iter().map(|(subject, mut window)| {
            let loaded = window.version;
            window.version += 1;
            let put = Put::builder()
                .table_name(&self.0.name)
                .set_item(Some(row(&key(subject), &window)?))
                .condition_expression("attribute_not_exists(pk) OR version = :loaded")
                .expression_attribute_values(":loaded", number(loaded))
                .build()?;
            Ok(TransactWriteItem::builder().put(put).build())
        });
        let puts = puts.collect::<Result<_, StoreError>>()?;
        self.0.write_together(puts).await
    }
}

fn key(subject: &str) -> Key {
    Key::new(format!("RATE#{subject}"), "WINDOW")
}
