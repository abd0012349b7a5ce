//! Metadata documents and the queue of those to fetch, in the table of what the chain can rebuild. Rows hang on the URI,
//! not on who uses it: undoing a block leaves them alone.
//!
//! - `pk = METADATA#<chain>#<hash of the URI>`, `sk = DOCUMENT`: a document, null until it is fetched;
//! - `pk = METADATA_DUE#<shard>`, `sk = <Unix time, 12 digits>#<chain>#<hash>`: one to fetch from this time on;
//! - `pk = METADATA_INBOX#<chain>`, `sk = <hash>#<Unix time>`: one that has come and that the indexer hasn't looked at.

use std::collections::{BTreeSet, HashMap};

use aws_sdk_dynamodb::types::{Delete, Put, TransactWriteItem};
use futures::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Key, StoreError, Table, Unit, row, text};
use crate::model::{ChainId, ContentType, MAX_URI_KEPT, Metadata};

/// Over how many partitions the queue is spread.
pub const QUEUE_SHARDS: u8 = 8;

/// Rows that one DynamoDB transaction takes, of which each new document needs two.
const MAX_NEW: usize = 50;

/// How many calls are under way at the same time.
const AT_ONCE: usize = 8;

/// All metadata documents.
#[derive(Clone)]
pub struct Documents(Table);

/// A document that is to be fetched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DueDocument {
    /// Chain that names the URI.
    pub chain: ChainId,
    /// Where the document is.
    pub uri: String,
    /// How often fetching it has failed.
    pub failures: u32,
    /// Since when it is due, in Unix seconds.
    due: u64,
}

/// A document that has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrivedDocument {
    /// Hash of its URI: what [`Documents::uri_hash`] gives.
    pub uri_hash: String,
    /// What its content is.
    pub content_type: ContentType,
    /// When it came, in Unix seconds: a document that comes twice is told twice.
    at: u64,
    /// How many of the moments with this URI know it already.
    #[serde(default)]
    pub told: u64,
}

#[derive(Serialize, Deserialize)]
struct DocumentRow {
    uri_hash: String,
    document: Option<Metadata>,
}

impl Documents {
    /// The documents in the chain's table.
    pub fn new(chain: Table) -> Self {
        Self(chain)
    }

    /// The name under which a URI's rows are.
    pub fn uri_hash(uri: &str) -> String {
        alloy::hex::encode(Sha256::digest(uri))
    }

    /// The documents at these URIs, as far as they are fetched. One read for every hundred.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn find_many<'a>(
        &self,
        chain: ChainId,
        uris: impl IntoIterator<Item = &'a str>,
    ) -> Result<HashMap<&'a str, Metadata>, StoreError> {
        let hashes: HashMap<_, _> = uris.into_iter().map(|uri| (uri, Self::uri_hash(uri))).collect();
        let mut rows = self.rows(chain, hashes.values()).await?;
        let document = |(uri, hash)| Some((uri, rows.remove(&hash)??));
        // Two URIs never share a hash, so each row is taken once.
        Ok(hashes.into_iter().filter_map(document).collect())
    }

    /// Has the documents at these URIs fetched, unless they are known, and gives those that have come. One read for every
    /// hundred, and one transaction for every fifty new ones.
    ///
    /// # Errors
    /// When storage fails, or others keep queueing the same.
    pub async fn queue<'a>(
        &self,
        chain: ChainId,
        uris: impl IntoIterator<Item = &'a str>,
    ) -> Result<HashMap<&'a str, Metadata>, StoreError> {
        const ATTEMPTS: usize = 5;
        let mut new: HashMap<_, _> =
            uris.into_iter().filter(|uri| can_be_fetched(uri)).map(|uri| (Self::uri_hash(uri), uri)).collect();
        let mut fetched = HashMap::new();
        for _ in 0..ATTEMPTS {
            for (hash, document) in self.rows(chain, new.keys()).await? {
                let uri = new.remove(&hash);
                fetched.extend(uri.zip(document));
            }
            let writes = Vec::from_iter(&new).chunks(MAX_NEW).map(|few| self.entries(chain, few)).collect::<Vec<_>>();
            let writes = writes.into_iter().collect::<Result<Vec<_>, _>>()?;
            let calls = stream::iter(writes).map(|writes| self.0.write_together(writes));
            let written: Vec<bool> = calls.buffer_unordered(AT_ONCE).try_collect().await?;
            if written.into_iter().all(|written| written) {
                return Ok(fetched);
            }
        }
        Err(StoreError::Contention("metadata documents"))
    }

    /// The writes that put new documents into the queue.
    fn entries(&self, chain: ChainId, new: &[(&String, &&str)]) -> Result<Vec<TransactWriteItem>, StoreError> {
        let mut writes = Vec::new();
        for (hash, uri) in new {
            let row = DocumentRow { uri_hash: (*hash).clone(), document: None };
            writes.push(self.0.insertion(&document_key(chain, hash), &row)?);
            let due = DueDocument { chain, uri: (**uri).to_owned(), failures: 0, due: 0 };
            writes.push(self.put(&due.key(), &due)?);
        }
        Ok(writes)
    }

    /// Documents that have come and that the indexer hasn't looked at, or not to the end. One Query.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn arrived(&self, chain: ChainId, limit: u16) -> Result<Vec<ArrivedDocument>, StoreError> {
        let call = self
            .0
            .client
            .query()
            .table_name(&self.0.name)
            .key_condition_expression("pk = :inbox")
            .expression_attribute_values(":inbox", text(inbox_partition(chain)))
            .limit(limit.into())
            .consistent_read(true);
        Ok(serde_dynamo::from_items(call.send().await?.items.unwrap_or_default())?)
    }

    /// Documents of a shard of the queue that are due at `now` (Unix seconds), those that wait longest first; new ones
    /// come before those that have failed. One Query.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn due(&self, shard: u8, now: u64, limit: usize) -> Result<Vec<DueDocument>, StoreError> {
        let call = self
            .0
            .client
            .query()
            .table_name(&self.0.name)
            .key_condition_expression("pk = :queue AND sk < :later")
            .expression_attribute_values(":queue", text(queue_partition(shard)))
            .expression_attribute_values(":later", text(due_prefix(now + 1)))
            .limit(i32::try_from(limit).unwrap_or(i32::MAX))
            .consistent_read(true);
        Ok(serde_dynamo::from_items(call.send().await?.items.unwrap_or_default())?)
    }

    /// Keeps a document that was fetched by `now` (Unix seconds), and tells the indexer what it is. One transaction.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn keep(&self, due: &DueDocument, document: Metadata, now: u64) -> Result<(), StoreError> {
        let hash = Self::uri_hash(&due.uri);
        let content_type = document.content_type();
        let row = DocumentRow { uri_hash: hash.clone(), document: Some(document) };
        let mut writes = vec![self.put(&document_key(due.chain, &hash), &row)?, self.removal(&due.key())?];
        if let Some(content_type) = content_type {
            let arrived = ArrivedDocument { uri_hash: hash.clone(), content_type, at: now, told: 0 };
            writes.push(self.put(&arrived.key(due.chain), &arrived)?);
        }
        self.0.write_together(writes).await?;
        Ok(())
    }

    /// Has a document fetched again from `due_again` (Unix seconds) on, after it couldn't be fetched. One transaction.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn put_off(&self, due: &DueDocument, due_again: u64) -> Result<(), StoreError> {
        let again = DueDocument { failures: due.failures.saturating_add(1), due: due_again, ..due.clone() };
        self.0.write_together(vec![self.removal(&due.key())?, self.put(&again.key(), &again)?]).await?;
        Ok(())
    }

    /// Takes a document out of the queue that can never be fetched.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn give_up(&self, due: &DueDocument) -> Result<(), StoreError> {
        self.0.write_together(vec![self.removal(&due.key())?]).await?;
        Ok(())
    }

    /// Rows by the hash of their URI.
    async fn rows(
        &self,
        chain: ChainId,
        hashes: impl Iterator<Item = &String>,
    ) -> Result<HashMap<String, Option<Metadata>>, StoreError> {
        let keys = Vec::from_iter(BTreeSet::from_iter(hashes));
        let read = |hashes: &[&String]| {
            let keys: Vec<Key> = hashes.iter().map(|hash| document_key(chain, hash)).collect();
            async move { self.0.get_many::<DocumentRow>(keys).await }
        };
        let calls = stream::iter(keys.chunks(100).map(read).collect::<Vec<_>>());
        let rows: Vec<Vec<DocumentRow>> = calls.buffer_unordered(AT_ONCE).try_collect().await?;
        Ok(rows.into_iter().flatten().map(|row| (row.uri_hash, row.document)).collect())
    }

    fn put(&self, key: &Key, fields: &impl Serialize) -> Result<TransactWriteItem, StoreError> {
        let put = Put::builder().table_name(&self.0.name).set_item(Some(row(key, fields)?)).build()?;
        Ok(TransactWriteItem::builder().put(put).build())
    }

    fn removal(&self, key: &Key) -> Result<TransactWriteItem, StoreError> {
        let delete = Delete::builder().table_name(&self.0.name).set_key(Some(key.item())).build()?;
        Ok(TransactWriteItem::builder().delete(delete).build())
    }
}

impl Unit {
    /// Notes how far an arrived document was told, or that it was told to all.
    ///
    /// # Errors
    /// When it can't be written as a row.
    pub fn set_told(&mut self, chain: ChainId, arrived: &ArrivedDocument, to_all: bool) -> Result<(), StoreError> {
        if to_all {
            self.delete(&arrived.key(chain));
            return Ok(());
        }
        self.put(&arrived.key(chain), arrived)
    }
}

impl DueDocument {
    fn key(&self) -> Key {
        let hash = Documents::uri_hash(&self.uri);
        let shard = hash.bytes().next().map_or(0, |digit| digit % QUEUE_SHARDS);
        Key::new(queue_partition(shard), format!("{}#{}#{hash}", due_prefix(self.due), self.chain))
    }
}

impl ArrivedDocument {
    fn key(&self, chain: ChainId) -> Key {
        Key::new(inbox_partition(chain), format!("{}#{}", self.uri_hash, self.at))
    }
}

/// Whether there is a way to a URI's document: a longer one isn't kept, so that nobody could ask for it.
fn can_be_fetched(uri: &str) -> bool {
    let schemes = ["ipfs://", "ar://", "https://", "data:"];
    uri.len() <= MAX_URI_KEPT && schemes.iter().any(|scheme| uri.starts_with(scheme))
}

fn document_key(chain: ChainId, uri_hash: &str) -> Key {
    Key::new(format!("METADATA#{chain}#{uri_hash}"), "DOCUMENT")
}

fn inbox_partition(chain: ChainId) -> String {
    format!("METADATA_INBOX#{chain}")
}

fn queue_partition(shard: u8) -> String {
    format!("METADATA_DUE#{shard}")
}

fn due_prefix(time: u64) -> String {
    format!("{time:012}")
}
