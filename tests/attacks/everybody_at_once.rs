//! Many honest people sign in at the same moment: nobody waits for a row that all of them change.

use futures::future::join_all;
use serde_json::json;
use tests::{Stack, unused_email};

#[tokio::test]
async fn a_hundred_people_at_once_get_a_hundred_codes() {
    let stack = Stack::connect();
    let emails: Vec<_> = (0..100).map(|_| unused_email()).collect();
    let bodies: Vec<_> = emails.iter().map(|email| json!({"email": email})).collect();
    let answers = join_all(bodies.iter().map(|body| stack.post_json("/oauth/code", body))).await;
    let refused: Vec<_> = answers.iter().filter(|answer| answer.status != 200).collect();
    assert!(refused.is_empty(), "{} refused: {:?}", refused.len(), refused.first());
    let first = emails.first().expect("an address");
    let code = local::mail::newest_code(&stack.map.mail, first, 0).await.expect("a code");
    stack.log_in(first, &code).await.expect_success();
}
