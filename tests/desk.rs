//! What an artist meets of the operator's decisions: suspensions, what is told, and files that are gone; and lists of other
//! operators' decisions.

use std::{collections::HashMap, iter};

use alloy::primitives::{Address, keccak256};
use aws_sdk_dynamodb::types::AttributeValue;
use local::desk::Desk;
use serde_json::{Value, json};
use tests::{Answer, SignedIn, Stack, fields};
use uuid::Uuid;

async fn desk(stack: &Stack) -> Desk {
    Desk::of_stack(&stack.map, "the night shift").await.expect("a desk")
}

async fn run(desk: &Desk, arguments: &[&str]) -> Result<String, String> {
    let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    desk.run(&arguments).await.map_err(|error| error.to_string())
}

fn has(count: usize) -> impl Fn(&Value) -> bool {
    move |body| body["moments"].as_array().is_some_and(|moments| moments.len() == count)
}

fn unix_now() -> u64 {
    std::time::SystemTime::UNIX_EPOCH.elapsed().expect("a clock").as_secs()
}

fn soon(seconds: u64) -> String {
    shared::clock::iso_8601(unix_now() + seconds).expect("a time")
}

#[tokio::test]
async fn suspended_artist_signs_in_exports_and_withdraws_and_publishes_nothing() {
    let stack = Stack::connect();
    let (desk, artist) = (desk(&stack).await, stack.new_collector().await);
    let token = &artist.artist.token;
    let subject = format!("artist#{}", artist.artist.wallet);
    let nobody = format!("artist#{:#x}", Address::from_word(keccak256(Uuid::new_v4())));
    assert!(run(&desk, &["suspend", &nobody, "spam", "x"]).await.is_err(), "an account without an artist");
    assert!(
        run(&desk, &["suspend", &subject, "spam", "until", "2020-01-01", "x"]).await.is_err(),
        "an end in the past"
    );
    run(&desk, &["suspend", &subject, "spam", "a", "wave"]).await.expect("a decision");
    assert!(run(&desk, &["show", &subject]).await.expect("a decision").contains("suspended for spam by the night"));

    let name = format!("Suspended {}", Uuid::new_v4());
    let moment = json!({"contract": {"name": name, "uri": "ar://1"}, "token": {"tokenMetadataURI": "ar://1",
        "salesConfig": {"type": "fixedPrice", "pricePerToken": "0", "saleStart": 0, "saleEnd": u64::MAX}}});
    let publish = async || stack.write("/moment/create", &artist.key, &moment, &[]).await;
    let refused = publish().await.expect_error(403);
    let words = refused.body["message"].as_str().expect("a message");
    assert!(words.contains("suspended") && words.contains("(spam)") && words.contains("appeal"), "{words}");
    let document = json!({"name": name});
    Answer::of(stack.post("/metadata").bearer_auth(token).json(&document)).await.expect_error(403);
    let upload = json!({"contentType": "image/png", "size": 1_000});
    Answer::of(stack.post("/uploads").bearer_auth(token).json(&upload)).await.expect_error(403);
    Answer::of(stack.post("/collections").bearer_auth(token).json(&json!({"name": name, "uri": "ar://1"})))
        .await
        .expect_error(403);
    let change = async |body: Value| Answer::of(stack.patch("/artists/me").bearer_auth(token).json(&body)).await;
    let refused = change(json!({"bio": "See my other site"})).await.expect_error(403);
    assert!(refused.body["message"].as_str().is_some_and(|words| words.contains("suspended")), "{refused:?}");
    change(json!({"news_mails": "none"})).await.expect_success();
    let accepted = json!({"sender": Address::repeat_byte(0x5a)});
    Answer::of(stack.post("/moment/accept").bearer_auth(token).json(&accepted)).await.expect_error(403);

    let again = stack.sign_in(&artist.artist.email).await;
    Answer::of(stack.get("/artists/me/export").bearer_auth(&again.token)).await.expect_success();
    let to = Address::from_word(keccak256(artist.account));
    stack.add_old_payout_address(&again, to).await;
    stack.set_balance(artist.account, 1_000_000).await;
    stack.withdraw(&again, &json!({"to": to, "amount": "1000", "unit": "wei"})).await.expect_success();

    run(&desk, &["reinstate", &subject]).await.expect("an end");
    publish().await.expect_success();
    change(json!({"bio": "Back"})).await.expect_success();
    // An end that comes by itself: as if it was decided to be now.
    run(&desk, &["suspend", &subject, "spam", "until", &soon(3_600), "an", "hour"]).await.expect("a decision");
    let words = publish().await.expect_error(403).body["message"].to_string();
    assert!(words.contains("until 20"), "{words}");
    let (table, now) = (&stack.map.names["ArtistTable"], AttributeValue::N(unix_now().to_string()));
    let ended =
        HashMap::from([("reason".to_owned(), AttributeValue::S("spam".to_owned())), ("until".to_owned(), now.clone())]);
    let profile = format!("ARTIST#{}", stack.artist_id(&artist.artist));
    stack.set(table, &profile, "PROFILE", "suspension", AttributeValue::M(ended)).await;
    publish().await.expect_success();
    // What has ended doesn't stand in the way of the next one.
    assert!(run(&desk, &["suspend", &subject, "other", "again"]).await.is_err(), "it holds");
    let decision = format!("{}#SUSPENSION", subject.to_lowercase());
    stack.set(table, "DECISIONS", &decision, "until", now).await;
    run(&desk, &["suspend", &subject, "other", "again"]).await.expect("a decision");
    publish().await.expect_error(403);
}

#[tokio::test]
async fn suspended_artist_hides_a_moment_and_does_not_show_it_again() {
    let stack = Stack::connect();
    let (desk, artist) = (desk(&stack).await, stack.new_writer().await);
    stack.wait_until(&format!("/timeline?collection={}", artist.collection), has(1)).await;
    run(&desk, &["suspend", &format!("artist#{}", artist.artist.wallet), "spam", "x"]).await.expect("a decision");
    let hide = async |hidden: bool| {
        let body = json!({"moment": {"collectionAddress": artist.collection, "tokenId": "1"}, "hidden": hidden});
        Answer::of(stack.post("/moment/hide").header("x-api-key", &artist.key).json(&body)).await
    };
    hide(true).await.expect_success();
    hide(false).await.expect_error(403);
}

#[tokio::test]
async fn hidden_moment_comes_back_when_its_time_is_over() {
    let stack = Stack::connect();
    let (desk, artist) = (desk(&stack).await, stack.new_writer().await);
    let (listed, subject) =
        (format!("/timeline?collection={}", artist.collection), format!("moment#8453#{:#x}#1", artist.collection));
    stack.wait_until(&listed, has(1)).await;
    let account = format!("artist#{}", artist.artist.wallet);
    for (action, subject) in [("hide", &account), ("remove", &subject)] {
        assert!(run(&desk, &[action, subject, "other", "until", &soon(60), "x"]).await.is_err(), "{action} {subject}");
    }
    // On a slow machine the end may come before the decision is followed, which proves nothing: a later one then.
    for seconds in iter::successors(Some(4_u64), |seconds| Some(2 * seconds)) {
        let end = unix_now() + seconds;
        run(&desk, &["hide", &subject, "other", "until", &soon(seconds), "a", "week"]).await.expect("a decision");
        let shown = Answer::of(stack.get(&listed)).await.expect_success().body;
        let is_before_end = unix_now() < end;
        assert!(has(0)(&shown) || !is_before_end, "it isn't hidden: {shown}");
        stack.wait_until(&listed, has(1)).await;
        if is_before_end {
            break;
        }
        run(&desk, &["undo", &subject]).await.expect("an end");
    }
    run(&desk, &["hide", &subject, "other", "again"]).await.expect("a decision after one that ended");
    stack.wait_until(&listed, has(0)).await;
}

#[tokio::test]
async fn artist_is_told_of_a_decision_and_of_its_end_and_nobody_else_is() {
    let stack = Stack::connect();
    let (desk, artist, other) = (desk(&stack).await, stack.new_collector().await, stack.new_collector().await);
    let collection = stack.release(&artist.key, "Told", &["ar://1".to_owned()]).await.to_lowercase();
    let subject = format!("moment#8453#{collection}#1");
    stack.wait_until(&format!("/timeline?collection={collection}"), has(1)).await;
    let before = Answer::of(stack.get("/events?after=latest")).await.expect_success().body["next"].clone();
    let before = before.as_str().expect("a cursor").to_owned();
    let mails = stack.mails_to(&artist.artist.email).await.len();
    let said = run(&desk, &["hide", &subject, "copyright", "secret", "note"]).await.expect("a decision");
    assert!(said.contains("the artist is told by mail"), "{said}");
    run(&desk, &["undo", &subject]).await.expect("an end");
    let told = stack.mails_to(&artist.artist.email).await;
    let [hidden, shown] = &told[mails..] else { panic!("{told:?}") };
    let text = &hidden.body_text;
    assert!(text.contains("your moment 1 of 0x") && text.contains("copyright") && text.contains("answer this mail"));
    assert!(!text.contains("secret") && !text.contains("night shift"), "{text}");
    assert!(shown.body_text.contains("undid a decision about your moment 1"), "{}", shown.body_text);

    let of = async |key: &str| {
        let (mut after, mut events) = (before.clone(), Vec::new());
        loop {
            let path = format!("/events?types=moderation.changed&after={after}");
            let page = Answer::of(stack.get(&path).header("x-api-key", key)).await.expect_success().body;
            events.extend(page["events"].as_array().expect("events").clone());
            let next = page["next"].as_str().expect("a cursor");
            if next == after {
                return events;
            }
            next.clone_into(&mut after);
        }
    };
    let events = of(&artist.key).await;
    assert_eq!(events.len(), 2, "{events:?}");
    let data = &events[0]["data"];
    assert_eq!(fields(data), ["about", "account", "action", "is_undone", "reason", "until"]);
    assert_eq!(
        (&data["about"], &data["action"], &data["reason"]),
        (&json!(subject), &json!("hide"), &json!("copyright"))
    );
    assert_eq!((&events[0]["type"], &events[1]["data"]["is_undone"]), (&json!("moderation.changed"), &json!(true)));
    assert_eq!(of(&other.key).await, Vec::<Value>::new());
}

/// A vector picture of one's own, uploaded: its CID.
async fn uploaded(stack: &Stack, artist: &SignedIn) -> (String, String) {
    let id = Uuid::new_v4();
    let picture = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='4' height='2'><title>{id}</title><rect width='4' height='2'/></svg>"
    );
    let post =
        async |path: &str, body: &Value| Answer::of(stack.post(path).bearer_auth(&artist.token).json(body)).await;
    let body = json!({"contentType": "image/svg+xml", "size": picture.len()});
    let begun = post("/uploads", &body).await.expect_success().body;
    let url = begun["parts"][0]["url"].as_str().expect("an address");
    stack.http.put(url).body(picture.clone()).send().await.expect("an answer").error_for_status().expect("success");
    let path = format!("/uploads/{}/complete", begun["uploadId"].as_str().expect("an id"));
    let stored = post(&path, &json!({})).await.expect_success().body;
    (stored["uri"].as_str().expect("a URI").to_owned(), picture)
}

#[tokio::test]
async fn files_of_a_removed_moment_are_gone_and_come_back_with_it() {
    let stack = Stack::connect();
    let (desk, artist) = (desk(&stack).await, stack.new_collector().await);
    let token = &artist.artist.token;
    let (picture, content) = uploaded(&stack, &artist.artist).await;
    let described = async |name: &str| {
        let document = json!({"name": name, "image": picture});
        Answer::of(stack.post("/metadata").bearer_auth(token).json(&document)).await
    };
    let uri = |answer: Answer| answer.expect_success().body["uri"].as_str().expect("a URI").to_owned();
    let uris = [uri(described("One").await), uri(described("Two").await)];
    let collection = stack.release(&artist.key, "Removed", &uris).await;
    let moment = |token: u8| format!("/moment?collectionAddress={collection}&tokenId={token}");
    let shown = stack.wait_until(&moment(1), |body| !body["metadata"]["placeholder"].is_null()).await;
    let preview = shown["metadata"]["previews"][0]["url"].as_str().expect("an address").to_owned();
    stack.wait_until(&moment(2), |body| !body["metadata"]["placeholder"].is_null()).await;
    let status = async |url: &str| stack.http.get(url).send().await.expect("an answer").status().as_u16();
    let file = |uri: &str| format!("{}/ipfs/{}", stack.map.files, uri.trim_start_matches("ipfs://"));
    assert_eq!((status(&file(&picture)).await, status(&preview).await), (200, 200));

    let subject = |token: u8| format!("moment#8453#{collection}#{token}");
    let said = run(&desk, &["remove", &subject(1), "copyright", "a", "claim"]).await.expect("a decision");
    assert!(said.ends_with(" is removed"), "{said}");
    Answer::of(stack.get(&moment(1))).await.expect_error(404);
    let gone = stack.http.get(file(&picture)).send().await.expect("an answer");
    let by = format!("<{}/moderation>; rel=\"blocked-by\"", stack.map.api);
    assert_eq!((gone.status().as_u16(), &gone.headers()["link"]), (451, &by.parse().expect("a header")));
    assert_eq!((status(&file(&uris[0])).await, status(&preview).await), (451, 404));
    assert_eq!(status(&file(&uris[1])).await, 200, "another moment's document");
    assert_eq!(described("Three").await.status, 451, "a document that names the picture");
    let again = json!({"contract": {"name": "Again", "uri": "ar://1"}, "token": {"tokenMetadataURI": uris[0],
        "salesConfig": {"type": "fixedPrice", "pricePerToken": "0", "saleStart": 0, "saleEnd": u64::MAX}}});
    assert_eq!(stack.write_once("/moment/create", &artist.key, &again, &[]).await.status, 451, "published again");

    // A file that another removed moment names stays away until that one is back.
    run(&desk, &["remove", &subject(2), "copyright", "a", "claim"]).await.expect("a decision");
    run(&desk, &["undo", &subject(1)]).await.expect("an end");
    assert_eq!((status(&file(&uris[0])).await, status(&file(&picture)).await), (200, 451));
    run(&desk, &["undo", &subject(2)]).await.expect("an end");
    let back = stack.http.get(file(&picture)).send().await.expect("an answer");
    assert_eq!(back.text().await.expect("a text"), content);
    assert_eq!((status(&file(&uris[1])).await, status(&preview).await), (200, 200));
    stack.wait_until(&format!("/timeline?collection={collection}"), has(2)).await;
    described("Three").await.expect_success();
}

#[tokio::test]
async fn decisions_of_others_are_proposals_until_somebody_takes_them() {
    let stack = Stack::connect();
    let (desk, artist) = (desk(&stack).await, stack.new_writer().await);
    let (listed, subject) =
        (format!("/timeline?collection={}", artist.collection), format!("moment#8453#{:#x}#1", artist.collection));
    stack.wait_until(&listed, has(1)).await;
    run(&desk, &["hide", &subject, "spam", "secret", "note"]).await.expect("a decision");
    let list = run(&desk, &["export"]).await.expect("a list");
    assert!(list.contains(&subject) && !list.contains("secret") && !list.contains("night shift"), "{list}");
    run(&desk, &["undo", &subject]).await.expect("an end");
    stack.wait_until(&listed, has(1)).await;

    let mut list: Value = serde_json::from_str(&list).expect("JSON");
    list["decisions"].as_array_mut().expect("decisions").retain(|decision| decision["subject"] == subject.as_str());
    let file = std::env::temp_dir().join(format!("deny-{}.json", Uuid::new_v4()));
    let path = file.to_str().expect("a path");
    std::fs::write(&file, list.to_string()).expect("a file");
    let import = async || run(&desk, &["import", path, "a gallery\u{1b}[2J"]).await;
    assert!(import().await.expect("proposals").starts_with("1 proposals"));
    let shown = run(&desk, &["list"]).await.expect("a list");
    assert!(shown.contains(&format!("{subject}  hide for spam is proposed by a gallery")), "{shown}");
    assert!(!shown.contains('\u{1b}'), "what steers a terminal");
    assert!(has(1)(&Answer::of(stack.get(&listed)).await.expect_success().body), "nothing is decided");
    run(&desk, &["take", &subject, "looked", "at", "it"]).await.expect("a decision");
    stack.wait_until(&listed, has(0)).await;
    assert!(import().await.expect("proposals").starts_with("0 proposals"), "it is decided here");
    run(&desk, &["undo", &subject]).await.expect("an end");
    assert!(import().await.expect("proposals").starts_with("1 proposals"));
    run(&desk, &["decline", &subject]).await.expect("an end");
    assert!(run(&desk, &["take", &subject, "too", "late"]).await.is_err());
    std::fs::write(&file, json!({"version": 1, "decisions": [{"subject": "song#1"}]}).to_string()).expect("a file");
    assert!(import().await.is_err(), "a list that can't be read");
    std::fs::remove_file(&file).expect("it is there");
}

#[tokio::test]
async fn account_that_is_taken_over_is_signed_out_and_its_owner_comes_back() {
    let stack = Stack::connect();
    let (desk, artist) = (desk(&stack).await, stack.new_collector().await);
    let me = async |credential: (&str, &str)| Answer::of(stack.get("/me").header(credential.0, credential.1)).await;
    let bearer = format!("Bearer {}", artist.artist.token);
    let (token, key) = (("authorization", bearer.as_str()), ("x-api-key", artist.key.as_str()));
    for credential in [token, key] {
        me(credential).await.expect_success();
    }
    let nobody = format!("artist#{:#x}", Address::from_word(keccak256(Uuid::new_v4())));
    assert!(run(&desk, &["sign-out", &nobody]).await.is_err(), "an account without an artist");
    let subject = format!("artist#{}", artist.artist.wallet);
    assert!(run(&desk, &["sign-out", &subject]).await.expect("it ends").contains("signed out everywhere"));
    for credential in [token, key] {
        me(credential).await.expect_error(401);
    }
    let again = stack.sign_in(&artist.artist.email).await;
    let activity = Answer::of(stack.get("/artists/activity").bearer_auth(&again.token)).await.expect_success().body;
    let entries = activity["activity"].as_array().expect("activity");
    assert!(entries.iter().any(|entry| entry["subject"] == "API keys, devices, by the operator"), "{activity}");
}
