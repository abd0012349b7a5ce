//! What the operator hides, as the index's rows say.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;

use super::moments::{collection_key, moment_key};
use crate::{
    model::Subject,
    store::{
        chain::rows,
        engine::table::{ChainTable, PrimaryKey, StoreError},
    },
};

/// Whether things on chains are out of sight.
#[derive(Clone)]
pub struct Visibility(ChainTable);

#[derive(Deserialize)]
struct PlaceRow {
    #[serde(flatten)]
    key: PrimaryKey,
    place: PrimaryKey,
}

#[derive(Deserialize)]
struct MarkedRow {
    #[serde(flatten)]
    key: PrimaryKey,
    /// Of moments and collections.
    #[serde(default)]
    is_withheld: bool,
    /// Of comments: the text.
    withheld: Option<String>,
}

impl Visibility {
    /// Uses the chain table.
    pub fn new(chain: ChainTable) -> Self {
        Self(chain)
    }

    /// Returns those of the moments, collections and comments that are hidden. A read per hundred; one more for comments.
    pub async fn hidden(&self, subjects: HashSet<Subject>) -> Result<HashSet<Subject>, StoreError> {
        let (mut rows, mut comments) = (HashMap::new(), HashMap::new());
        for subject in subjects {
            match subject {
                Subject::Moment(place) => rows.insert(moment_key(&place), subject),
                Subject::Collection(chain, address) => rows.insert(collection_key(chain, address), subject),
                Subject::Comment(chain, comment) => comments.insert(rows::comment_place(chain, comment), subject),
                Subject::Artist(_) | Subject::File(_) => None,
            };
        }
        let places: Vec<PlaceRow> = self.0.get_many(comments.keys().cloned()).await?;
        rows.extend(places.into_iter().filter_map(|row| Some((row.place, comments.remove(&row.key)?))));
        let marked: Vec<MarkedRow> = self.0.get_many(rows.keys().cloned()).await?;
        let hidden = marked.into_iter().filter(|row| row.is_withheld || row.withheld.is_some());
        Ok(hidden.filter_map(|row| rows.remove(&row.key)).collect())
    }
}
