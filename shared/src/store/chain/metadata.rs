//! Metadata documents and the queue to fetch them. Keyed by URI, so that a reorg leaves them alone.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use aws_sdk_dynamodb::types::TransactWriteItem;
use futures::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use url::Url;

use super::previews::DuePreviews;
use crate::{
    aws::Dispatch,
    model::{Address, ChainId, ContentType, MAX_URI_KEPT, Metadata},
    store::{
        chain::rows,
        engine::{
            index::UnitOfWork,
            table::{ChainTable, PrimaryKey, StoreError, putting, text},
        },
    },
};

/// Partitions of the queue.
pub const QUEUE_SHARDS: u8 = 8;

/// Half of what a transaction takes: each new document needs two writes.
const MAX_NEW: usize = 50;

/// Documents of a collection that may be due at once, and the milliseconds between those after them: one that names
/// thousands holds up nobody but itself.
const BURST: u64 = 50;
const PACE: u64 = 250;

const AT_ONCE: usize = 8;

/// All metadata documents.
#[derive(Clone)]
pub struct Documents(ChainTable);

/// A document that a collection names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedDocument<'a> {
    /// Its URI.
    pub uri: &'a str,
    /// The collection.
    pub collection: Address,
    /// Time of the block, in Unix seconds.
    pub at: u64,
}

/// A document to fetch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DueDocument {
    /// Chain whose rows name the URI.
    pub chain: ChainId,
    /// URI of the document.
    pub uri: String,
    /// The collection that named it first.
    pub collection: Address,
    /// Number of failed fetches.
    pub failures: u32,
    /// Time before which it must not have been read, in Unix seconds, for one that is read again; `None` for the first
    /// time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// In Unix seconds.
    due: u64,
}

/// A collection's pace: the theoretical arrival time of the generic cell rate algorithm, in Unix milliseconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Pace {
    collection: Address,
    arrival: u64,
}

/// A fetched document that the indexer has yet to process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrivedDocument {
    /// [`Documents::uri_hash`] of the URI.
    pub uri_hash: String,
    /// Content type that the document names.
    pub content_type: ContentType,
    /// Time of arrival, in Unix seconds: tells repeated arrivals apart.
    at: u64,
    /// Number of moments that have been updated.
    #[serde(default)]
    pub retyped: u64,
}

#[derive(Serialize, Deserialize)]
pub(in crate::store) struct DocumentRow {
    pub(in crate::store) uri_hash: String,
    pub(in crate::store) document: Option<Metadata>,
}

impl Documents {
    /// Uses the chain table.
    pub fn new(chain: ChainTable) -> Self {
        Self(chain)
    }

    /// Returns the key of a URI: its SHA-256, in hexadecimal.
    pub fn uri_hash(uri: &str) -> String {
        alloy::hex::encode(Self::digest(uri))
    }

    pub(in crate::store) fn digest(uri: &str) -> [u8; 32] {
        Sha256::digest(uri).into()
    }

    /// Returns fetched documents by URI. One read per 100.
    pub async fn find_many<'a>(
        &self,
        chain: ChainId,
        uris: impl IntoIterator<Item = &'a str>,
    ) -> Result<HashMap<&'a str, Metadata>, StoreError> {
        let hashes: HashMap<_, _> = uris.into_iter().map(|uri| (uri, Self::uri_hash(uri))).collect();
        let mut rows = self.rows(chain, hashes.values()).await?;
        let document = |(uri, hash)| Some((uri, rows.remove(&hash)??));
        // Hashes don't collide, so each row is taken once.
        Ok(hashes.into_iter().filter_map(document).collect())
    }

    /// Queues unknown documents and returns those that are fetched. One read per 100; for new ones a read per 100
    /// collections, and a transaction per 50.
    pub async fn queue<'a>(
        &self,
        chain: ChainId,
        named: impl IntoIterator<Item = NamedDocument<'a>>,
    ) -> Result<HashMap<&'a str, Metadata>, StoreError> {
        const ATTEMPTS: usize = 5;
        let mut new = Vec::new();
        let mut known = HashSet::new();
        for document in named.into_iter().filter(|document| can_be_fetched(document.uri)) {
            let hash = Self::uri_hash(document.uri);
            if known.insert(hash.clone()) {
                new.push((hash, document));
            }
        }
        let mut fetched = HashMap::new();
        for _ in 0..ATTEMPTS {
            let mut rows = self.rows(chain, new.iter().map(|(hash, _)| hash)).await?;
            new.retain(|(hash, document)| {
                let row = rows.remove(hash);
                let is_new = row.is_none();
                fetched.extend(row.flatten().map(|metadata| (document.uri, metadata)));
                is_new
            });
            let (due, paces) = self.paced(chain, &new).await?;
            let writes = due.chunks(MAX_NEW).map(|few| self.entries(few)).collect::<Result<Vec<_>, _>>()?;
            let calls = stream::iter(writes).map(|writes| self.0.write_together(writes));
            let written: Vec<bool> = calls.buffer_unordered(AT_ONCE).try_collect().await?;
            if written.into_iter().all(|written| written) {
                // Last: a run that ends before gives a collection some of its burst again, and no document is lost.
                self.keep_paces(chain, &paces).await?;
                return Ok(fetched);
            }
        }
        Err(StoreError::Contention("metadata documents"))
    }

    /// Queues documents to be read again, each as it is at its time or later; of several times of one the last. A read per
    /// 100 collections, and a write per 25.
    pub async fn read_again<'a>(
        &self,
        chain: ChainId,
        named: impl IntoIterator<Item = NamedDocument<'a>>,
    ) -> Result<(), StoreError> {
        let named = named.into_iter().filter(|document| can_be_fetched(document.uri));
        let named: BTreeMap<_, _> = named.map(|document| (Self::uri_hash(document.uri), document)).collect();
        let named = Vec::from_iter(named);
        let (due, paces) = self.paced(chain, &named).await?;
        let write = |((_, due), (_, document)): ((_, DueDocument), &(_, NamedDocument<'_>))| {
            let due = DueDocument { since: Some(document.at), ..due };
            putting(&due.key(), &due)
        };
        self.0.write_many(due.into_iter().zip(&named).map(write).collect::<Result<_, _>>()?).await?;
        self.keep_paces(chain, &paces).await
    }

    /// When new documents are due, each after the earlier ones of its collection; and the collections' paces after them.
    async fn paced(
        &self,
        chain: ChainId,
        new: &[(String, NamedDocument<'_>)],
    ) -> Result<(Vec<(String, DueDocument)>, Vec<Pace>), StoreError> {
        let collections = BTreeSet::from_iter(new.iter().map(|(_, document)| document.collection));
        let keys: Vec<_> = collections.iter().map(|collection| rows::document_pace(chain, *collection)).collect();
        let known: Vec<Pace> = self.0.get_many(keys).await?;
        let mut paces: HashMap<_, _> = known.into_iter().map(|pace| (pace.collection, pace)).collect();
        let due = |(hash, document): &(String, NamedDocument<'_>)| {
            let NamedDocument { uri, collection, at } = *document;
            let due = paces.entry(collection).or_insert(Pace { collection, arrival: 0 }).next(at);
            (hash.clone(), DueDocument::new(chain, uri, collection, due))
        };
        let due = new.iter().map(due).collect();
        Ok((due, paces.into_values().collect()))
    }

    async fn keep_paces(&self, chain: ChainId, paces: &[Pace]) -> Result<(), StoreError> {
        let writes = paces.iter().map(|pace| self.0.replacement(&rows::document_pace(chain, pace.collection), pace));
        let writes = writes.collect::<Result<Vec<_>, _>>()?;
        // Collected, so that functions may be moved between threads while they wait.
        let calls: Vec<_> = writes.chunks(2 * MAX_NEW).map(|few| self.0.write_together(few.to_vec())).collect();
        stream::iter(calls).buffer_unordered(AT_ONCE).try_collect::<Vec<_>>().await?;
        Ok(())
    }

    fn entries(&self, new: &[(String, DueDocument)]) -> Result<Vec<TransactWriteItem>, StoreError> {
        let mut writes = Vec::new();
        for (hash, due) in new {
            let row = DocumentRow { uri_hash: hash.clone(), document: None };
            writes.push(self.0.insertion(&document_key(due.chain, hash), &row)?);
            writes.push(self.0.replacement(&due.key(), due)?);
        }
        Ok(writes)
    }

    /// Returns unprocessed arrivals. One Query.
    pub async fn arrived(&self, chain: ChainId, limit: u16) -> Result<Vec<ArrivedDocument>, StoreError> {
        let call = self
            .0
            .query()
            .key_condition_expression("pk = :inbox")
            .expression_attribute_values(":inbox", text(rows::arrived_documents(chain)))
            .limit(limit.into());
        Ok(serde_dynamo::from_items(call.dispatch().await?.items.unwrap_or_default())?)
    }

    /// Returns documents due at `now` (Unix seconds), the longest overdue first. One Query.
    pub async fn due(&self, shard: u8, now: u64, limit: usize) -> Result<Vec<DueDocument>, StoreError> {
        self.0.due(rows::due_documents(shard), now, i32::try_from(limit).unwrap_or(i32::MAX)).await
    }

    /// The same, those that came due last first. One Query.
    pub async fn newest_due(&self, shard: u8, now: u64, limit: usize) -> Result<Vec<DueDocument>, StoreError> {
        self.0.newest_due(rows::due_documents(shard), now, i32::try_from(limit).unwrap_or(i32::MAX)).await
    }

    /// Stores a document fetched at `now` (Unix seconds), queues its files and notifies the indexer, unless it was read
    /// again and is as before. One transaction, and a read for one that was read again.
    pub async fn keep(&self, due: &DueDocument, document: Metadata, now: u64) -> Result<(), StoreError> {
        let hash = Self::uri_hash(&due.uri);
        if due.since.is_some() {
            let row: Option<DocumentRow> = self.0.get(&document_key(due.chain, &hash)).await?;
            if row.and_then(|row| row.document).as_ref() == Some(&document) {
                return self.give_up(due).await;
            }
        }
        let content_type = document.content_type();
        let files = DuePreviews::of(due.chain, &hash, &document);
        let row = DocumentRow { uri_hash: hash.clone(), document: Some(document) };
        let mut writes = vec![self.0.replacement(&document_key(due.chain, &hash), &row)?, self.0.deletion(&due.key())?];
        if let Some(content_type) = content_type {
            let arrived = ArrivedDocument { uri_hash: hash.clone(), content_type, at: now, retyped: 0 };
            writes.push(self.0.replacement(&arrived.key(due.chain), &arrived)?);
        }
        if let Some(files) = files {
            writes.push(self.0.replacement(&files.key(), &files)?);
        }
        self.0.write_together(writes).await?;
        Ok(())
    }

    /// Reschedules a failed fetch to `due_again` (Unix seconds), or to a later second if the document is in the queue
    /// for that one already, as one to be read again is. A transaction for each second that is tried.
    pub async fn retry(&self, due: &DueDocument, due_again: u64) -> Result<(), StoreError> {
        self.reschedule(due, DueDocument { failures: due.failures.saturating_add(1), due: due_again, ..due.clone() })
            .await
    }

    /// The same for a fetch that wasn't tried.
    pub async fn put_off(&self, due: &DueDocument, due_again: u64) -> Result<(), StoreError> {
        self.reschedule(due, DueDocument { due: due_again, ..due.clone() }).await
    }

    async fn reschedule(&self, due: &DueDocument, mut again: DueDocument) -> Result<(), StoreError> {
        const ATTEMPTS: usize = 5;
        for _ in 0..ATTEMPTS {
            let writes = vec![self.0.deletion(&due.key())?, self.0.insertion(&again.key(), &again)?];
            if self.0.write_together(writes).await? {
                return Ok(());
            }
            again.due = again.due.saturating_add(1);
        }
        Err(StoreError::Contention("metadata documents"))
    }

    /// Removes a document from the queue: one that can never be fetched, or that need not be.
    pub async fn give_up(&self, due: &DueDocument) -> Result<(), StoreError> {
        self.0.write_together(vec![self.0.deletion(&due.key())?]).await?;
        Ok(())
    }

    async fn rows(
        &self,
        chain: ChainId,
        hashes: impl Iterator<Item = &String>,
    ) -> Result<HashMap<String, Option<Metadata>>, StoreError> {
        let keys = BTreeSet::from_iter(hashes).into_iter().map(|hash| document_key(chain, hash));
        let rows: Vec<DocumentRow> = self.0.get_many(keys).await?;
        Ok(rows.into_iter().map(|row| (row.uri_hash, row.document)).collect())
    }
}

impl UnitOfWork {
    /// Stores how many moments were updated, or deletes the arrival after the last.
    pub fn set_retyped(&mut self, chain: ChainId, arrived: &ArrivedDocument, to_all: bool) -> Result<(), StoreError> {
        if to_all {
            self.delete(&arrived.key(chain));
            return Ok(());
        }
        self.put(&arrived.key(chain), arrived)
    }
}

impl DueDocument {
    /// A document to fetch at `due` (Unix seconds) or later.
    pub fn new(chain: ChainId, uri: &str, collection: Address, due: u64) -> Self {
        Self { chain, uri: uri.to_owned(), collection, failures: 0, since: None, due }
    }

    /// When it came due, in Unix seconds.
    pub fn due_at(&self) -> u64 {
        self.due
    }

    fn key(&self) -> PrimaryKey {
        let hash = Documents::uri_hash(&self.uri);
        let shard = hash.bytes().next().map_or(0, |digit| digit % QUEUE_SHARDS);
        rows::due_document(shard, self.due, self.chain, &hash)
    }
}

impl Pace {
    /// When the next document is due that was named at this time, both in Unix seconds.
    fn next(&mut self, at: u64) -> u64 {
        let at = at.saturating_mul(1000);
        let due = at.max(self.arrival.saturating_sub((BURST - 1) * PACE));
        self.arrival = at.max(self.arrival).saturating_add(PACE);
        due / 1000
    }
}

impl ArrivedDocument {
    fn key(&self, chain: ChainId) -> PrimaryKey {
        rows::arrived_document(chain, &self.uri_hash, self.at)
    }
}

/// Longer URIs are not stored, so nobody could ask for their documents.
fn can_be_fetched(uri: &str) -> bool {
    let schemes = ["ipfs://", "ar://", "https://", "data:"];
    uri.len() <= MAX_URI_KEPT && schemes.iter().any(|scheme| uri.starts_with(scheme))
}

/// Whether another document may be there later: what has a content identifier, or is in the URI, stays as it is.
pub fn can_change(uri: &str) -> bool {
    uri.starts_with("https://")
}

/// The host of a web address, the same however it is written: what has a content identifier comes from the gateways.
pub fn host(uri: &str) -> Option<String> {
    let url = uri.starts_with("https://").then(|| Url::parse(uri))?.ok()?;
    Some(url.host_str()?.trim_end_matches('.').to_owned())
}

pub(in crate::store) fn document_key(chain: ChainId, uri_hash: &str) -> PrimaryKey {
    rows::document(chain, uri_hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collections_documents_come_in_a_burst_and_then_at_its_pace() {
        let collection = "0x0000000000000000000000000000000000000001".parse().unwrap();
        let mut pace = Pace { collection, arrival: 0 };
        let due: Vec<u64> = (0..59).map(|_| pace.next(1000)).collect();
        assert_eq!(due[..50], [1000; 50]);
        assert_eq!(due[50..], [1000, 1000, 1000, 1001, 1001, 1001, 1001, 1002, 1002]);
        // After a pause it is as before.
        assert_eq!([pace.next(2000), pace.next(2000)], [2000, 2000]);
    }

    #[test]
    fn a_host_is_the_same_however_it_is_written() {
        for (host_of, uris) in [
            (
                "a.example",
                [
                    "https://a.example/1",
                    "https://A.Example./2",
                    "https://you@a.example:443?3",
                    "https://%61.example#4",
                    "https://a.example\\5",
                ],
            ),
            (
                "8.8.4.4",
                [
                    "https://8.8.4.4",
                    "https://8.8.1028",
                    "https://010.0x8.04.4/",
                    "https://8.8.4.0004",
                    "https://8.8.4.4.",
                ],
            ),
        ] {
            for uri in uris {
                assert_eq!(host(uri).as_deref(), Some(host_of), "{uri}");
            }
        }
        for uri in ["ipfs://a.example/1", "http://a.example/1", "https://", " https://a.example"] {
            assert_eq!(host(uri), None, "{uri}");
        }
    }
}
