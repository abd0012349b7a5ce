//! The API of DynamoDB streams, and the records that it returns.

use std::{
    collections::BTreeMap,
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::{StartingPosition, StreamMapping};
use crate::account::REGION;

/// Why a stream can't be read.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// The database doesn't answer.
    #[error("{0} doesn't answer")]
    Unreachable(String),
    /// The database refuses, with its answer.
    #[error("{operation} is refused: {answer}")]
    Refused {
        /// The operation, such as `GetRecords`.
        operation: &'static str,
        /// Body of the answer.
        answer: String,
    },
}

/// A database in this process: many reads a second find nothing, and cost far less than over HTTP. It is asked for an operation,
/// such as `GetRecords`, and answers or refuses.
#[derive(Clone)]
pub struct StreamDatabase(Arc<Ask>);

type Ask = dyn Fn(&str, &Value) -> Result<Value, String> + Send + Sync;

impl StreamDatabase {
    /// One that `ask` asks.
    pub fn new(ask: impl Fn(&str, &Value) -> Result<Value, String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(ask))
    }
}

impl fmt::Debug for StreamDatabase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("StreamDatabase")
    }
}

/// A shard, read from its start or its end.
pub(crate) struct Shard {
    pub(super) id: String,
    api: Api,
    stream_arn: String,
    iterator: String,
}

impl Shard {
    /// The stream's shards, each at the mapping's starting position.
    pub(crate) async fn all(mapping: &StreamMapping) -> Result<Vec<Self>, StreamError> {
        let api = Api::new(mapping);
        let stream = json!({"StreamArn": mapping.stream_arn});
        let description = api.call("DescribeStream", &stream).await?;
        let mut shards = Vec::new();
        for shard in description["StreamDescription"]["Shards"].as_array().into_iter().flatten() {
            let start = match mapping.start {
                StartingPosition::TrimHorizon => "TRIM_HORIZON",
                StartingPosition::Latest => "LATEST",
            };
            let id = text(&shard["ShardId"]);
            let wanted = json!({"StreamArn": mapping.stream_arn, "ShardId": id, "ShardIteratorType": start});
            let iterator = text(&api.call("GetShardIterator", &wanted).await?["ShardIterator"]);
            shards.push(Self { id, api: api.clone(), stream_arn: mapping.stream_arn.clone(), iterator });
        }
        Ok(shards)
    }

    /// The next records. After an error the same ones are read again.
    pub(super) async fn read(&mut self) -> Result<Vec<Record>, StreamError> {
        let mut answer = self.api.call("GetRecords", &json!({"ShardIterator": self.iterator})).await?;
        let records = answer["Records"].as_array_mut().map(std::mem::take).unwrap_or_default();
        if let Some(next) = answer["NextShardIterator"].as_str() {
            next.clone_into(&mut self.iterator);
        }
        Ok(records.into_iter().map(|record| Record::new(record, &self.stream_arn)).collect())
    }
}

/// A change of an item.
#[derive(Debug)]
pub(super) struct Record {
    /// As in Lambda's event.
    pub(super) event: Value,
    pub(super) sequence_number: String,
    pub(super) created: OffsetDateTime,
    /// Bytes of the event.
    pub(super) size: usize,
}

impl Record {
    fn new(mut event: Value, stream_arn: &str) -> Self {
        let seconds = event["dynamodb"]["ApproximateCreationDateTime"].as_f64().unwrap_or_default();
        // A float can't hold more of a time than its microseconds.
        let micros = (seconds * 1e6).round() as i128;
        if micros % 1_000_000 == 0 {
            event["dynamodb"]["ApproximateCreationDateTime"] = json!(micros / 1_000_000);
        }
        event["awsRegion"] = json!(REGION);
        event["eventSourceARN"] = json!(stream_arn);
        Self {
            sequence_number: text(&event["dynamodb"]["SequenceNumber"]),
            created: OffsetDateTime::from_unix_timestamp_nanos(micros * 1_000).unwrap_or(OffsetDateTime::UNIX_EPOCH),
            size: event.to_string().len(),
            event,
        }
    }

    /// Hash of the item's whole key.
    pub(super) fn item(&self) -> u64 {
        let keys = self.event["dynamodb"]["Keys"].as_object().into_iter().flatten();
        // In the order of names, since objects have none.
        let keys: BTreeMap<_, _> = keys.map(|(name, value)| (name, value.to_string())).collect();
        let mut hasher = DefaultHasher::new();
        keys.hash(&mut hasher);
        hasher.finish()
    }
}

#[derive(Clone)]
struct Api {
    endpoint: String,
    client: Client<HttpConnector, Full<Bytes>>,
    database: Option<StreamDatabase>,
}

impl Api {
    fn new(mapping: &StreamMapping) -> Self {
        let client = Client::builder(TokioExecutor::new()).build_http();
        Self { endpoint: mapping.endpoint.clone(), client, database: mapping.database.clone() }
    }

    async fn call(&self, operation: &'static str, body: &Value) -> Result<Value, StreamError> {
        if let Some(StreamDatabase(ask)) = &self.database {
            return ask(operation, body).map_err(|answer| StreamError::Refused { operation, answer });
        }
        let unreachable = || StreamError::Unreachable(self.endpoint.clone());
        let scope = format!("AWS4-HMAC-SHA256 Credential=lambda/20260101/{REGION}/dynamodb/aws4_request");
        let request = Request::post(&self.endpoint)
            .header("x-amz-target", format!("DynamoDBStreams_20120810.{operation}"))
            .header("content-type", "application/x-amz-json-1.0")
            .header("x-amz-date", "20260101T000000Z")
            .header("authorization", format!("{scope}, SignedHeaders=host, Signature=local"))
            .body(Full::from(body.to_string()))
            .map_err(|_| unreachable())?;
        let answer = self.client.request(request).await.map_err(|_| unreachable())?;
        let is_success = answer.status().is_success();
        let body = answer.into_body().collect().await.map_err(|_| unreachable())?.to_bytes();
        let refused = || StreamError::Refused { operation, answer: String::from_utf8_lossy(&body).into_owned() };
        if !is_success {
            return Err(refused());
        }
        serde_json::from_slice(&body).map_err(|_| refused())
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
