//! `POST /reports`, and its limits. What becomes of reports: moderation.

use serde_json::{Value, json};
use tests::{DAY, HOUR, Sandbox, Stack, unused_address, within_one_window};
use uuid::Uuid;

#[tokio::test]
async fn report_names_one_thing_and_a_reason_and_comes_from_a_client_a_few_times_an_hour() {
    let stack = Stack::connect();
    let artist = "0x540c18b7f99b3b599c6feb99964498931c211858";
    for (body, fields) in [
        (json!({}), &["subject", "reason"][..]),
        (json!({"subject": {}, "reason": "spam"}), &["subject"]),
        (
            json!({"subject": {"artist": artist, "cid": "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy"}, "reason": "spam"}),
            &["subject"],
        ),
        (
            json!({"subject": {"artist": artist}, "reason": "ugly", "text": "", "email": "nobody"}),
            &["reason", "text", "email"],
        ),
        (
            json!({"subject": {"moment": {"collectionAddress": artist, "tokenId": "-1"}}, "reason": "spam"}),
            &["subject.moment.tokenId"],
        ),
    ] {
        let answer = stack.post_json("/reports", &body).await.expect_error(400);
        assert_eq!(answer.failing_fields(), fields, "{body}");
    }
    for subject in [
        json!({"moment": {"collectionAddress": artist, "tokenId": "1"}}),
        json!({"collection": {"collectionAddress": artist}}),
        json!({"artist": artist}),
        json!({"cid": "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy"}),
        json!({"comment": {"commentId": format!("0x{}", "7c".repeat(32))}}),
    ] {
        stack.post_json("/reports", &json!({"subject": subject, "reason": "spam"})).await.expect_error(404);
    }
    let sandbox = Sandbox::with_variables(&stack, "create-report", &[("REPORTS_PER_CLIENT_HOURLY", "2")]).await;
    let (one, two, three) = (reported(&stack).await, reported(&stack).await, reported(&stack).await);
    let report = async |client: &str, body: &Value| sandbox.post(client, body).await.0;
    let statuses = within_one_window(HOUR, async || {
        let client = unused_address();
        [report(&client, &one).await, report(&client, &two).await, report(&client, &three).await]
    })
    .await;
    assert_eq!(statuses, [202, 202, 429]);
    assert_eq!(report(&unused_address(), &one).await, 202, "another client");
}

/// A report of an artist whom nobody else reports.
pub async fn reported(stack: &Stack) -> Value {
    json!({"subject": {"artist": stack.new_artist().await.wallet}, "reason": "impersonation"})
}

#[tokio::test]
async fn reports_of_one_network_leave_room_for_others() {
    let stack = Stack::connect();
    let sandbox = Sandbox::with_variables(&stack, "create-report", &[("REPORTS_PER_CLIENT_HOURLY", "8")]).await;
    let (body, other) = (reported(&stack).await, reported(&stack).await);
    let report = async |client: &str, body: &Value| sandbox.post(client, body).await.0;
    let (client, statuses) = within_one_window(DAY, async || {
        let client = unused_address();
        let statuses = [report(&client, &body).await, report(&client, &body).await, report(&client, &body).await];
        (client, statuses)
    })
    .await;
    assert_eq!(statuses, [202, 202, 429]);
    assert_eq!(report(&client, &other).await, 202, "another subject");
    assert_eq!(report(&unused_address(), &body).await, 202, "another client");
}

#[tokio::test]
async fn reports_of_one_provider_leave_room_for_others() {
    let stack = Stack::connect();
    let sandbox = Sandbox::with_variables(&stack, "create-report", &[("REPORTS_PER_CLIENT_HOURLY", "4")]).await;
    let (body, other) = (reported(&stack).await, reported(&stack).await);
    let report = async |client: &str, body: &Value| sandbox.post(client, body).await.0;
    let (provider, statuses) = within_one_window(DAY, async || {
        let [a, b, c, ..] = *Uuid::new_v4().as_bytes();
        let provider = format!("2a{a:02x}:{b:x}{c:02x}");
        let mut statuses = Vec::new();
        for network in 0..33 {
            statuses.push(report(&format!("{provider}:{network:x}::1"), &body).await);
        }
        (provider, statuses)
    })
    .await;
    assert_eq!((&statuses[..32], statuses[32]), (&[202; 32][..], 429), "another /48 each");
    assert_eq!(report(&format!("{provider}:ffff::1"), &other).await, 202, "another subject");
    assert_eq!(report(&unused_address(), &body).await, 202, "another provider");
}
