//! The functions' log lines and metrics, and the metric names in the template's alarms and dashboard.

use std::{collections::BTreeSet, fs};

use local::{paths::Paths, patience};
use serde_json::{Value, json};
use shared::{model::Email, telemetry::Metric};
use template::Template;
use tests::{Sandbox, Stack, another_code, unused_email};

fn template_text() -> String {
    fs::read_to_string(Paths::of_checkout().root().join("template.yaml")).expect("template.yaml")
}

#[tokio::test]
async fn request_log_is_one_line_without_mail_addresses() {
    let stack = Stack::connect();
    let sandbox = Sandbox::with_variables(&stack, "send-code", &[("METRICS_NAMESPACE", "Moments/observed")]).await;
    let email = unused_email();
    for _ in 0..2 {
        sandbox.post("192.0.2.77", &json!({"email": email})).await;
    }
    let log = sandbox.log();
    assert!(!log.contains(&email), "the log has a mail address");
    let lines: Vec<Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let counted = |line: &&Value| {
        line["_aws"]["CloudWatchMetrics"][0]["Namespace"] == "Moments/observed" && line["CodesSent"] == 1
    };
    assert_eq!(lines.iter().filter(counted).count(), 2);
    let requests: Vec<_> = lines.iter().filter(|line| line["message"] == "request answered").collect();
    for request in &requests {
        assert_eq!((&request["route"], &request["client.network"]), (&json!("POST /oauth/code"), &json!("192.0.2.77")));
        assert!(request["status"].is_u64() && request["duration_ms"].is_u64() && request["request.id"].is_string());
    }
    assert!(requests.iter().any(|request| request["cold_start"] == true));
    assert!(requests.iter().any(|request| request["cold_start"] == false));
}

#[tokio::test]
async fn wrong_code_is_logged_with_the_hash_of_its_mailbox() {
    let stack = Stack::connect();
    let log_in = Sandbox::with_variables(&stack, "log-in", &[]).await;
    let email = unused_email();
    let mut body = json!({"email": email, "nonce": "8c1f5a0e7d3b4c2f9a6e1d0b"});
    stack.post_json("/oauth/code", &body).await.expect_success();
    let code = local::mail::newest_code(&stack.map.mail, &email, 0).await.expect("a code");
    body["code"] = json!(another_code(&code));
    assert_eq!(log_in.post("192.0.2.78", &body).await.0, 401);
    let log = log_in.log();
    let mailbox = email.parse::<Email>().expect("an address").mailbox();
    let lines: Vec<Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let told = lines.iter().filter(|line| line["message"] == "wrong sign-in code" && line["mailbox"] == mailbox);
    assert_eq!(told.count(), 1, "nobody can tell which mailbox is guessed at");
    assert!(!log.contains(&email), "the log has a mail address");
}

#[tokio::test]
async fn refused_authorisation_is_logged_with_who_asked_and_why() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let made = stack.create_key(&artist, &json!({"scopes": ["publish"]})).await.expect_success().body;
    let secret = made["apiKey"].as_str().expect("a key");
    let listed = &stack.list_keys(&artist).await[0];
    let refused = async |binary: &str, credential: &str| {
        let function = Sandbox::with_variables(&stack, binary, &[]).await;
        let bearer = format!("Bearer {credential}");
        let (status, _) = function.post_with("192.0.2.79", &json!({}), &[("authorization", &bearer)]).await;
        let log = function.log();
        assert!(!log.contains(credential), "the log has the credential");
        let lines: Vec<Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let answered = lines.iter().find(|line| line["message"] == "request answered").expect("a line").clone();
        assert_eq!((&answered["status"], &answered["client.network"]), (&json!(status), &json!("192.0.2.79")));
        (status, answered, lines)
    };
    let why = |line: &Value, words: &str| line["refusal"].as_str().is_some_and(|refusal| refusal.contains(words));

    // A key without the scope, a key where none may act, and what is no token.
    let (status, line, _) = refused("collect-moment", secret).await;
    assert!(status == 403 && why(&line, "lacks the scope collect"), "{line}");
    assert_eq!((&line["artist.id"], &line["key.id"]), (&json!(stack.artist_id(&artist)), &listed["id"]));
    assert_eq!(line["key.scope"], "collect");
    let (status, line, lines) = refused("withdraw-funds", secret).await;
    assert!(status == 403 && why(&line, "No scope of an API key allows this"), "{line}");
    let tried = lines.iter().filter(|line| line["key.prefix"] == listed["prefix"] && line["request.id"].is_string());
    assert_eq!(tried.count(), 1, "{lines:?}");
    let (status, line, _) = refused("withdraw-funds", "made-up-token").await;
    assert!(status == 401 && why(&line, "token"), "{line}");
}

#[tokio::test]
async fn running_service_writes_every_metric() {
    let stack = Stack::connect();
    let writer = stack.new_collector().await;
    stack.release(&writer.key, "Measured", &["ar://1".to_owned()]).await;
    stack.log_in(&unused_email(), "000000").await.expect_error(401);
    let email = unused_email();
    let mut asked = stack.post_json("/oauth/code", &json!({"email": email})).await;
    while asked.status == 200 {
        asked = stack.post_json("/oauth/code", &json!({"email": email})).await;
    }
    asked.expect_error(429);

    // These need a delayed or a foreign transaction, or a day's mails: the tests of `relay` and `attacks` cover them.
    let rare = [Metric::Bumps, Metric::ForeignNonces, Metric::MailBudgetUsedUp].map(Metric::name);
    let mut missing: BTreeSet<String> = Metric::ALL.map(Metric::name).into();
    missing.retain(|name| !rare.contains(name));
    let told = patience::eventually("every metric", async || {
        for line in written(&stack).lines().filter(|line| line.contains("\"_aws\"")) {
            let line: Value = serde_json::from_str(line).expect("a whole line");
            let metrics = line["_aws"]["CloudWatchMetrics"][0]["Metrics"].as_array().expect("metrics").iter();
            for name in metrics.filter_map(|metric| metric["Name"].as_str()) {
                assert!(line[name].is_i64(), "{line}");
                missing.remove(name);
            }
        }
        Ok(missing.is_empty().then_some(()))
    });
    assert!(told.await.is_ok(), "never written: {missing:?}");
}

/// The whole lines of the functions' logs so far.
fn written(stack: &Stack) -> String {
    let logs = fs::read_dir(stack.logs()).expect("the stack's logs");
    let whole = |mut text: String| {
        text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
        text
    };
    logs.map(|log| whole(fs::read_to_string(log.expect("a log").path()).unwrap_or_default())).collect()
}

#[test]
fn alarms_and_dashboard_match_the_metrics() {
    let text = template_text();
    let template: Template = text.parse().expect("a template");
    let known: BTreeSet<String> = Metric::ALL.map(Metric::name).into();
    for alarm in template.resources("AWS::CloudWatch::Alarm") {
        let (name, namespace) = (alarm.properties.get("MetricName"), alarm.properties.get("Namespace"));
        let is_ours = namespace.is_some_and(|namespace| namespace.as_str().is_none());
        let name = name.and_then(|name| name.as_str()).filter(|_| is_ours);
        assert!(name.is_none_or(|name| known.contains(name)), "{} watches {name:?}", alarm.logical_id);
    }
    let dashboard = text.split("DashboardBody").nth(1).expect("a dashboard");
    for metric in &known {
        assert!(
            ["\"", "\\\""].iter().any(|end| dashboard.contains(&format!("\"{metric}{end}"))),
            "the dashboard doesn't show {metric}"
        );
    }
}
