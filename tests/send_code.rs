//! `POST /oauth/code`

use std::time::Instant;

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use shared::model::Email;
use tests::{Answer, DatabaseProxy, HOUR, Sandbox, Stack, unused_email, unused_network, within_one_window};
use tokio::sync::mpsc;

#[tokio::test]
async fn six_digit_code_is_mailed() {
    let stack = Stack::connect();
    let email = unused_email();
    let code = stack.code_for(&email).await;
    assert!(code.len() == 6 && code.bytes().all(|byte| byte.is_ascii_digit()), "{code:?}");
    let mails = stack.mails_to(&email).await;
    assert_eq!(mails.len(), 1);
    assert_eq!(mails[0].source, "moments@example.com");
    assert!(mails[0].body_text.contains("10 minutes"), "{:?}", mails[0]);
    assert!(!mails[0].subject.contains(&code), "a lock screen shows subjects");
    let html = &mails[0].body_html;
    let link = format!("href=\"{}/manage#link=", stack.map.api);
    assert!(html.contains(&format!("<p class=\"code\">{code}</p>")) && html.contains(&link), "{html}");
}

#[tokio::test]
async fn invalid_address_is_refused_without_a_mail() {
    let stack = Stack::connect();
    let name = unused_email();
    let long = format!("{}@{}.com", "a".repeat(64), "b".repeat(190));
    let wrong = [
        json!({}),
        json!({"email": null}),
        json!({"email": 7}),
        json!({"email": ["ada@example.com"]}),
        json!({"email": ""}),
        json!({"email": long}),
        json!({"email": "ada"}),
        json!({"email": format!("{name}\r\nBcc: {name}")}),
        json!({"email": format!("{name}\n")}),
        json!({"email": format!("{name},{name}")}),
    ];
    for body in wrong {
        let answer = stack.post_json("/oauth/code", &body).await.expect_error(400);
        assert_eq!(answer.failing_fields(), ["email"], "{body}");
    }
    assert!(stack.mails_to(&name).await.is_empty());
}

#[tokio::test]
async fn body_other_than_a_json_object_is_refused() {
    let stack = Stack::connect();
    let email = unused_email();
    let good = json!({"email": email}).to_string();
    let send = |content_type: Option<&str>, body: String| {
        let request = stack.post("/oauth/code").body(body);
        Answer::of(match content_type {
            Some(content_type) => request.header("content-type", content_type),
            None => request,
        })
    };
    let json = Some("application/json");
    for body in ["", "{", "[]", "\"ada@example.com\"", "null", "{\"email\": \"a\u{0}\"", "\u{feff}{}"] {
        send(json, body.to_owned()).await.expect_error(400);
    }
    for content_type in [None, Some("text/plain"), Some("application/x-www-form-urlencoded"), Some("application/jsonp")]
    {
        send(content_type, good.clone()).await.expect_error(415);
    }
    let padded = |bytes: usize| format!("{good}{}", " ".repeat(bytes - good.len()));
    send(json, padded(16 * 1024 + 1)).await.expect_error(413);
    assert!(stack.mails_to(&email).await.is_empty(), "a refused request sent a mail");

    send(Some("Application/JSON; charset=utf-8"), padded(16 * 1024)).await.expect_success();
    assert_eq!(stack.mails_to(&email).await.len(), 1);
}

#[tokio::test]
async fn fourth_code_in_ten_minutes_is_refused_with_retry_after() {
    let (stack, start) = (Stack::connect(), Instant::now());
    let email = unused_email();
    for _ in 0..3 {
        stack.code_for(&email).await;
    }
    let answer = stack.post_json("/oauth/code", &json!({"email": email.to_uppercase()})).await.expect_error(429);
    let seconds: u64 = answer.header("retry-after").parse().expect("seconds");
    assert!((500 - start.elapsed().as_secs()..=610).contains(&seconds), "told to wait {seconds} s");
    assert!(answer.header("ratelimit").contains("r=0"), "{answer:?}");
    assert_eq!(stack.mails_to(&email).await.len(), 3, "a fourth mail was sent");
    stack.code_for(&unused_email()).await;
}

#[tokio::test]
async fn concurrent_requests_send_three_codes() {
    let stack = Stack::connect();
    let body = json!({"email": unused_email()});
    let answers = futures::future::join_all((0..12).map(|_| stack.post_json("/oauth/code", &body))).await;
    let of = |status| answers.iter().filter(|answer| answer.status == status).count();
    assert_eq!((of(200), of(429)), (3, 9), "{answers:?}");
    assert_eq!(stack.mails_to(body["email"].as_str().unwrap()).await.len(), 3);
}

#[tokio::test]
async fn eleventh_code_in_a_day_is_refused() {
    let (stack, start) = (Stack::connect(), Instant::now());
    let email = unused_email();
    let short_window = {
        let mailbox = email.parse::<Email>().unwrap().mailbox();
        format!("RATE#code#10m#{mailbox}#{}", alloy::hex::encode(Sha256::digest("127.0.0.1")))
    };
    for sent in 0..10 {
        stack.code_for(&email).await;
        if sent % 3 == 2 {
            // Ten minutes pass.
            let empty = AttributeValue::M(Default::default());
            stack.set("SecretTable", &short_window, "WINDOW", "slices", empty).await;
        }
    }
    let answer = stack.post_json("/oauth/code", &json!({"email": email})).await.expect_error(429);
    let seconds: u64 = answer.header("retry-after").parse().expect("seconds");
    assert!((600 - start.elapsed().as_secs()..=870).contains(&seconds), "told to wait {seconds} s");
    assert_eq!(stack.mails_to(&email).await.len(), 10);
}

#[tokio::test]
async fn client_limit_spans_addresses() {
    let stack = Stack::connect();
    let production = Sandbox::with_variables(&stack, "send-code", &[("CODES_PER_CLIENT_HOURLY", "30")]).await;
    let ask = async |client: &str| production.post(client, &json!({"email": unused_email()})).await.0;
    let statuses = within_one_window(HOUR, async || {
        // The addresses of a /64 count as one client, which has two thirds of what its /48 has.
        let (network, mut statuses) = (unused_network(), Vec::new());
        for (subnet, requests) in [(1, 25), (2, 11)] {
            for host in 1..=requests {
                statuses.push(ask(&format!("{network}:{subnet}::{host:x}")).await);
            }
        }
        statuses
    })
    .await;
    let expected = [vec![200; 20], vec![429; 5], vec![200; 10], vec![429]].concat();
    assert_eq!(statuses, expected, "what a client's own limit refuses leaves the rest to others");
    assert_eq!(ask(&format!("{}:1::1", unused_network())).await, 200, "another client was refused");
}

#[tokio::test]
async fn total_limit_is_enforced() {
    let stack = Stack::connect();
    let exhausted = Sandbox::with_variables(&stack, "send-code", &[("CODES_TOTAL_HOURLY", "0")]).await;
    let email = unused_email();
    let (status, _) = exhausted.post("192.0.2.1", &json!({"email": email})).await;
    assert_eq!(status, 429);
    assert!(stack.mails_to(&email).await.is_empty());
}

#[tokio::test]
async fn mail_refused_by_ses_is_502_and_leaves_no_code() {
    let stack = Stack::connect();
    // DynamoDB refuses SES's requests.
    let variables = [("AWS_ENDPOINT_URL_SES", stack.map.dynamodb.as_str())];
    let refusing = Sandbox::with_variables(&stack, "send-code", &variables).await;
    let email = unused_email();
    let (status, body) = refusing.post("192.0.2.2", &json!({"email": email})).await;
    assert_eq!(status, 502);
    assert_eq!(body["status"], "error");
    assert_eq!(body["message"], "The mail could not be sent: try again in a moment");
    let code = format!("CODE#{}", email.parse::<Email>().unwrap().fingerprint());
    assert!(stack.row("SecretTable", &code, "CODE").await.is_none(), "a code is left to guess");
}

/// An identity of the operator's own has other settings by default, or none: nobody would hear of mails that come back.
#[tokio::test]
async fn mail_names_the_settings_that_tell_what_becomes_of_it() {
    let stack = Stack::connect();
    let ses = DatabaseProxy::start().await.expect("a proxy");
    ses.lead_to(&stack.map.aws);
    let (sent, mut calls) = mpsc::unbounded_channel();
    ses.observe(move |_, request, _| {
        let _ = sent.send(String::from_utf8_lossy(request).into_owned());
    });
    let variables = [("AWS_ENDPOINT_URL_SES", ses.url.as_str())];
    let sandbox = Sandbox::with_variables(&stack, "send-code", &variables).await;
    let (status, body) = sandbox.post("192.0.2.3", &json!({"email": unused_email()})).await;
    assert_eq!(status, 200, "{body}");
    let call = calls.try_recv().expect("a mail");
    assert!(call.contains("Action=SendEmail") && call.contains("ConfigurationSetName=MailSettings"), "{call}");
}

#[tokio::test]
async fn known_and_unknown_addresses_get_the_same_response() {
    let stack = Stack::connect();
    let known = stack.new_artist().await.email;
    let without_ids = |mut answer: Answer| {
        // The remaining limit is the network's and decreases with each request.
        let policy = answer.header("ratelimit-policy").to_owned();
        assert!(policy.ends_with(";w=3600"), "{policy} is not the network's limit");
        for varying in ["x-request-id", "apigw-requestid", "date", "ratelimit"] {
            answer.headers.remove(varying);
        }
        (answer.status, format!("{:?}", answer.headers), answer.body)
    };
    let first: (u16, String, Value) = without_ids(stack.post_json("/oauth/code", &json!({"email": known})).await);
    let second = without_ids(stack.post_json("/oauth/code", &json!({"email": unused_email()})).await);
    assert_eq!(first, second);
}
