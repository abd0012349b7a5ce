//! A proxy for DynamoDB, KMS, SES, S3 and Secrets Manager that records each call as the IAM permission it needs.

mod objects;

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{
    Router,
    body::Bytes,
    extract::{DefaultBodyLimit, State},
    http::{HeaderMap, HeaderName, Method, StatusCode, Uri},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::{
    Error,
    cloud::{ACCOUNT, REGION},
};

/// Largest request, a part of an upload, in bytes.
const MAX_REQUEST: usize = 128 << 20;

/// The condition key of the attributes that a request names.
pub(crate) const ATTRIBUTES: &str = "dynamodb:Attributes";

/// Actions whose attributes are recorded.
const NAMING: [&str; 5] = ["BatchWriteItem", "ConditionCheckItem", "DeleteItem", "PutItem", "UpdateItem"];

/// Words of expressions that are no attributes' names; attributes that are called so have a placeholder.
const WORDS: [&str; 17] = [
    "ADD",
    "AND",
    "BETWEEN",
    "DELETE",
    "IN",
    "NOT",
    "OR",
    "REMOVE",
    "SET",
    "attribute_exists",
    "attribute_not_exists",
    "attribute_type",
    "begins_with",
    "contains",
    "if_not_exists",
    "list_append",
    "size",
];

/// A permission that a role must grant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Need {
    /// The caller's access key id; locally the function's name.
    pub caller: String,
    /// Action, such as `dynamodb:GetItem`.
    pub action: String,
    /// ARN of the resource.
    pub resource: String,
    /// Condition key → values of the request.
    pub context: BTreeMap<String, BTreeSet<String>>,
}

/// A recorded call and its cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Operation, such as `GetItem`.
    pub operation: String,
    /// Consumed capacity units; 0 except for DynamoDB.
    pub capacity: f64,
    /// Rows in the response.
    pub rows: usize,
    /// The expression of an update; empty for other calls.
    pub update: String,
}

/// A running recorder.
pub struct Recorder {
    /// URL of the proxy.
    pub url: String,
    records: Arc<Mutex<Records>>,
}

#[derive(Default)]
struct Records {
    calls: Vec<Call>,
    needs: BTreeSet<Need>,
}

#[derive(Clone)]
struct Upstream {
    url: String,
    client: reqwest::Client,
    records: Arc<Mutex<Records>>,
}

impl Recorder {
    /// Starts a recorder in front of the service at `url`, which runs until the runtime ends.
    pub async fn in_front_of(url: &str) -> Result<Self, Error> {
        let records = Arc::default();
        let upstream = Upstream { url: url.to_owned(), client: reqwest::Client::new(), records: Arc::clone(&records) };
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let url = format!("http://{}", listener.local_addr()?);
        let router = Router::new().fallback(forward).layer(DefaultBodyLimit::max(MAX_REQUEST)).with_state(upstream);
        tokio::spawn(axum::serve(listener, router).into_future());
        Ok(Self { url, records })
    }

    /// The operations since the last `take` or `take_calls`, such as `GetItem`.
    pub fn take(&self) -> Vec<String> {
        self.take_calls().into_iter().map(|call| call.operation).collect()
    }

    /// The calls since the last `take` or `take_calls`.
    pub fn take_calls(&self) -> Vec<Call> {
        mem::take(&mut lock(&self.records).calls)
    }

    /// All permissions needed so far.
    pub fn needs(&self) -> BTreeSet<Need> {
        lock(&self.records).needs.clone()
    }
}

fn lock(records: &Mutex<Records>) -> MutexGuard<'_, Records> {
    records.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn forward(
    State(upstream): State<Upstream>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, (StatusCode, String)> {
    let unreachable = |error: reqwest::Error| (StatusCode::BAD_GATEWAY, error.to_string());
    if uri.path() != "/" {
        lock(&upstream.records).needs.extend(objects::needs_of(&method, &uri, &headers));
        return objects::forward(&upstream.client, &upstream.url, method, &uri, headers, body)
            .await
            .map_err(unreachable);
    }
    let (operation, needs) = needs_of(&headers, &body);
    let update = if operation == "UpdateItem" { update_of(&body) } else { String::new() };
    lock(&upstream.records).needs.extend(needs);
    let mut request = upstream.client.post(&upstream.url).body(asking_for_capacity(&headers, body));
    for name in ["authorization", "content-type", "x-amz-date", "x-amz-target"] {
        if let Some(value) = headers.get(name) {
            request = request.header(name, value);
        }
    }
    let answer = request.send().await.map_err(unreachable)?;
    let (status, received) = (answer.status(), answer.headers().clone());
    let passed_on = ["content-type", "x-amz-crc32", "x-amzn-requestid"].map(HeaderName::from_static);
    let headers = passed_on.into_iter().filter_map(|name| Some((name.clone(), received.get(&name)?.clone())));
    let body = answer.bytes().await.map_err(unreachable)?;
    let told = serde_json::from_slice(&body).unwrap_or_default();
    let call = Call { operation, capacity: capacity_of(&told), rows: rows_of(&told), update };
    lock(&upstream.records).calls.push(call);
    Ok((status, headers.collect::<HeaderMap>(), body).into_response())
}

/// Adds `ReturnConsumedCapacity` to requests to DynamoDB.
fn asking_for_capacity(headers: &HeaderMap, body: Bytes) -> Bytes {
    let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    match serde_json::from_slice(&body) {
        Ok(Value::Object(mut request)) if target.starts_with("DynamoDB_") => {
            request.insert("ReturnConsumedCapacity".to_owned(), json!("TOTAL"));
            Value::Object(request).to_string().into()
        }
        _ => body,
    }
}

/// Capacity of one table, or the sum over a batch's tables.
fn capacity_of(answer: &Value) -> f64 {
    match &answer["ConsumedCapacity"] {
        Value::Array(tables) => tables.iter().filter_map(|table| table["CapacityUnits"].as_f64()).sum(),
        table => table["CapacityUnits"].as_f64().unwrap_or_default(),
    }
}

fn update_of(body: &[u8]) -> String {
    let request: Value = serde_json::from_slice(body).unwrap_or_default();
    request["UpdateExpression"].as_str().unwrap_or_default().to_owned()
}

fn rows_of(answer: &Value) -> usize {
    let batches = answer["Responses"].as_object().into_iter().flatten().filter_map(|(_, rows)| rows.as_array());
    let batched: usize = batches.map(Vec::len).sum();
    answer["Items"].as_array().map_or(batched + usize::from(answer["Item"].is_object()), Vec::len)
}

/// A call's operation, and the permissions that it needs.
fn needs_of(headers: &HeaderMap, body: &[u8]) -> (String, Vec<Need>) {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let caller = header("authorization").split("Credential=").nth(1).and_then(|scope| scope.split('/').next());
    let need = |(action, resource, context): Asked| Need {
        caller: caller.unwrap_or_default().to_owned(),
        action,
        resource,
        context: context.into_iter().map(|(key, values)| (key.to_owned(), values)).collect(),
    };
    let (service, operation) = header("x-amz-target").split_once('.').unwrap_or_default();
    let json = || serde_json::from_slice::<Value>(body).unwrap_or_default();
    let (operation, asked) = match service {
        "TrentService" => (operation.to_owned(), vec![kms(operation, &json())]),
        "secretsmanager" => {
            let secret = json()["SecretId"].as_str().unwrap_or_default().to_owned();
            (operation.to_owned(), vec![(format!("secretsmanager:{operation}"), secret, BTreeMap::new())])
        }
        "" => {
            let form: BTreeMap<String, String> = url::form_urlencoded::parse(body).into_owned().collect();
            let field = |name: &str| form.get(name).cloned().unwrap_or_default();
            let context = BTreeMap::from([("ses:FromAddress", BTreeSet::from([field("Source")]))]);
            let action = format!("ses:{}", field("Action"));
            let identity = arn("ses", &format!("identity/{}", field("Source")));
            let settings = form.get("ConfigurationSetName").map(|set| arn("ses", &format!("configuration-set/{set}")));
            let resources = [identity].into_iter().chain(settings);
            (field("Action"), resources.map(|resource| (action.clone(), resource, context.clone())).collect())
        }
        _ => (operation.to_owned(), dynamodb(operation, &json())),
    };
    (operation, asked.into_iter().map(need).collect())
}

/// Action, resource and context.
type Asked = (String, String, BTreeMap<&'static str, BTreeSet<String>>);

fn kms(operation: &str, body: &Value) -> Asked {
    let parameters = [
        ("kms:SigningAlgorithm", "SigningAlgorithm"),
        ("kms:MessageType", "MessageType"),
        ("kms:MacAlgorithm", "MacAlgorithm"),
    ];
    let context =
        parameters.into_iter().filter_map(|(key, name)| Some((key, [body[name].as_str()?.to_owned()].into())));
    let key = format!("key/{}", body["KeyId"].as_str().unwrap_or_default());
    (format!("kms:{operation}"), arn("kms", &key), context.collect())
}

/// IAM has an action for each part of a transaction; every other operation has its own.
fn dynamodb(operation: &str, body: &Value) -> Vec<Asked> {
    let asked = |action: &str, table: &str, requests: &[&Value]| {
        let keys: BTreeSet<String> = requests.iter().filter_map(|request| leading_key(request)).collect();
        let mut context = BTreeMap::from([("dynamodb:LeadingKeys", keys)]);
        if NAMING.contains(&action) {
            let attributes = requests.iter().flat_map(|request| attributes_of(request)).collect();
            context.insert(ATTRIBUTES, attributes);
        }
        (format!("dynamodb:{action}"), arn("dynamodb", &format!("table/{table}")), context)
    };
    let name = |request: &Value| request["TableName"].as_str().unwrap_or_default().to_owned();
    match operation {
        "TransactWriteItems" | "TransactGetItems" => {
            let items = body["TransactItems"].as_array().into_iter().flatten().filter_map(Value::as_object).flatten();
            items
                .map(|(kind, request)| {
                    let action = if kind == "ConditionCheck" { "ConditionCheckItem" } else { &format!("{kind}Item") };
                    asked(action, &name(request), &[request])
                })
                .collect()
        }
        "BatchGetItem" | "BatchWriteItem" => {
            let tables = body["RequestItems"].as_object().into_iter().flatten();
            tables
                .map(|(table, requests)| {
                    let requests = requests["Keys"].as_array().or(requests.as_array()).into_iter().flatten();
                    asked(operation, table, &requests.map(unwrapped).collect::<Vec<_>>())
                })
                .collect()
        }
        _ => {
            let index = body["IndexName"].as_str().map(|index| format!("/index/{index}")).unwrap_or_default();
            vec![asked(operation, &format!("{}{index}", name(body)), &[body])]
        }
    }
}

/// The request inside a batch's `PutRequest` or `DeleteRequest`.
fn unwrapped(request: &Value) -> &Value {
    let fields = request.as_object().filter(|fields| fields.len() == 1);
    fields.and_then(|fields| fields.values().next()).unwrap_or(request)
}

/// The partition key of a request.
fn leading_key(request: &Value) -> Option<String> {
    let key = |fields: &Value| fields["pk"]["S"].as_str().map(str::to_owned);
    key(request).or_else(|| key(&request["Key"])).or_else(|| key(&request["Item"])).or_else(|| {
        let condition = request["KeyConditionExpression"].as_str()?;
        let placeholder = condition.split_once('=')?.1.split_whitespace().next()?;
        request["ExpressionAttributeValues"][placeholder]["S"].as_str().map(str::to_owned)
    })
}

/// The attributes that a write names: those of its key, its item and its expressions.
fn attributes_of(request: &Value) -> BTreeSet<String> {
    let names = &request["ExpressionAttributeNames"];
    let fields = ["Key", "Item"].into_iter().filter_map(|part| request[part].as_object()).flatten();
    let mut attributes: BTreeSet<String> = fields.map(|(name, _)| name.clone()).collect();
    for part in ["UpdateExpression", "ConditionExpression"] {
        let is_of_a_path = |character: char| character.is_ascii_alphanumeric() || "_#:.".contains(character);
        let expression = request[part].as_str().unwrap_or_default();
        for path in expression.split(|character: char| !is_of_a_path(character)) {
            // What is inside an attribute counts as the attribute.
            let name = path.split('.').next().unwrap_or_default();
            let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_' || first == '#');
            if is_name && !WORDS.contains(&name) {
                attributes.insert(names[name].as_str().unwrap_or(name).to_owned());
            }
        }
    }
    attributes
}

fn arn(service: &str, resource: &str) -> String {
    format!("arn:aws:{service}:{REGION}:{ACCOUNT}:{resource}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(target: &str, body: &str) -> Vec<(String, String, Vec<String>)> {
        let mut headers = HeaderMap::new();
        headers.insert("x-amz-target", target.parse().unwrap());
        headers
            .insert("authorization", "AWS4-HMAC-SHA256 Credential=log-in/20260101/x/y/z, Signature=s".parse().unwrap());
        let (_, needs) = needs_of(&headers, body.as_bytes());
        assert!(needs.iter().all(|need| need.caller == "log-in"));
        let values = |need: &Need| need.context.values().flatten().cloned().collect();
        let name = |arn: &str| arn.rsplit(':').next().unwrap_or_default().to_owned();
        needs.iter().map(|need| (need.action.clone(), name(&need.resource), values(need))).collect()
    }

    fn expected(action: &str, resource: &str, context: &[&str]) -> (String, String, Vec<String>) {
        (action.to_owned(), resource.to_owned(), context.iter().map(|&value| value.to_owned()).collect())
    }

    #[test]
    fn calls_are_recorded_as_iam_permissions() {
        let row = |pk: &str| json!({"pk": {"S": pk}, "sk": {"S": "S"}});
        let query = json!({
            "TableName": "T", "IndexName": "I", "KeyConditionExpression": "pk = :pk AND sk < :sk",
            "ExpressionAttributeValues": {":pk": {"S": "A#1"}, ":sk": {"S": "2"}},
        });
        assert_eq!(
            asked("DynamoDB_20120810.Query", &query.to_string()),
            [expected("dynamodb:Query", "table/T/index/I", &["A#1"])]
        );
        let transaction = json!({"TransactItems": [
            {"Put": {"TableName": "T", "Item": row("A")}},
            {"ConditionCheck": {"TableName": "U", "Key": row("B")}},
        ]});
        assert_eq!(
            asked("DynamoDB_20120810.TransactWriteItems", &transaction.to_string()),
            [
                expected("dynamodb:PutItem", "table/T", &["pk", "sk", "A"]),
                expected("dynamodb:ConditionCheckItem", "table/U", &["pk", "sk", "B"])
            ]
        );
        let batch =
            json!({"RequestItems": {"T": [{"PutRequest": {"Item": row("A")}}, {"DeleteRequest": {"Key": row("B")}}]}});
        assert_eq!(
            asked("DynamoDB_20120810.BatchWriteItem", &batch.to_string()),
            [expected("dynamodb:BatchWriteItem", "table/T", &["pk", "sk", "A", "B"])]
        );
        let reads = json!({"RequestItems": {"T": {"Keys": [row("A"), row("B")]}}});
        assert_eq!(
            asked("DynamoDB_20120810.BatchGetItem", &reads.to_string()),
            [expected("dynamodb:BatchGetItem", "table/T", &["A", "B"])]
        );
        let signature = json!({"KeyId": "k", "SigningAlgorithm": "ECDSA_SHA_256", "MessageType": "RAW"});
        assert_eq!(
            asked("TrentService.Sign", &signature.to_string()),
            [expected("kms:Sign", "key/k", &["RAW", "ECDSA_SHA_256"])]
        );
        assert_eq!(
            asked("", "Action=SendEmail&Source=a%40b.example&ConfigurationSetName=set"),
            [
                expected("ses:SendEmail", "identity/a@b.example", &["a@b.example"]),
                expected("ses:SendEmail", "configuration-set/set", &["a@b.example"])
            ]
        );
    }

    #[test]
    fn attributes_are_those_of_key_item_and_expressions() {
        let update = json!({
            "TableName": "T",
            "Key": {"pk": {"S": "A"}, "sk": {"S": "S"}},
            "UpdateExpression": "SET #status = :status, charge.wei=charge.wei+:wei, hashes[0] = if_not_exists(first, :none)\
                REMOVE mined ADD size_of :one",
            "ConditionExpression": "attribute_exists(origin) AND (#next.#from <= :now OR NOT size(tries) IN (:a, :b))",
            "ExpressionAttributeNames": {"#status": "status", "#next": "next", "#from": "from"},
            "ExpressionAttributeValues": {":status": {"S": "x"}},
        });
        let attributes: Vec<_> = attributes_of(&update).into_iter().collect();
        let named = ["charge", "first", "hashes", "mined", "next", "origin", "pk", "size_of", "sk", "status", "tries"];
        assert_eq!(attributes, named);
        let item = json!({"TableName": "T", "Item": {"pk": {"S": "A"}, "sk": {"S": "S"}, "own": {"M": {"inner": {}}}}});
        assert_eq!(attributes_of(&item).into_iter().collect::<Vec<_>>(), ["own", "pk", "sk"]);
        let read = json!({"TableName": "T", "Key": {"pk": {"S": "A"}, "sk": {"S": "S"}}});
        assert_eq!(
            asked("DynamoDB_20120810.GetItem", &read.to_string()),
            [expected("dynamodb:GetItem", "table/T", &["A"])]
        );
    }
}
