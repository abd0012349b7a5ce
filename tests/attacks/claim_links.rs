//! Somebody guesses at claim links, `TRIES` times (200), or claims with many mailboxes: what it costs whom.

use std::{collections::BTreeMap, env};

use alloy::primitives::U256;
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use tests::{Answer, Sandbox, Stack, unused_email};

/// Wei that an artist's account has reserved or spent today; `None` before its first write.
async fn spent(stack: &Stack, artist: &str) -> Option<u64> {
    let row = stack.row(&stack.map.names["ArtistTable"], &format!("ACCOUNT#{artist}"), "8453").await?;
    row["spent"].as_n().ok()?.parse().ok()
}

#[tokio::test]
async fn forged_links_find_nothing_and_cost_nobody_anything() {
    let stack = Stack::connect();
    let tries = env::var("TRIES").map_or(200, |tries| tries.parse().expect("TRIES is a number"));
    let (writer, thief) = (stack.new_writer().await, stack.new_artist().await);
    let link = stack.claim_link(&writer.key, writer.collection, json!({"count": 5})).await;
    let limit = [("WRITES_PER_CLIENT_MINUTELY", "20")];
    let sandbox = Sandbox::with_variables(&stack, "claim-moment", &limit).await;
    let bearer = format!("Bearer {}", thief.token);
    let attempt = async |number: u32| {
        let mut event = sandbox.event();
        // One character aside, it is the link.
        let place = number as usize % 21;
        let other = if &link.token[place..=place] == "x" { "y" } else { "x" };
        event["pathParameters"]["token"] =
            json!(format!("{}{other}{}", &link.token[..place], &link.token[place + 1..]));
        event["headers"]["authorization"] = json!(bearer);
        event["requestContext"]["http"]["sourceIp"] = json!("198.51.100.99");
        sandbox.invoke(&event).await["statusCode"].as_u64().expect("a status")
    };
    let statuses = stream::iter(0..tries).map(attempt).buffer_unordered(16);
    let statuses = statuses.fold(BTreeMap::new(), async |mut counted: BTreeMap<u64, u32>, status| {
        *counted.entry(status).or_default() += 1;
        counted
    });
    let statuses = statuses.await;
    println!("{statuses:?}");
    // A limit holds for a minute of the clock, and the tries may take some of them: five would be too many.
    assert!(statuses.keys().all(|status| [404, 429].contains(status)), "{statuses:?}");
    assert!(statuses[&429] > statuses[&404], "one network tries on and on: {statuses:?}");
    assert_eq!(spent(&stack, &stack.artist_id(&writer.artist)).await, None, "the artist's budget");
    assert_eq!(spent(&stack, &stack.artist_id(&thief)).await, None);
    let listed = Answer::of(stack.get("/moment/claims").header("x-api-key", &writer.key)).await.expect_success();
    assert_eq!(listed.body["claims"][0]["claimed"], json!(0));
}

#[tokio::test]
async fn person_with_many_mailboxes_gets_what_the_link_has_at_its_artists_expense() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let link = stack.claim_link(&writer.key, writer.collection, json!({"count": 5})).await;
    let mailboxes: Vec<_> = (0..20).map(|_| unused_email()).collect();
    let people: Vec<_> = stream::iter(&mailboxes).map(|email| stack.sign_in(email)).buffered(4).collect().await;
    let mut statuses = Vec::new();
    for person in &people {
        statuses.push(stack.claim(&link, person).await.status);
    }
    assert_eq!(statuses, [vec![200; 5], vec![409; 15]].concat());
    let mut tokens = U256::ZERO;
    for person in &people {
        tokens += stack.tokens_of(person.wallet.parse().expect("an address"), writer.collection).await;
        assert_eq!(spent(&stack, &stack.artist_id(person)).await, None, "who claims has no account yet");
    }
    assert_eq!(tokens, U256::from(5));
    let whole = spent(&stack, &stack.artist_id(&writer.artist)).await.expect("a budget");
    stack.claim(&link, &people[0]).await.expect_success();
    assert_eq!(spent(&stack, &stack.artist_id(&writer.artist)).await, Some(whole), "what is there costs nothing more");
}

#[tokio::test]
async fn secret_of_a_link_is_in_no_table_log_or_list() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let link = stack.claim_link(&writer.key, writer.collection, json!({"count": 1})).await;
    let sandbox = Sandbox::with_variables(&stack, "claim-moment", &[("LOG_LEVEL", "trace")]).await;
    let mut event = sandbox.event();
    event["pathParameters"]["token"] = json!(link.token);
    event["rawPath"] = json!(format!("/api/claims/{}", link.token));
    event["requestContext"]["http"]["path"] = event["rawPath"].clone();
    event["headers"]["authorization"] = json!(format!("Bearer {}", writer.artist.token));
    let answer = sandbox.invoke(&event).await;
    // Mined or not.
    assert!([json!(200), json!(202)].contains(&answer["statusCode"]), "{answer}");
    let logs = sandbox.log();
    assert!(logs.contains("request answered"), "{logs}");
    let lines: Vec<_> = logs.lines().filter(|line| line.contains(&link.token)).collect();
    assert!(lines.is_empty(), "the link is logged: {lines:?}");

    for table in ["ArtistTable", "SecretTable", "ChainTable"] {
        let rows = stack.dynamodb().await.scan().table_name(&stack.map.names[table]).into_paginator().items().send();
        let rows = rows.collect::<Result<Vec<_>, _>>().await.expect("rows");
        assert!(!format!("{rows:?}").contains(&link.token), "{table} has the link");
    }
    for path in ["/moment/claims", "/transactions", "/artists/me/export"] {
        let shown: Value = Answer::of(stack.get(path).bearer_auth(&writer.artist.token)).await.expect_success().body;
        assert!(!shown.to_string().contains(&link.token), "{path} shows the link");
    }
}
