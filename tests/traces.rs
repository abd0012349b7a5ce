//! What a sampled request leaves at X-Ray's daemon.

use std::{
    collections::BTreeSet,
    fs,
    time::{SystemTime, UNIX_EPOCH},
};

use local::{mail, traces::Traces};
use serde_json::{Value, json};
use tests::{Answer, Sandbox, Stack, eventually, unused_email};
use uuid::Uuid;

const HEADER: &str = "x-amzn-trace-id";

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970").as_secs_f64()
}

/// A trace with a root of its own.
struct Trace {
    root: String,
    began: f64,
}

impl Trace {
    fn new() -> Self {
        let (random, began) = (Uuid::new_v4().simple().to_string(), now());
        Self { root: format!("1-{:08x}-{}", began as u64, &random[..24]), began }
    }

    fn header(&self, sampled: u8) -> String {
        format!("Root={};Sampled={sampled}", self.root)
    }

    fn so_far(&self, stack: &Stack) -> Vec<Value> {
        let text = fs::read_to_string(stack.file.with_file_name(Traces::FILE)).expect("the traces");
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let documents = whole.lines().map(|line| serde_json::from_str::<Value>(line).expect("a document"));
        documents.filter(|document| document["trace_id"] == self.root.as_str()).collect()
    }

    /// The subsegments of one request, its own first. Checks that its calls are its children and lie within it.
    async fn of_request(&self, stack: &Stack, answer: &Answer) -> Vec<Value> {
        let ended = now();
        let (own, mut documents) = eventually(format!("the subsegment of the request of {}", self.root), async || {
            let mut documents = self.so_far(stack);
            // A request's own subsegment is sent last.
            let at = documents.iter().position(|document| document["name"] == "request")?;
            Some((documents.remove(at), documents))
        })
        .await;
        assert_eq!(own["annotations"]["request_id"], answer.header("x-request-id"));
        assert_eq!(own["http"]["response"]["status"], answer.status);
        let span = |document: &Value| ["start_time", "end_time"].map(|field| document[field].as_f64().expect("a time"));
        let [start, end] = span(&own);
        assert!(self.began <= start && start <= end && end <= ended, "{own}");
        let mut ids = BTreeSet::from([own["id"].to_string()]);
        for call in &documents {
            let [begun, done] = span(call);
            assert!(start <= begun && begun <= done && done <= end, "{call}\n{own}");
            assert_eq!((&call["parent_id"], &call["type"]), (&own["id"], &json!("subsegment")), "{call}");
            assert!(ids.insert(call["id"].to_string()), "{call}");
        }
        documents.insert(0, own);
        documents
    }
}

/// How many calls of AWS began only after another had ended, the most in a row.
fn one_after_another(documents: &[Value]) -> usize {
    let time = |call: &Value, field: &str| call[field].as_f64().expect("a time");
    let calls = documents.iter().filter(|call| call["namespace"] == "aws");
    let mut spans: Vec<_> = calls.map(|call| (time(call, "start_time"), time(call, "end_time"))).collect();
    spans.sort_by(|one, other| one.1.total_cmp(&other.1));
    let (mut count, mut free_at) = (0, 0.0);
    for (start, end) in spans {
        if start >= free_at {
            (count, free_at) = (count + 1, end);
        }
    }
    count
}

/// Query of the demo's moment with comments.
fn commented(stack: &Stack) -> String {
    format!("collectionAddress={:#x}&tokenId=1", stack.demo_collection(0))
}

fn operations<'a>(documents: &'a [Value], service: &str) -> BTreeSet<&'a str> {
    let calls = documents.iter().filter(|document| document["name"] == service);
    calls
        .map(|call| {
            assert_eq!((&call["namespace"], call["aws"]["retries"].as_u64()), (&json!("aws"), Some(0)), "{call}");
            assert!(call["aws"]["region"].is_string() && call["http"]["response"]["status"].is_u64(), "{call}");
            call["aws"]["operation"].as_str().expect("an operation")
        })
        .collect()
}

#[tokio::test]
async fn read_leaves_its_calls_of_the_database() {
    let (stack, trace) = (Stack::connect(), Trace::new());
    let answer = Answer::of(stack.get(&format!("/comments?{}", commented(&stack))).header(HEADER, trace.header(1)))
        .await
        .expect_success();
    let documents = trace.of_request(&stack, &answer).await;
    assert_eq!(documents[0]["annotations"]["route"], "GET /comments");
    assert!(!operations(&documents, "DynamoDB").is_empty(), "{documents:#?}");
    let is_named =
        |call: &Value| [&call["aws"]["table_name"], &call["aws"]["table_names"][0]].contains(&&json!("ChainTable"));
    assert!(documents.iter().any(is_named), "{documents:#?}");
}

#[tokio::test]
async fn write_leaves_its_calls_of_nodes_with_the_host_alone() {
    let (stack, trace) = (Stack::connect(), Trace::new());
    let writer = stack.new_writer().await;
    let body = json!({"moment": {"collectionAddress": writer.collection, "tokenId": "1"}, "newUri": "ar://traced"});
    let header = trace.header(1);
    // One request: a second one would be of the same trace.
    let answer = stack.write_once("/registry/metadata/moment", &writer.key, &body, &[(HEADER, &header)]).await;
    let answer = answer.expect_queued();
    let documents = trace.of_request(&stack, &answer).await;
    assert!(documents[0]["annotations"]["artist_id"].is_string(), "{documents:#?}");
    assert!(operations(&documents, "DynamoDB").contains("TransactWriteItems"), "{documents:#?}");
    let node: Vec<_> = documents.iter().filter(|call| call["namespace"] == "remote").collect();
    assert!(!node.is_empty(), "{documents:#?}");
    for call in node {
        assert_eq!((&call["name"], &call["http"]["request"]), (&json!("127.0.0.1"), &json!({"method": "POST"})));
        assert!(call["metadata"]["rpc"]["methods"][0].as_str().is_some_and(|name| name.starts_with("eth_")), "{call}");
    }
    let text = Value::from(documents).to_string();
    assert!(!text.contains(&writer.key) && !text.contains("ar://traced"), "{text}");
}

#[tokio::test]
async fn sign_in_leaves_kms_and_mail_and_no_address_code_or_token() {
    let (stack, email) = (Stack::connect(), unused_email());
    let asked = Trace::new();
    let request = stack.post("/oauth/code").header(HEADER, asked.header(1)).json(&json!({"email": email}));
    let answer = Answer::of(request).await.expect_success();
    let mut documents = asked.of_request(&stack, &answer).await;
    assert!(operations(&documents, "KMS").contains("GenerateMac"), "{documents:#?}");
    assert_eq!(operations(&documents, "SES"), BTreeSet::from(["SendEmail"]), "{documents:#?}");

    let code = mail::newest_code(&stack.map.mail, &email, 0).await.expect("a mail with a code");
    let signed_in = Trace::new();
    let request = stack.post("/oauth/login").header(HEADER, signed_in.header(1));
    let answer = Answer::of(request.json(&json!({"email": email, "code": code}))).await.expect_success();
    let token = answer.body["token"].as_str().expect("a token");
    let login = signed_in.of_request(&stack, &answer).await;
    assert!(operations(&login, "KMS").contains("Sign"), "{login:#?}");
    let calls = one_after_another(&login);
    assert!(calls <= 10, "a first sign-in waits for {calls} calls one after another: {login:#?}");
    documents.extend(login);
    for document in &mut documents {
        // Random digits and times can be like a code.
        for field in ["id", "parent_id", "trace_id", "start_time", "end_time", "annotations"] {
            document.as_object_mut().expect("an object").remove(field);
        }
        if let Some(aws) = document["aws"].as_object_mut() {
            aws.remove("request_id");
        }
    }
    let text = Value::from(documents).to_string();
    assert!(!text.contains(&email) && !text.contains('@') && !text.contains(&code) && !text.contains(token), "{text}");
}

#[tokio::test]
async fn request_that_is_not_sampled_leaves_nothing() {
    let stack = Stack::connect();
    let (left_out, sampled) = (Trace::new(), Trace::new());
    Answer::of(stack.get("/chains").header(HEADER, left_out.header(0))).await.expect_success();
    let answer = Answer::of(stack.get("/chains").header(HEADER, sampled.header(1))).await.expect_success();
    sampled.of_request(&stack, &answer).await;
    assert_eq!(left_out.so_far(&stack), Vec::<Value>::new());
}

#[tokio::test]
async fn absent_daemon_changes_nothing() {
    let stack = Stack::connect();
    let query = commented(&stack);
    let expected = Answer::of(stack.get(&format!("/comments?{query}"))).await.expect_success().body;
    for address in ["127.0.0.1:9", "nonsense"] {
        let variables = [("AWS_XRAY_DAEMON_ADDRESS", address)];
        let sandbox = Sandbox::with_variables(&stack, "list-comments", &variables).await;
        let mut event = sandbox.event();
        event["rawQueryString"] = query.as_str().into();
        let url = format!("{}/2015-03-31/functions/list-comments/invocations", sandbox.url());
        for _ in 0..3 {
            let request =
                stack.http.post(&url).header(HEADER, format!("{};Parent=53995c3f42cd8ad8", Trace::new().header(1)));
            let answer: Value = Answer::of(request.json(&event)).await.expect_success().body;
            assert_eq!(answer["statusCode"], 200, "{answer}");
            let body: Value = serde_json::from_str(answer["body"].as_str().expect("a body")).expect("JSON");
            assert_eq!(body, expected);
        }
    }
}
