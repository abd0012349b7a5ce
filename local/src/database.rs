//! DynamoDB in this process and in memory: every start begins empty.

use aws_sdk_dynamodb::types::AttributeValue;
use dynoxide::{Database, ImportOptions};
use shared::store::Item;
use tokio::net::TcpListener;

use crate::Error;

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
        let database = Database::memory()?;
        let served = database.clone();
        tokio::spawn(dynoxide::server::serve_with_shutdown(listener, served, std::future::pending()));
        Ok(Self { endpoint, database })
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
