//! `GET /events`

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use tests::{Answer, Collector, Stack, eventually, fields};

const ETHER: u64 = 1_000_000_000_000_000_000;

/// A Unix time, in seconds.
const NEVER: u64 = 4_000_000_000;

const ATTRIBUTES: [&str; 9] =
    ["data", "dataversion", "id", "sequence", "source", "specversion", "subject", "time", "type"];

async fn collect(stack: &Stack, buyer: &Collector, collection: &str, comment: &str) -> Value {
    stack.set_balance(buyer.account, ETHER).await;
    let order = json!({"moment": {"collectionAddress": collection, "tokenId": "1"}, "amount": 1, "comment": comment});
    stack.write("/moment/collect", &buyer.key, &order, &[]).await.expect_success().body
}

fn events(body: &Value) -> Vec<Value> {
    body["events"].as_array().expect("events").clone()
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

fn types(events: &[Value]) -> Vec<String> {
    events.iter().map(|event| text(&event["type"])).collect()
}

/// Asks again with each `next` until `is_enough`. Every other answer is lost on its way, and asked for once more.
async fn read_on(
    stack: &Stack,
    query: &str,
    after: &str,
    is_enough: impl Fn(&[Value]) -> bool,
) -> (Vec<Value>, String) {
    let (mut found, mut next) = (Vec::new(), after.to_owned());
    for turn in 0_u32.. {
        let after = if next.is_empty() { String::new() } else { format!("&after={next}") };
        if turn > 200 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let body = Answer::of(stack.get(&format!("/events?{query}{after}"))).await.expect_success().body;
        assert_eq!(fields(&body), ["events", "next", "status"]);
        if turn % 2 == 1 {
            continue;
        }
        let (before, page) = (next, events(&body));
        next = text(&body["next"]);
        found.extend(page);
        if is_enough(&found) || (next == before && turn > 2_000) {
            break;
        }
    }
    (found, next)
}

async fn latest(stack: &Stack) -> String {
    let body = Answer::of(stack.get("/events?after=latest")).await.expect_success().body;
    assert_eq!(events(&body), Vec::<Value>::new());
    text(&body["next"])
}

#[tokio::test]
async fn a_consumer_that_loses_answers_has_exactly_the_log() {
    let stack = Stack::connect();
    let (artist, buyer) = (stack.new_collector().await, stack.new_collector().await);
    let before = latest(&stack).await;
    let collection = stack.release(&artist.key, "Told", &["ar://1".to_owned()]).await;
    let collected = collect(&stack, &buyer, &collection, "Heard").await;
    let of_collection = |found: &[Value]| {
        let of = found.iter().filter(|event| event["data"]["collection"] == collection.as_str());
        of.cloned().collect::<Vec<_>>()
    };
    // What others do decides where the pages end, also between the events of one collect.
    let is_told = |found: &[Value]| {
        let told = types(&of_collection(found));
        ["comment.created", "moment.collected", "payment.received"].iter().all(|name| told.iter().any(|it| it == name))
    };
    let (found, next) = read_on(&stack, "chainId=8453&limit=3", &before, is_told).await;
    for (event, following) in found.iter().zip(&found[1..]) {
        assert_eq!(fields(event), ATTRIBUTES);
        let number = |event: &Value| text(&event["sequence"]).parse::<u64>().expect("a number");
        assert_eq!(number(event) + 1, number(following), "nothing twice, nothing missing");
    }
    let told = of_collection(&found);
    let of_type = |name: &str| told.iter().find(|event| event["type"] == name).unwrap_or_else(|| panic!("no {name}"));
    let place = format!("eip155:8453/erc1155:{collection}/1");
    for name in ["collection.created", "moment.created", "sale.updated", "permission.changed"] {
        assert_eq!(of_type(name)["data"]["owner"], json!(artist.artist.wallet), "{name}");
    }
    let moment = of_type("moment.created");
    assert_eq!((&moment["subject"], &moment["source"]), (&json!(place), &json!("/chains/8453")));
    assert_eq!((&moment["specversion"], &moment["data"]["uri"]), (&json!("1.0"), &json!("ar://1")));
    let (payment, comment) = (of_type("payment.received"), of_type("comment.created"));
    assert_eq!(payment["data"]["buyer"], json!(buyer.artist.wallet));
    assert_eq!((&comment["data"]["comment"], &comment["data"]["sender"]), (&json!("Heard"), &payment["data"]["buyer"]));
    let got = of_type("moment.collected");
    assert_eq!((&got["data"]["to"], &got["data"]["transaction_hash"]), (&payment["data"]["buyer"], &collected["hash"]));
    assert!(got["data"]["value"].as_str().is_some_and(|value| value == payment["data"]["paid"]), "{got} {payment}");

    // Filters leave out others, and what comes is the same.
    let wallet = &buyer.artist.wallet;
    for (query, is_meant) in [
        (format!("collection={collection}"), Box::new(|_: &Value| true) as Box<dyn Fn(&Value) -> bool>),
        (
            format!("collection={collection}&types=comment.created,payment.received"),
            Box::new(|event: &Value| event["type"] == "comment.created" || event["type"] == "payment.received"),
        ),
        (
            format!("artist={wallet}&chainId=8453"),
            Box::new(|event: &Value| event["data"].to_string().contains(wallet.as_str())),
        ),
    ] {
        let meant: Vec<_> = told.iter().filter(|event| is_meant(event)).cloned().collect();
        let (same, _) = read_on(&stack, &format!("{query}&limit=2"), &before, |all| all.len() >= meant.len()).await;
        assert_eq!(same, meant, "{query}");
    }
    let nothing = Answer::of(stack.get(&format!("/events?artist={collection}&after={next}"))).await.expect_success();
    assert_eq!(events(&nothing.body), Vec::<Value>::new());
}

#[tokio::test]
async fn a_request_waits_for_what_happens() {
    let stack = Stack::connect();
    let artist = stack.new_collector().await;
    let path =
        format!("/events?artist={}&types=moment.created&wait=20&after={}", artist.artist.wallet, latest(&stack).await);
    let waiting = async {
        let mut path = path;
        // What others do may end a page.
        loop {
            let body = Answer::of(stack.get(&path).header("x-api-key", &artist.key)).await.expect_success().body;
            if !events(&body).is_empty() {
                return body;
            }
            let (start, _) = path.split_once("&after=").expect("a cursor");
            path = format!("{start}&after={}", text(&body["next"]));
        }
    };
    let uris = ["ar://1".to_owned()];
    let (body, collection) = tokio::join!(waiting, stack.release(&artist.key, "Awaited", &uris));
    assert_eq!(types(&events(&body)), ["moment.created"]);
    assert_eq!(body["events"][0]["data"]["collection"], json!(collection));
}

/// One client can't hold what all wait with.
#[tokio::test]
async fn two_requests_of_an_artist_wait_and_a_third_and_strangers_do_not() {
    let stack = Stack::connect();
    let (artist, other) = (stack.new_collector().await, stack.new_artist().await);
    let after = latest(&stack).await;
    // Nothing happens to this account.
    let path = format!("/events?artist={}&types=moment.created&after={after}", "0x".to_owned() + &"9".repeat(40));
    Answer::of(stack.get(&format!("{path}&wait=1"))).await.expect_error(401);
    Answer::of(stack.get(&path)).await.expect_success();
    let wait = async |seconds: u8| {
        Answer::of(stack.get(&format!("{path}&wait={seconds}")).header("x-api-key", &artist.key)).await
    };
    let (secrets, places) = (&stack.map.names["SecretTable"], format!("WAITS#{}", stack.artist_id(&artist.artist)));
    let place = async |name: &str| stack.row(secrets, &places, name).await;
    tokio::select! {
        // Dropped, it waits on in one of the places that all tests have.
        answer = wait(10) => panic!("it held no place: {answer:?}"),
        _ = eventually("a place is held", async || place("0").await) => {}
    }
    // As if this request waited for as long as the test takes, and then another one.
    let take = async |name: &str, end: u64| {
        stack.set(secrets, &places, name, "expires_at", AttributeValue::N(end.to_string())).await;
    };
    take("0", NEVER).await;
    wait(1).await.expect_success();
    take("1", NEVER).await;
    let third = wait(3).await.expect_error(429);
    assert_eq!(third.header("retry-after"), "3");
    Answer::of(stack.get(&format!("{path}&wait=1")).bearer_auth(&other.token)).await.expect_success();
    // A place whose request was killed is free after its end, and one whose request is answered at once.
    take("0", 1).await;
    wait(1).await.expect_success();
    assert_eq!((place("0").await, place("1").await.is_some()), (None, true));
}

#[tokio::test]
async fn outcomes_of_transactions_are_told_to_their_artist_alone() {
    let stack = Stack::connect();
    let (artist, other) = (stack.new_collector().await, stack.new_artist().await);
    let before = latest(&stack).await;
    let collection = stack.release(&artist.key, "Own", &["ar://1".to_owned()]).await;
    let transactions = Answer::of(stack.get("/transactions").header("x-api-key", &artist.key)).await.expect_success();
    let mined = &transactions.body["transactions"][0];
    let rename = json!({"bio": "Tells"});
    Answer::of(stack.patch("/artists/me").bearer_auth(&artist.artist.token).json(&rename)).await.expect_success();

    let wallet = &artist.artist.wallet;
    let path = format!("/events?artist={wallet}&types=transaction.mined,transaction.failed,artist.updated&limit=100");
    let ask = async |credential: Option<(&str, String)>| {
        let (mut after, mut found) = (before.clone(), Vec::new());
        while !types(&found).contains(&"artist.updated".to_owned()) {
            let wait = if credential.is_some() { "&wait=5" } else { "" };
            let request = stack.get(&format!("{path}{wait}&after={after}"));
            let request = credential.iter().fold(request, |request, (name, value)| request.header(*name, value));
            let body = Answer::of(request).await.expect_success().body;
            after = text(&body["next"]);
            found.extend(events(&body));
        }
        found
    };
    for credential in [("x-api-key", artist.key.clone()), ("authorization", format!("Bearer {}", artist.artist.token))]
    {
        let found = ask(Some(credential)).await;
        assert_eq!(types(&found), ["transaction.mined", "artist.updated"]);
        let (outcome, updated) = (&found[0], &found[1]);
        assert_eq!((&outcome["data"]["id"], &outcome["data"]["hash"]), (&mined["id"], &mined["hash"]));
        assert_eq!(outcome["data"]["result"]["contractAddress"], json!(collection));
        assert_eq!((&outcome["source"], &updated["source"]), (&json!("/service"), &json!("/service")));
        assert_eq!(updated["data"], json!({"address": wallet}));
        assert_eq!(updated["subject"], json!(format!("/artists/{wallet}")));
    }
    for credential in [None, Some(("authorization", format!("Bearer {}", other.token)))] {
        assert_eq!(types(&ask(credential).await), ["artist.updated"]);
    }
    let wrong = stack.get(&path).header("x-api-key", "moments_wrong");
    Answer::of(wrong).await.expect_error(401);
}

#[tokio::test]
async fn wrong_cursors_and_parameters_are_refused() {
    let stack = Stack::connect();
    let here = Answer::of(stack.get("/events?after=latest&chainId=8453")).await.expect_success().body;
    let next = text(&here["next"]);
    let [chain, log, number] = next.split('.').collect::<Vec<_>>()[..] else { panic!("{next}") };
    let other = if log.starts_with('0') { log.replacen('0', "1", 1) } else { format!("0{}", &log[1..]) };
    let ahead = number.parse::<u64>().expect("a number") + 1_000_000;
    assert_ne!(number, "0", "nothing has happened on chain {chain}");
    for cursor in [format!("{chain}.{other}.{number}"), format!("{chain}.{log}.{ahead}")] {
        let answer = Answer::of(stack.get(&format!("/events?after={cursor}"))).await.expect_error(410);
        assert!(answer.body["message"].as_str().is_some_and(|text| text.contains("made anew")), "{answer:?}");
    }
    // A log that the cursor doesn't have is read from its beginning.
    let first = Answer::of(stack.get("/events?chainId=8453&limit=1")).await.expect_success().body;
    assert_eq!(first["events"][0]["sequence"], json!(format!("{:020}", 1)));
    let answer = Answer::of(
        stack.get("/events?after=now&types=moment.sold&artist=x&collection=0x1&chainId=7&limit=101&wait=21"),
    );
    let answer = answer.await.expect_error(400);
    assert_eq!(answer.failing_fields(), ["after", "types", "artist", "collection", "chainId", "limit", "wait"]);
}
