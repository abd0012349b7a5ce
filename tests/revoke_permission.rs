//! `DELETE /moment/permission`

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use alloy::{
    primitives::{Address, U256},
    sol_types::SolCall,
};
use aws_sdk_dynamodb::{Client, types::AttributeValue};
use local::{contracts::DEPLOYER, workshop};
use serde_json::{Value, json};
use shared::chain::{contracts::native::Creator1155, protocol::permission::Permission};
use tests::{Answer, Collector, DatabaseProxy, Sandbox, Stack, empty_tables, eventually};

use crate::transactions::{QUIET_CHAIN, copy_artist, quiet};

const PATH: &str = "/moment/permission";

fn body(collection: Address, admin: &str) -> Value {
    json!({"moment": {"collectionAddress": collection, "tokenId": "1"}, "adminAddress": admin})
}

async fn revoke(stack: &Stack, key: &str, collection: Address, admin: &str) -> Answer {
    Answer::of_write(stack.delete(PATH).header("x-api-key", key).json(&body(collection, admin))).await
}

async fn permissions(stack: &Stack, collection: Address, token: u64, account: &str) -> U256 {
    let account = account.parse().expect("an address");
    let collection = Creator1155::new(collection, stack.chain());
    collection.permissions(U256::from(token), account).call().await.expect("permissions")
}

#[tokio::test]
async fn revoked_admin_loses_the_permission() {
    let stack = Stack::connect();
    let (writer, friend, stranger) = (stack.new_writer().await, stack.new_writer().await, stack.new_writer().await);
    let friends = &friend.artist.wallet;
    stack.write(PATH, &writer.key, &body(writer.collection, friends), &[]).await.expect_success();
    revoke(&stack, &stranger.key, writer.collection, friends).await.expect_error(403);
    let answer = revoke(&stack, &writer.key, writer.collection, friends).await.expect_success();
    assert_eq!(answer.body["chainId"], 8453);
    assert!(permissions(&stack, writer.collection, 1, friends).await.is_zero());
    revoke(&stack, &writer.key, writer.collection, friends).await.expect_error(404);
    // What was refused isn't told.
    let told = Answer::of(stack.get("/artists/activity").bearer_auth(&writer.artist.token)).await.expect_success().body;
    assert_eq!([0_usize, 1].map(|place| &told["activity"][place]["kind"]), ["admin_revoked", "admin_granted"]);
    revoke(&stack, &friend.key, writer.collection, &writer.artist.wallet).await.expect_error(403);
}

#[tokio::test]
async fn collection_wide_admin_cannot_be_revoked() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let deployer = format!("{DEPLOYER:#x}");
    let answer = revoke(&stack, &writer.key, writer.collection, &deployer).await.expect_error(409);
    assert!(answer.body["message"].as_str().is_some_and(|message| message.contains("whole collection")), "{answer:?}");
    // The artist is also an admin of the collection, so the moment's permission can be revoked.
    revoke(&stack, &writer.key, writer.collection, &writer.artist.wallet).await.expect_success();
    assert!(permissions(&stack, writer.collection, 1, &writer.artist.wallet).await.is_zero());
    let change = json!({"moment": {"collectionAddress": writer.collection, "tokenId": "1"}, "newUri": "ar://still"});
    stack.write("/registry/metadata/moment", &writer.key, &change, &[]).await.expect_success();
}

#[tokio::test]
async fn last_admin_cannot_be_revoked() {
    let stack = Stack::connect();
    let (writer, friend) = (stack.new_writer().await, stack.new_writer().await);
    let own = &writer.artist.wallet;
    for admin in [own.parse().expect("an address"), DEPLOYER] {
        let call = Permission::Admin.revoke(U256::ZERO, admin).abi_encode();
        stack.send(DEPLOYER, writer.collection, call).await;
    }
    let answer = revoke(&stack, &writer.key, writer.collection, own).await.expect_error(409);
    assert!(answer.body["message"].as_str().is_some_and(|message| message.contains("last admin")), "{answer:?}");
    assert_eq!(permissions(&stack, writer.collection, 1, own).await, U256::from(2));

    let grant = body(writer.collection, &friend.artist.wallet);
    stack.write(PATH, &writer.key, &grant, &[]).await.expect_success();
    eventually("the other admin is indexed", async || {
        let answer = revoke(&stack, &writer.key, writer.collection, own).await;
        let is_revoked = answer.status == 200;
        if !is_revoked {
            answer.expect_error(409);
        }
        is_revoked.then_some(())
    })
    .await;
    assert!(permissions(&stack, writer.collection, 1, own).await.is_zero());
    revoke(&stack, &friend.key, writer.collection, &friend.artist.wallet).await.expect_error(409);
}

#[tokio::test]
async fn every_invalid_field_is_named() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let answer = revoke(&stack, &writer.key, writer.collection, "0x1").await.expect_error(400);
    assert_eq!(answer.failing_fields(), ["adminAddress"]);
    revoke(&stack, &writer.key, Address::repeat_byte(9), &writer.artist.wallet).await.expect_error(404);
    let request = stack.delete(PATH).header("x-api-key", &writer.key).json(&json!({}));
    assert_eq!(Answer::of(request).await.expect_error(400).failing_fields(), ["moment", "adminAddress"]);
    Answer::of(stack.delete(PATH).json(&body(writer.collection, &writer.artist.wallet))).await.expect_error(401);
}

#[tokio::test]
async fn revocation_waits_only_in_a_place_that_it_gives_back() {
    let stack = Stack::connect();
    let _quiet = quiet(&stack).await;
    let Collector { artist, key, account } = stack.new_collector().await;
    // A queue that nothing reads.
    let (database, proxy) = (empty_tables(&stack).await, DatabaseProxy::start().await.expect("a proxy"));
    proxy.lead_to(&database.endpoint);
    let looks = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&looks);
    proxy.observe(move |target, request, _| {
        let is_look = target.ends_with(".BatchGetItem") && String::from_utf8_lossy(request).contains("TRANSACTIONS#");
        counter.fetch_add(usize::from(is_look), Relaxed);
    });
    let function = Sandbox::with_database(&stack, "revoke-permission", &proxy.url).await;
    let rows = Client::new(&function.endpoints.sdk_config(&database.endpoint).await);
    copy_artist(&stack.dynamodb().await, &rows, &artist.wallet).await;
    let (chain, friend) = (QUIET_CHAIN.to_string(), account.create(3));
    let factory = stack.contract_on(&chain, "factory");
    let made = workshop::publish(&stack.map.rpc[&chain], factory, &[account, friend], Vec::new()).await;
    let moment = json!({"collectionAddress": made.expect("a collection"), "tokenId": "1", "chainId": QUIET_CHAIN});
    let mut event = function.event();
    event["headers"]["x-api-key"] = json!(key);
    event["body"] = json!({"moment": moment, "adminAddress": friend}).to_string().into();
    // The artist's two places, as if other requests waited there.
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let holder = text(&format!("WAITS#{}", stack.artist_id(&artist)));
    for place in ["2", "3"] {
        let taken = rows.put_item().table_name("SecretTable").item("pk", holder.clone()).item("sk", text(place));
        taken.item("expires_at", AttributeValue::N("9999999999".to_owned())).send().await.expect("a place");
    }
    let is_held = async || {
        let place = rows.get_item().table_name("SecretTable").consistent_read(true);
        place.key("pk", holder.clone()).key("sk", text("2")).send().await.expect("an answer").item.is_some()
    };

    let answer = function.invoke(&event).await;
    assert_eq!((&answer["statusCode"], looks.load(Relaxed)), (&json!(202), 0), "{answer}");

    let free = rows.delete_item().table_name("SecretTable").key("pk", holder.clone()).key("sk", text("2"));
    free.send().await.expect("a place");
    let held = eventually("the place is held", async || is_held().await.then_some(()));
    let (answer, ()) = tokio::join!(function.invoke(&event), held);
    let replayed = &answer["headers"]["idempotent-replayed"];
    assert_eq!((&answer["statusCode"], replayed), (&json!(202), &json!("true")), "{answer}");
    assert!(looks.load(Relaxed) > 0 && !is_held().await, "it didn't look, or the place isn't given back");
}
