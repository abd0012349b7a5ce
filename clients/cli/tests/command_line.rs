//! The command against the running stack, and against answers that a stack gives rarely.
#![expect(clippy::expect_used, clippy::panic, reason = "a test's own")]

mod support;

use std::{
    fs,
    io::{BufRead, BufReader, Write},
};

use serde_json::{Value, json};
use support::{Home, Ran, Stack, pretend, unused_email};

/// A moment that only pretended services have.
const MOMENT: &str = "0x540c18b7f99b3b599c6feb99964498931c211858/1";

#[tokio::test]
async fn signing_in_makes_a_key_and_signing_out_revokes_it() {
    let stack = Stack::connect();
    let home = Home::new(Some(stack.api()));
    let account = home.sign_in(&stack).await;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(home.credentials()).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let me = stack.whose(&home.key()).await.expect("the key works");
    assert_eq!(home.run(&["whoami", "--json"]).expect(0).json(), me);
    let shown = home.run(&["whoami"]).expect(0).out;
    assert!(shown.contains(&account) && shown.contains("may publish, collect"), "{shown}");

    let email = unused_email();
    let first = home.key();
    home.run(&["sign-in", &email]).expect(1);
    home.run(&["sign-in", &email, "--code", "000000"]).expect_error(1, "code");
    let code = stack.code(&email, 0).await;
    home.run(&["sign-in", &email, "--code", &code]).expect(0);
    assert!(stack.whose(&first).await.is_ok(), "another artist's key stays");
    let second = home.key();
    assert_ne!(stack.whose(&second).await, Ok(me));

    home.sign_in_as(&stack, &email, 1).await;
    assert_eq!(stack.whose(&second).await, Err(401), "a key that nobody has any more is revoked");

    let third = home.key();
    home.run(&["sign-out", "--api", "https://a.example/api"])
        .expect_error(1, "aren't signed in to https://a.example/api");
    home.run(&["sign-out"]).expect(0);
    assert!(!home.credentials().exists());
    assert_eq!(stack.whose(&third).await, Err(401));
    home.run(&["whoami"]).expect_error(1, "sign-in");
    home.run(&["sign-out"]).expect_error(1, "aren't signed in");

    let mut child = home.start(&["sign-in", "--key", "-"]);
    writeln!(child.stdin.take().expect("an input"), "{first}").expect("it reads");
    Ran::of(child.wait_with_output().expect("it ends")).expect(0);
    home.run(&["sign-out"]).expect(0);
    assert!(stack.whose(&first).await.is_ok(), "a key that was given isn't revoked");
}

#[tokio::test]
async fn a_picture_is_published_and_collected_by_another() {
    let stack = Stack::connect();
    let (artist, collector) = (Home::new(Some(stack.api())), Home::new(Some(stack.api())));
    artist.sign_in(&stack).await;
    let account = collector.sign_in(&stack).await;

    let picture = artist.picture("High water.png");
    let terms = ["--price", "0.001eth", "--copies", "10", "--alt", "The sea", "--end", "2100-01-01T00:00:00Z"];
    let tried = artist.run(&[&["publish", &picture, "--json", "--dry-run"], &terms[..]].concat()).expect(0).json();
    assert_eq!(tried["success"], true);
    let made = artist.run(&[&["publish", &picture, "--json"], &terms[..]].concat()).expect(0).json();
    let text = |name: &str| made[name].as_str().expect(name).to_owned();
    let (collection, token) = (text("contractAddress"), text("tokenId"));
    let path = format!("/moment?collectionAddress={collection}&tokenId={token}");
    let moment = stack.wait_until(&path, |moment| moment["metadata"].is_object()).await;
    assert_eq!((&moment["metadata"]["name"], &moment["metadata"]["alt"]), (&json!("High water"), &json!("The sea")));
    assert_eq!(moment["sale"]["pricePerToken"], "1000000000000000");
    assert_eq!(moment["sale"]["saleEnd"], "4102444800");
    assert_eq!(moment["supply"]["max"], "10");
    let page = moment["page"].as_str().expect("a page");

    let mut watch = artist.start(&["watch", "--type", "moment.collected"]);
    let mut told = BufReader::new(watch.stderr.take().expect("errors")).lines();
    assert!(told.next().expect("a line").expect("a text").starts_with("Watching"));

    collector.run(&["collect", page]).expect_error(1, "can't pay");
    stack.give_money(&account).await;
    collector.run(&["collect", page, "--max-price", "0.001eth"]).expect_error(1, "costs");
    collector.run(&["collect", page, "--max-price", "5usdc"]).expect_error(2, "--max-price");
    let order = ["collect", page, "--amount", "2", "--comment", "At noon", "--max-price", "0.01eth"];
    let collected = collector.run(&[&order[..], &["--json"]].concat()).expect(0).json();
    let listed = collector.run(&["transactions", "--json"]).expect(0).json();
    assert_eq!(listed["transactions"][0]["hash"], collected["hash"]);
    let line = collector.run(&["transactions", "--limit", "1"]).expect(0).out;
    assert!(line.lines().count() == 1 && line.contains(" mined "), "{line}");
    let comments = format!("/comments?collectionAddress={collection}&tokenId={token}");
    stack.wait_until(&comments, |page| page["comments"][0]["comment"] == "At noon").await;

    let mut events = BufReader::new(watch.stdout.take().expect("an output")).lines();
    let event = events.next().expect("an event").expect("a text");
    assert!(event.contains("moment.collected") && event.contains(&format!("2 from 0x{} to {account}", "0".repeat(40))));
    watch.kill().expect("it runs");
    watch.wait().expect("it ends");
}

#[tokio::test]
async fn several_files_become_moments_of_one_collection() {
    let stack = Stack::connect();
    let home = Home::new(Some(stack.api()));
    home.sign_in(&stack).await;
    let [one, two] = ["one.png", "two.png"].map(|name| home.picture(name));
    home.run(&["publish", &one, &two, "--price", "free", "--title", "One"]).expect_error(2, "--title");
    let ran = home.run(&["publish", &one, &two, "--price", "0.05usdc"]).expect(0);
    let pages: Vec<_> = ran.out.lines().collect();
    let collection = |page: &str| page.rsplit_once('/').map(|(collection, _)| collection.to_owned());
    assert!(pages.len() == 2 && pages[0] != pages[1] && collection(pages[0]) == collection(pages[1]), "{pages:?}");
    assert!(ran.errors.is_empty(), "{ran:?}");
    let address = pages[0].rsplit('/').nth(1).expect("a collection");
    let read =
        stack.wait_until(&format!("/timeline?collection={address}"), |page| page["moments"][1].is_object()).await;
    assert_eq!(read["moments"][0]["sale"]["pricePerToken"], "50000");

    fs::write(&one, "no picture").expect("a file");
    home.run(&["publish", &one, "--price", "free"]).expect_error(1, "one.png: The file was announced as image/png");
    home.run(&["publish", "nowhere.png", "--price", "free"]).expect_error(1, "nowhere.png");
}

#[tokio::test]
async fn a_wrong_key_is_refused_and_not_stored() {
    let stack = Stack::connect();
    let home = Home::new(Some(stack.api()));
    home.run(&["sign-in", "--key", "wrong"]).expect_error(1, "The API key is wrong");
    assert!(!home.credentials().exists());
    let ran = home.command(&["whoami"]).env("MOMENTS_API_KEY", "wrong").output().expect("it runs");
    Ran::of(ran).expect_error(1, "(request ");
}

#[test]
fn a_write_goes_on_until_it_is_mined_and_is_one() {
    let id = "019a8b7c-5d4e-7f3a-9b2c-1d0e8f7a6b5c";
    let pending = json!({"transactionId": id, "status": "queued", "chainId": 8453});
    let mined = json!({"hash": format!("0x{}", "a".repeat(64)), "chainId": 8453});
    let (api, served) = pretend(vec![
        (0, "", Value::Null),
        (503, "", json!({"message": "Service Unavailable"})),
        (202, "retry-after: 0\r\n", pending.clone()),
        (202, "retry-after: 0\r\n", pending),
        (200, "", mined.clone()),
    ]);
    let home = Home::new(Some(&api));
    let ran = home.command(&["collect", MOMENT, "--json"]).env("MOMENTS_API_KEY", "k").output().expect("it runs");
    assert_eq!(Ran::of(ran).expect(0).json(), mined);
    let key = |request: &String| request.lines().find(|line| line.starts_with("idempotency-key: ")).map(str::to_owned);
    let keys: Vec<_> = served.join().expect("requests").iter().map(key).collect();
    assert!(keys[0].is_some() && keys.iter().all(|key| *key == keys[0]), "{keys:?}");
}

#[test]
fn a_refusal_says_what_is_wrong_in_one_line() {
    let wrong = json!({"status": "error", "message": "amount is wrong", "errors": [
        {"field": "amount", "message": "must be\nless"}, {"field": "comment", "message": "is too long"},
    ]});
    let (api, served) = pretend(vec![(400, "x-request-id: r-1\r\n", wrong)]);
    let home = Home::new(Some(&api));
    let ran = home.command(&["collect", MOMENT]).env("MOMENTS_API_KEY", "k").output().expect("it runs");
    Ran::of(ran).expect_error(1, "amount is wrong: amount must be less; comment is too long (request r-1)");
    assert_eq!(served.join().expect("requests").len(), 1);
}

#[test]
fn another_address_is_told_from_the_service() {
    let (api, served) = pretend(vec![
        (404, "", json!({"message": "Not Found"})),
        (200, "", json!({"welcome": "home"})),
        (302, "location: https://a.example/\r\n", Value::Null),
    ]);
    let home = Home::new(Some(&api));
    for part in ["Not Found: check the service's address", "isn't understood", "Found"] {
        home.run(&["sign-in", "--key", "k"]).expect_error(1, part);
    }
    served.join().expect("requests");
}

#[test]
fn a_mail_is_asked_for_once() {
    let (api, served) = pretend(vec![(0, "", Value::Null)]);
    Home::new(Some(&api)).run(&["sign-in", "you@example.com"]).expect_error(1, "can't be reached");
    assert_eq!(served.join().expect("requests").len(), 1);
}

#[test]
fn a_stored_key_goes_to_its_own_service_alone() {
    let home = Home::new(None);
    fs::create_dir(home.credentials().parent().expect("a folder")).expect("a folder");
    fs::write(home.credentials(), json!({"api": "https://a.example/api", "key": "k"}).to_string()).expect("a file");
    home.run(&["whoami", "--api", "http://127.0.0.1:1/api"])
        .expect_error(1, "aren't signed in to http://127.0.0.1:1/api");
    home.run(&["whoami", "--api", "http://a.example/api"]).expect(2);
}

#[test]
fn wrong_usage_has_another_status() {
    let home = Home::new(None);
    home.run(&["whoami"]).expect_error(2, "--api");
    home.run(&["man", "nothing"]).expect_error(2, "nothing");
    for wrong in [&["publish"][..], &["publish", "a.png", "--price", "1,000usdc"], &["collect", "here"], &["sing-in"]] {
        let ran = home.run(wrong).expect(2);
        assert!(ran.out.is_empty() && ran.errors.starts_with("error: "), "{ran:?}");
    }
}

#[test]
fn completions_and_man_pages_are_printed() {
    let home = Home::new(None);
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        assert!(home.run(&["completions", shell]).expect(0).out.contains("sign-in"), "{shell}");
    }
    let page = home.run(&["man"]).expect(0).out;
    assert!(page.starts_with(".ie") && page.contains(".TH moments") && page.contains("publish"), "{page}");
    assert!(home.run(&["man", "publish"]).expect(0).out.contains("price"));
}
