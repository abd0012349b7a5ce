//! Event source mappings, with a real database's stream.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use dynoxide::Database;
use local_lambda::{Function, Lambda, Limits, StartingPosition, StreamMapping};
use serde_json::{Value, json};
use tokio::{net::TcpListener, process::Command};

use crate::support::{PATIENCE, example, processes_of, scratch, wait_until};

/// A table with a stream, and a function whose invocations are written to a file.
struct Setting {
    lambda: Lambda,
    database: Database,
    mapping: StreamMapping,
    function: Function,
    log: PathBuf,
}

impl Setting {
    async fn new(name: &str) -> Self {
        let database = Database::memory().expect("a database");
        let table = json!({
            "TableName": "Things",
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "sk", "AttributeType": "N"}],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            "BillingMode": "PAY_PER_REQUEST",
            "StreamSpecification": {"StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        });
        database.create_table(serde_json::from_value(table).expect("a table")).expect("a table");
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let endpoint = format!("http://{}", listener.local_addr().expect("an address"));
        let served = database.clone();
        tokio::spawn(dynoxide::server::serve_with_shutdown(listener, served, std::future::pending()));
        let log = scratch(&format!("{name}-log"));
        let mut function = example("consumer");
        function.environment = [("LOG".to_owned(), log.display().to_string())].into();
        let lambda = Lambda::start(0, Limits::default()).await.expect("a free port");
        lambda.add(function.clone());
        let arn = "arn:aws:dynamodb:us-east-1:000000000000:table/Things/stream/now";
        let mut mapping = StreamMapping::new("consumer", &endpoint, arn, StartingPosition::TrimHorizon);
        mapping.discarded = Some(scratch(&format!("{name}-discarded")));
        mapping.pauses = (Duration::from_millis(20), Duration::from_millis(200));
        Self { lambda, database, mapping, function, log }
    }

    /// Puts an item whose attribute `do` is `ask`.
    fn put(&self, pk: &str, sk: u32, ask: &str) {
        self.put_with(pk, sk, &json!({"do": {"S": ask}}));
    }

    fn put_with(&self, pk: &str, sk: u32, fields: &Value) {
        let mut item = fields.clone();
        item["pk"] = json!({"S": pk});
        item["sk"] = json!({"N": sk.to_string()});
        let put = serde_json::from_value(json!({"TableName": "Things", "Item": item})).expect("an item");
        self.database.put_item(put).expect("a write");
    }

    fn delete(&self, pk: &str, sk: u32) {
        let key = json!({"pk": {"S": pk}, "sk": {"N": sk.to_string()}});
        let delete = serde_json::from_value(json!({"TableName": "Things", "Key": key})).expect("a key");
        self.database.delete_item(delete).expect("a write");
    }

    async fn map(&self) {
        self.lambda.map_stream(self.mapping.clone()).await.expect("a stream");
    }

    fn lines(&self) -> Vec<Value> {
        lines(&self.log)
    }

    /// The events of all invocations.
    fn events(&self) -> Vec<Value> {
        self.lines().into_iter().filter(|line| line["event"].is_object()).map(|line| line["event"].clone()).collect()
    }

    /// The sort keys of each invocation's records.
    fn batches(&self) -> Vec<Vec<String>> {
        let sort_key = |record: &Value| record["dynamodb"]["Keys"]["sk"]["N"].as_str().unwrap_or_default().to_owned();
        self.events().iter().map(|event| records(event).iter().map(sort_key).collect()).collect()
    }

    fn discarded(&self) -> Vec<Value> {
        lines(self.mapping.discarded.as_deref().expect("a file"))
    }

    /// Lets another function read the stream from now on, without a window. Returns the file of its invocations.
    async fn observe(&self) -> PathBuf {
        let log = self.log.with_extension("observed");
        let _ = std::fs::remove_file(&log);
        let environment = [("LOG".to_owned(), log.display().to_string())].into();
        self.lambda.add(Function { name: "observer".to_owned(), environment, ..self.function.clone() });
        let (endpoint, stream) = (&self.mapping.endpoint, &self.mapping.stream_arn);
        let mapping = StreamMapping::new("observer", endpoint, stream, StartingPosition::Latest);
        self.lambda.map_stream(mapping).await.expect("a stream");
        log
    }

    /// Waits until `count` invocations have started, and returns their sort keys.
    async fn after(&self, count: usize) -> Vec<Vec<String>> {
        wait_until(&format!("{count} invocations"), || self.events().len() >= count).await;
        self.batches()
    }
}

fn lines(path: &std::path::Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// How many invocations have ended.
fn ends(log: &std::path::Path) -> usize {
    lines(log).iter().filter(|line| line["end"].is_string()).count()
}

fn records(event: &Value) -> &[Value] {
    event["Records"].as_array().map(Vec::as_slice).unwrap_or_default()
}

#[tokio::test]
async fn events_are_those_of_lambda() {
    let setting = Setting::new("event").await;
    setting.put("a", 1, "nothing");
    setting.put_with("a", 1, &json!({"list": {"L": [{"BOOL": true}, {"NULL": true}]}, "bytes": {"B": "AQI="}}));
    setting.delete("a", 1);
    setting.map().await;
    setting.after(1).await;
    let event = setting.events().remove(0);
    let [insert, modify, remove] = records(&event) else { panic!("{event}") };
    assert_eq!(event.as_object().expect("an object").keys().collect::<Vec<_>>(), ["Records"]);
    let image = json!({
        "pk": {"S": "a"}, "sk": {"N": "1"}, "list": {"L": [{"BOOL": true}, {"NULL": true}]}, "bytes": {"B": "AQI="},
    });
    assert_eq!(modify["dynamodb"]["NewImage"], image);
    assert_eq!(remove["dynamodb"]["OldImage"], image);
    assert_eq!(modify["dynamodb"]["OldImage"]["do"], json!({"S": "nothing"}));
    for (record, name, images) in [(insert, "INSERT", "N"), (modify, "MODIFY", "NO"), (remove, "REMOVE", "O")] {
        assert_eq!(record["eventName"], name);
        assert_eq!((&record["eventSource"], &record["eventVersion"]), (&json!("aws:dynamodb"), &json!("1.1")));
        assert_eq!(
            (&record["awsRegion"], &record["eventSourceARN"]),
            (&json!("us-east-1"), &json!(setting.mapping.stream_arn))
        );
        assert_eq!(record["eventID"].as_str().expect("an id").len(), 32);
        let change = &record["dynamodb"];
        assert_eq!(change["Keys"], json!({"pk": {"S": "a"}, "sk": {"N": "1"}}));
        assert_eq!(change["StreamViewType"], "NEW_AND_OLD_IMAGES");
        assert!(change["SequenceNumber"].as_str().is_some_and(|number| number.len() >= 21), "{change}");
        assert!(change["SizeBytes"].is_u64() && change["ApproximateCreationDateTime"].is_u64(), "{change}");
        assert_eq!(
            (change["NewImage"].is_object(), change["OldImage"].is_object()),
            (images.contains('N'), images.contains('O'))
        );
    }
}

#[tokio::test]
async fn batches_are_at_most_of_their_size_and_in_order() {
    let mut setting = Setting::new("size").await;
    setting.mapping.batch_size = 4;
    (1..=10).for_each(|number| setting.put("a", number, "nothing"));
    setting.map().await;
    let batches = setting.after(3).await;
    assert_eq!(batches.iter().map(Vec::len).collect::<Vec<_>>(), [4, 4, 2]);
    assert_eq!(batches.concat(), (1..=10).map(|number| number.to_string()).collect::<Vec<_>>());
}

#[tokio::test]
async fn batches_are_at_most_of_six_megabytes() {
    let setting = Setting::new("bytes").await;
    (1..=20).for_each(|number| setting.put_with("a", number, &json!({"large": {"S": "x".repeat(390_000)}})));
    setting.map().await;
    let batches = setting.after(2).await;
    assert_eq!(batches.iter().map(Vec::len).collect::<Vec<_>>(), [16, 4]);
}

#[tokio::test]
async fn a_window_collects_what_comes_meanwhile() {
    let mut setting = Setting::new("window").await;
    (setting.mapping.window, setting.mapping.batch_size) = (10 * PATIENCE, 3);
    setting.map().await;
    let observed = setting.observe().await;
    for number in 1..=3 {
        setting.put("a", number, "nothing");
        // Each is read alone.
        wait_until("the record is read", || ends(&observed) >= usize::try_from(number).expect("small")).await;
    }
    // A full batch ends the window.
    assert_eq!(setting.after(1).await, [["1", "2", "3"]]);
    setting.mapping.window = Duration::from_millis(50);
    setting.mapping.start = StartingPosition::Latest;
    setting.map().await;
    setting.put("b", 4, "nothing");
    // The end of the window ends a batch; the other mapping still waits for its own.
    assert_eq!(setting.after(2).await[1..], [["4"]]);
}

#[tokio::test]
async fn latest_leaves_out_what_was_there_and_trim_horizon_does_not() {
    let mut setting = Setting::new("latest").await;
    setting.put("a", 1, "nothing");
    setting.mapping.start = StartingPosition::Latest;
    setting.map().await;
    setting.put("a", 2, "nothing");
    assert_eq!(setting.after(1).await, [["2"]]);
    setting.mapping.start = StartingPosition::TrimHorizon;
    setting.map().await;
    assert_eq!(setting.after(2).await[1..], [["1", "2"]]);
}

#[tokio::test]
async fn records_that_match_no_filter_are_left_out() {
    let mut setting = Setting::new("filter").await;
    setting.mapping.filters = [
        r#"{"eventName": ["INSERT"], "dynamodb": {"Keys": {"pk": {"S": [{"prefix": "QUEUE#"}]}}}}"#,
        r#"{"dynamodb": {"NewImage": {"do": {"S": ["wake"]}}}}"#,
    ]
    .map(|pattern| pattern.parse().expect("a pattern"))
    .into();
    setting.put("QUEUE#1", 1, "nothing");
    setting.put("QUEUE#1", 1, "modified");
    setting.put("OTHER", 2, "nothing");
    setting.put("OTHER", 3, "wake");
    setting.delete("QUEUE#1", 1);
    setting.put("QUEUE#2", 4, "nothing");
    setting.map().await;
    assert_eq!(setting.after(1).await, [["1", "3", "4"]]);
}

#[tokio::test]
async fn items_stay_in_order_and_alone_however_many_batches_there_are_at_once() {
    let mut setting = Setting::new("parallel").await;
    (setting.mapping.parallelization, setting.mapping.batch_size) = (4, 2);
    for ask in ["meet", "wait", "wait", "wait", "wait", "wait"] {
        (1..=8).for_each(|item| setting.put("a", item, ask));
    }
    setting.map().await;
    wait_until("all records", || setting.batches().concat().len() >= 48).await;
    wait_until("all ends", || setting.lines().len() == 2 * setting.events().len()).await;
    let mut running: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut newest: BTreeMap<String, String> = BTreeMap::new();
    let mut most = 0;
    for line in setting.lines() {
        let Some(id) = line["start"].as_str() else {
            running.remove(line["end"].as_str().expect("an id"));
            continue;
        };
        for record in records(&line["event"]) {
            let change = &record["dynamodb"];
            let item = change["Keys"].to_string();
            assert!(!running.iter().any(|(other, items)| other != id && items.contains(&item)), "{item} twice at once");
            let number = change["SequenceNumber"].as_str().expect("a number").to_owned();
            let before = newest.insert(item.clone(), number.clone());
            assert!(before.is_none_or(|before| before < number), "{item} out of order");
            running.entry(id.to_owned()).or_default().push(item);
        }
        most = most.max(running.len());
    }
    assert!((2..=4).contains(&most), "{most} at once");
}

#[tokio::test]
async fn a_failed_batch_is_sent_again_whole_before_later_records() {
    let mut setting = Setting::new("retry").await;
    setting.mapping.batch_size = 2;
    setting.put("a", 1, "nothing");
    setting.put("a", 2, "fail-twice");
    setting.put("a", 3, "nothing");
    setting.map().await;
    let batches = setting.after(4).await;
    assert_eq!(batches, [vec!["1", "2"], vec!["1", "2"], vec!["1", "2"], vec!["3"]]);
}

#[tokio::test]
async fn a_batch_is_given_up_after_its_retries_and_the_next_goes_on() {
    let mut setting = Setting::new("exhausted").await;
    (setting.mapping.batch_size, setting.mapping.max_retries) = (2, Some(2));
    setting.put("a", 1, "fail");
    setting.put("a", 2, "nothing");
    setting.put("a", 3, "nothing");
    setting.map().await;
    let batches = setting.after(4).await;
    assert_eq!(batches, [vec!["1", "2"], vec!["1", "2"], vec!["1", "2"], vec!["3"]]);
    let events = setting.events();
    let number = |index: usize| records(&events[0])[index]["dynamodb"]["SequenceNumber"].clone();
    let [record] = &setting.discarded()[..] else { panic!("one record is expected") };
    let context = &record["requestContext"];
    assert_eq!(
        (&context["condition"], &context["approximateInvokeCount"]),
        (&json!("RetryAttemptsExhausted"), &json!(3))
    );
    assert_eq!(context["functionArn"], "arn:aws:lambda:us-east-1:000000000000:function:consumer");
    assert_eq!(
        record["responseContext"],
        json!({"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled"})
    );
    let info = &record["DDBStreamBatchInfo"];
    assert_eq!((&info["startSequenceNumber"], &info["endSequenceNumber"]), (&number(0), &number(1)));
    assert_eq!((&info["batchSize"], &info["streamArn"]), (&json!(2), &json!(setting.mapping.stream_arn)));
    assert!(info["shardId"].is_string() && info["approximateArrivalOfFirstRecord"].is_string(), "{info}");
}

#[tokio::test]
async fn records_too_old_are_given_up_and_later_ones_go_on() {
    let mut setting = Setting::new("age").await;
    (setting.mapping.batch_size, setting.mapping.max_age) = (1, Some(Duration::from_secs(1)));
    setting.put("a", 1, "fail");
    setting.map().await;
    wait_until("one is given up", || !setting.discarded().is_empty()).await;
    assert_eq!(setting.discarded()[0]["requestContext"]["condition"], "RecordAgeExceeded");
    setting.put("a", 2, "nothing");
    let is_next = || setting.batches().last().is_some_and(|batch| batch == &["2"]);
    // On a slow machine it is too old itself before its turn comes.
    wait_until("the next", || is_next() || setting.discarded().len() == 2).await;
}

#[tokio::test]
async fn a_poisoned_record_is_found_by_halving_and_given_up_alone() {
    let mut setting = Setting::new("bisect").await;
    (setting.mapping.bisects, setting.mapping.max_retries) = (true, Some(1));
    (1..=8).for_each(|number| setting.put("a", number, if number == 6 { "fail" } else { "nothing" }));
    setting.map().await;
    wait_until("one is given up", || !setting.discarded().is_empty()).await;
    wait_until("the last", || setting.batches().last().is_some_and(|batch| batch == &["7", "8"])).await;
    let sizes: Vec<_> = setting.batches().iter().map(Vec::len).collect();
    // All; the first half; the second, in halves and again in halves; the poisoned one twice.
    assert_eq!(sizes, [8, 4, 4, 2, 1, 1, 1, 2]);
    assert_eq!(setting.discarded()[0]["DDBStreamBatchInfo"]["batchSize"], 1);
}

#[tokio::test]
async fn from_the_lowest_reported_record_on_all_are_sent_again() {
    let mut setting = Setting::new("report").await;
    setting.mapping.reports_failures = true;
    for (number, ask) in [(1, "nothing"), (2, "report-once"), (3, "nothing"), (4, "report-twice"), (5, "nothing")] {
        setting.put("a", number, ask);
    }
    setting.map().await;
    wait_until("the end", || setting.batches().last().is_some_and(|batch| batch == &["4", "5"])).await;
    let expected = [vec!["1", "2", "3", "4", "5"], vec!["2", "3", "4", "5"], vec!["4", "5"]];
    assert_eq!(setting.batches(), expected);
}

#[tokio::test]
async fn a_response_that_names_no_known_record_fails_the_batch_and_an_empty_one_succeeds() {
    let mut setting = Setting::new("responses").await;
    (setting.mapping.reports_failures, setting.mapping.max_retries) = (true, Some(0));
    setting.mapping.batch_size = 1;
    let failing = [
        r#"{"batchItemFailures": [{"itemIdentifier": ""}]}"#,
        r#"{"batchItemFailures": [{"itemIdentifier": null}]}"#,
        r#"{"batchItemFailures": [{"id": "1"}]}"#,
        r#"{"batchItemFailures": [{"itemIdentifier": "7"}]}"#,
        r#"{"batchItemFailures": "all"}"#,
        r#""done""#,
    ];
    let succeeding = ["null", "{}", r#"{"batchItemFailures": []}"#, r#"{"batchItemFailures": null}"#];
    let responses = failing.iter().chain(&succeeding);
    for (number, response) in (1..).zip(responses) {
        setting.put_with("a", number, &json!({"do": {"S": "respond"}, "response": {"S": response}}));
    }
    setting.put("a", 99, "nothing");
    setting.map().await;
    wait_until("the last", || setting.batches().last().is_some_and(|batch| batch == &["99"])).await;
    let first = |record: &Value| record["DDBStreamBatchInfo"]["startSequenceNumber"].clone();
    let numbers: Vec<_> =
        setting.events().iter().map(|event| records(event)[0]["dynamodb"]["SequenceNumber"].clone()).collect();
    assert_eq!(setting.discarded().iter().map(first).collect::<Vec<_>>(), numbers[..failing.len()]);
    assert_eq!(numbers.len(), failing.len() + succeeding.len() + 1);
}

#[tokio::test]
async fn without_reports_a_response_means_nothing() {
    let setting = Setting::new("no-report").await;
    setting.put("a", 1, "report");
    setting.map().await;
    setting.after(1).await;
    setting.put("a", 2, "nothing");
    assert_eq!(setting.after(2).await, [["1"], ["2"]]);
}

#[tokio::test]
async fn an_instance_that_is_killed_loses_no_record() {
    let setting = Setting::new("killed").await;
    setting.put("a", 1, "hang-once");
    setting.put("a", 2, "crash-twice");
    setting.map().await;
    setting.after(1).await;
    wait_until("an instance", || !processes_of(&setting.lambda, "consumer").is_empty()).await;
    let process = processes_of(&setting.lambda, "consumer")[0];
    Command::new("kill").args(["-KILL", &process.to_string()]).status().await.expect("kill runs");
    wait_until("an end", || setting.lines().iter().any(|line| line["end"].is_string())).await;
    let batches = setting.batches();
    assert!(batches.iter().all(|batch| batch == &["1", "2"]) && batches.len() == 3, "{batches:?}");
    assert!(setting.discarded().is_empty());
}

#[tokio::test]
async fn throttles_use_up_no_retry() {
    let mut setting = Setting::new("throttled").await;
    setting.mapping.max_retries = Some(0);
    let mut throttled = setting.function.clone();
    throttled.reserved_concurrency = Some(0);
    setting.lambda.add(throttled);
    setting.map().await;
    let observed = setting.observe().await;
    setting.put("a", 1, "nothing");
    // Meanwhile the mapping has met the limit.
    wait_until("the record is read", || ends(&observed) == 1).await;
    assert!(setting.events().is_empty() && setting.discarded().is_empty());
    setting.lambda.add(setting.function.clone());
    assert_eq!(setting.after(1).await, [["1"]]);
    assert!(setting.discarded().is_empty());
}

#[tokio::test]
async fn a_database_that_does_not_answer_or_has_no_such_stream_is_an_error() {
    let mut setting = Setting::new("unknown").await;
    setting.mapping.stream_arn = setting.mapping.stream_arn.replace("Things", "Others");
    let error = setting.lambda.map_stream(setting.mapping.clone()).await.expect_err("no such stream");
    assert!(error.to_string().contains("DescribeStream is refused"), "{error}");
    setting.mapping.endpoint = "http://127.0.0.1:1".to_owned();
    let error = setting.lambda.map_stream(setting.mapping.clone()).await.expect_err("no such database");
    assert!(error.to_string().contains("doesn't answer"), "{error}");
}
