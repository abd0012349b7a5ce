//! What on a chain has a URI. Rows: docs/data-model.md, Metadata and Timelines.

use std::collections::{BTreeSet, HashSet};

use serde::Deserialize;

use super::{metadata::Documents, moments::moment_key, relistings::NotedRow};
use crate::{
    model::{ChainId, Moment, MomentRef},
    store::{
        chain::rows,
        engine::{
            structures::numbered_list::{NumberedList, Page},
            table::{ChainTable, StoreError},
        },
    },
};

/// Moments of a URI that are looked at.
const MOST: usize = 20;

/// What has a URI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UriOwner {
    /// A moment.
    Moment(MomentRef),
    /// A collection, or one of more moments than are looked at.
    Other(ChainId),
}

/// URIs that moments and collections have.
#[derive(Clone)]
pub struct UriNames(ChainTable);

#[derive(Deserialize)]
struct KnownRow {
    uri_hash: String,
}

impl UriNames {
    /// Uses the chain table.
    pub fn new(chain: ChainTable) -> Self {
        Self(chain)
    }

    /// Returns those of the URIs that something on a chain has or had. One read per 100.
    pub async fn known(&self, chain: ChainId, uris: &BTreeSet<String>) -> Result<Vec<String>, StoreError> {
        let keys = uris.iter().map(|uri| rows::document(chain, &Documents::uri_hash(uri)));
        let rows: Vec<KnownRow> = self.0.get_many(keys).await?;
        let known: HashSet<String> = rows.into_iter().map(|row| row.uri_hash).collect();
        Ok(uris.iter().filter(|uri| known.contains(&Documents::uri_hash(uri))).cloned().collect())
    }

    /// Returns what has a known URI; `None` if moments had it and have another one now. A Query and a read.
    pub async fn owner(&self, chain: ChainId, uri: &str) -> Result<Option<UriOwner>, StoreError> {
        let partition = rows::moments_with(chain, &Documents::uri_hash(uri));
        let Page { rows: noted, more, .. } =
            NumberedList { table: &self.0, partition }.newest_first::<NotedRow>(0, MOST).await?;
        let places: Vec<MomentRef> = noted.into_iter().map(|noted| noted.place(chain)).collect();
        let moments: Vec<Moment> = self.0.get_many(places.iter().map(moment_key)).await?;
        let owner = moments.into_iter().find(|moment| moment.uri == uri);
        Ok(match owner {
            Some(Moment { collection, token_id, .. }) => {
                Some(UriOwner::Moment(MomentRef { chain, collection, token: token_id }))
            }
            None => (more || places.is_empty()).then_some(UriOwner::Other(chain)),
        })
    }
}
