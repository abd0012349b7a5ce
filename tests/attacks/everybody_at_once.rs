//! Many honest people sign in at the same moment: nobody waits for a row that all of them change.

use std::{collections::BTreeSet, env, time::Duration};

use futures::future::join_all;
use serde_json::json;
use tests::{Sandbox, Stack, unused_address, unused_email};
use tokio::sync::Semaphore;

/// A hundred ask at the same moment, or as many as `PEOPLE` says: a hundred in each tenth of ten seconds of a thousand.
const AT_ONCE: usize = 100;

/// Processes that answer them. What could hold people up are rows and limits: how fast processes start is the machine's.
const PROCESSES: usize = 8;

#[tokio::test]
async fn a_hundred_people_at_once_get_a_hundred_codes() {
    let stack = Stack::connect();
    let function = Sandbox::crowd(&stack, "send-code", &[], &stack.map.dynamodb, PROCESSES).await;
    let people = env::var("PEOPLE").map_or(AT_ONCE, |people| people.parse().expect("PEOPLE is a number"));
    let emails: Vec<_> = (0..people).map(|_| unused_email()).collect();
    // Those who come later wait, as the function takes a hundred calls at a time and refuses more.
    let places = Semaphore::new(AT_ONCE);
    let answers = join_all(emails.iter().enumerate().map(|(index, email)| {
        let (function, places) = (&function, &places);
        async move {
            tokio::time::sleep(Duration::from_secs((index / AT_ONCE) as u64)).await;
            let _place = places.acquire().await.expect("a place");
            function.post(&unused_address(), &json!({"email": email})).await
        }
    }))
    .await;
    let refused: Vec<_> = answers.iter().filter(|(status, _)| *status != 200).collect();
    println!("{people} asked for a code: {} refused", refused.len());
    assert!(refused.is_empty(), "{} refused: {:?}", refused.len(), refused.first());

    let mails = local::mail::all(&stack.map.mail).await.expect("the mails are listed");
    let with_code = mails.iter().filter(|mail| local::mail::code_in(mail).is_some());
    let mailed: BTreeSet<_> = with_code.flat_map(|mail| &mail.to).collect();
    let without: Vec<_> = emails.iter().filter(|email| !mailed.contains(email)).collect();
    assert!(without.is_empty(), "{} got no code: {:?}", without.len(), without.first());
    let first = emails.first().expect("an address");
    let code = local::mail::newest_code(&stack.map.mail, first, 0).await.expect("a code");
    stack.log_in(first, &code).await.expect_success();
}
