//! Many honest people sign in at the same moment, everywhere or in one office: nobody waits for a row that all of them
//! change, and no limit takes them for an attacker.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    time::{Duration, Instant},
};

use futures::future::join_all;
use serde_json::{Value, json};
use shared::config::variables::{CODES_PER_CLIENT_HOURLY, SIGN_INS_PER_CLIENT_HOURLY};
use tests::{Sandbox, Stack, empty_tables, unused_address, unused_email};
use tokio::sync::Semaphore;

/// A hundred ask at the same moment, or as many as `PEOPLE` says: a hundred in each tenth of ten seconds of a thousand.
const AT_ONCE: usize = 100;

/// People behind one address.
const OFFICE: usize = 200;

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

#[tokio::test]
async fn an_office_of_two_hundred_behind_one_address_signs_in() {
    let stack = Stack::connect();
    // In tables of their own: what the stack's index does for others doesn't wait for so many new artists.
    let database = empty_tables(&stack).await;
    let office = async |binary: &str, limit: (&str, &str)| {
        Sandbox::crowd(&stack, binary, &[limit], &database.endpoint, PROCESSES).await
    };
    // Production's limits: those of the stack are higher.
    let send_code =
        office("send-code", ("CODES_PER_CLIENT_HOURLY", CODES_PER_CLIENT_HOURLY.default.expect("one"))).await;
    let log_in =
        office("log-in", ("SIGN_INS_PER_CLIENT_HOURLY", SIGN_INS_PER_CLIENT_HOURLY.default.expect("one"))).await;
    let (address, emails) = (unused_address(), Vec::from_iter((0..OFFICE).map(|_| unused_email())));
    let (start, places) = (Instant::now(), Semaphore::new(AT_ONCE));
    let all = async |function: &Sandbox, bodies: Vec<Value>| {
        let post = async |body: Value| {
            let _place = places.acquire().await.expect("a place");
            function.post(&address, &body).await
        };
        let answers = join_all(bodies.into_iter().map(post)).await;
        let refused: Vec<_> = answers.iter().filter(|(status, _)| *status != 200).collect();
        assert!(refused.is_empty(), "{} refused: {:?}", refused.len(), refused.first());
    };
    all(&send_code, emails.iter().map(|email| json!({"email": email})).collect()).await;
    let mails = local::mail::all(&stack.map.mail).await.expect("the mails are listed");
    let codes = mails.iter().filter_map(|mail| Some((mail.to.first()?.as_str(), local::mail::code_in(mail)?)));
    let codes = BTreeMap::from_iter(codes);
    all(&log_in, emails.iter().map(|email| json!({"email": email, "code": codes[email.as_str()]})).collect()).await;
    println!("{OFFICE} people of one address signed in within {:.1?}", start.elapsed());
}
