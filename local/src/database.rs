//! DynamoDB in this process and in memory: every start begins empty.

use std::{
    env,
    fmt::Display,
    fs, process,
    sync::atomic::{AtomicU32, Ordering},
};

use aws_sdk_dynamodb::types::AttributeValue;
use dynoxide::{Database, ImportOptions, storage::Storage};
use local_lambda::StreamDatabase;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use shared::store::engine::Item;
use tokio::net::TcpListener;

use crate::Error;

/// Makes reading and writing a stream as cheap when it is long as when it is short: without the index each write to a
/// table with a stream reads all earlier records. The oldest records go when a hundred thousand newer ones are there,
/// where DynamoDB keeps them for a day.
const STREAM_SCHEMA: &str = "
    CREATE INDEX records_of_a_stream ON _stream_records (table_name, CAST(sequence_number AS INTEGER));
    CREATE TRIGGER trim_streams AFTER INSERT ON _stream_records
    BEGIN DELETE FROM _stream_records WHERE id <= NEW.id - 100000; END;";

/// A database that can be filled without its HTTP API.
#[derive(Clone)]
pub struct LocalDatabase {
    /// URL of its API.
    pub endpoint: String,
    database: Database,
}

/// Serves an empty database until the runtime ends, and returns its endpoint.
pub async fn start() -> Result<String, Error> {
    Ok(LocalDatabase::start().await?.endpoint)
}

impl LocalDatabase {
    /// Serves an empty database until the runtime ends.
    pub async fn start() -> Result<Self, Error> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let endpoint = format!("http://{}", listener.local_addr()?);
        let database = empty()?;
        let served = database.clone();
        tokio::spawn(dynoxide::server::serve_with_shutdown(listener, served, std::future::pending()));
        Ok(Self { endpoint, database })
    }

    /// What reads streams without the HTTP API.
    pub fn streams(&self) -> StreamDatabase {
        let database = self.database.clone();
        StreamDatabase::new(move |operation, request| match operation {
            "DescribeStream" => answer(request, |request| database.describe_stream(request)),
            "GetShardIterator" => answer(request, |request| database.get_shard_iterator(request)),
            "GetRecords" => answer(request, |request| database.get_records(request)),
            other => Err(format!("no operation {other}")),
        })
    }

    /// Imports rows straight into a table, in batches of 10,000.
    pub fn load(&self, table: &str, rows: impl IntoIterator<Item = Item>) -> Result<(), Error> {
        const BATCH: usize = 10_000;
        let mut rows = rows.into_iter().peekable();
        while rows.peek().is_some() {
            let items = rows.by_ref().take(BATCH).map(item).collect();
            self.database.import_items(table, items, ImportOptions::default())?;
        }
        Ok(())
    }
}

/// The answer to a request in the API's JSON.
fn answer<Q: DeserializeOwned, A: Serialize, E: Display>(
    request: &Value,
    ask: impl FnOnce(Q) -> Result<A, E>,
) -> Result<Value, String> {
    let request = serde_json::from_value(request.clone()).map_err(|error| error.to_string())?;
    let answer = ask(request).map_err(|error| error.to_string())?;
    serde_json::to_value(answer).map_err(|error| error.to_string())
}

/// A database without tables. What its library can't be asked for is in a file that it starts from.
fn empty() -> Result<Database, Error> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("moments-{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let folder = env::temp_dir().join(name);
    fs::create_dir_all(&folder)?;
    let file = folder.join("empty.db");
    let path = file.to_str().ok_or("the folder of temporary files has no readable name")?;
    let outcome = Storage::new(path).map_err(Error::from).and_then(|storage| {
        storage.conn().execute_batch(STREAM_SCHEMA)?;
        drop(storage);
        let database = Database::memory()?;
        database.restore_from(path)?;
        Ok(database)
    });
    fs::remove_dir_all(&folder)?;
    outcome
}

fn item(row: Item) -> dynoxide::Item {
    row.into_iter().map(|(name, value)| (name, field(value))).collect()
}

fn field(value: AttributeValue) -> dynoxide::AttributeValue {
    match value {
        AttributeValue::S(text) => dynoxide::AttributeValue::S(text),
        AttributeValue::N(number) => dynoxide::AttributeValue::N(number),
        AttributeValue::B(bytes) => dynoxide::AttributeValue::B(bytes.into_inner()),
        AttributeValue::Bool(truth) => dynoxide::AttributeValue::BOOL(truth),
        AttributeValue::L(values) => dynoxide::AttributeValue::L(values.into_iter().map(field).collect()),
        AttributeValue::M(fields) => dynoxide::AttributeValue::M(item(fields)),
        // Sets are not used.
        _ => dynoxide::AttributeValue::NULL(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How the database library finds the newest sequence number and the next records.
    const QUERIES: [&str; 2] = [
        "SELECT COALESCE(MAX(CAST(sequence_number AS INTEGER)), 0) + 1 FROM _stream_records WHERE table_name = 'a'",
        "SELECT event_name FROM _stream_records WHERE table_name = 'a' AND shard_id = 'b' \
         AND CAST(sequence_number AS INTEGER) > 5 ORDER BY CAST(sequence_number AS INTEGER) ASC LIMIT 10",
    ];

    #[test]
    fn streams_are_read_by_their_index() -> Result<(), Error> {
        let snapshot = env::temp_dir().join(format!("moments-{}-snapshot.db", process::id()));
        let path = snapshot.to_str().ok_or("no name")?;
        let _ = fs::remove_file(&snapshot);
        empty()?.vacuum_into(path)?;
        let storage = Storage::new(path)?;
        for query in QUERIES {
            let plan = format!("EXPLAIN QUERY PLAN {query}");
            let plan: String = storage.conn().query_row(&plan, [], |row| row.get(3))?;
            assert!(plan.starts_with("SEARCH") && plan.contains("INDEX records_of_a_stream"), "{plan}");
        }
        drop(storage);
        Ok(fs::remove_file(&snapshot)?)
    }
}
