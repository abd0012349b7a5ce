//! `POST /moment/permission`

use alloy::primitives::{Address, U256};
use serde_json::{Value, json};
use shared::chain::contracts::native::Creator1155;
use tests::{Answer, Stack, Writer};

const PATH: &str = "/moment/permission";

fn body(collection: Address, admin: &str) -> Value {
    json!({"moment": {"collectionAddress": collection, "tokenId": "1"}, "adminAddress": admin})
}

async fn grant(stack: &Stack, writer: &Writer, collection: Address, admin: &str) -> Answer {
    stack.write(PATH, &writer.key, &body(collection, admin), &[]).await
}

#[tokio::test]
async fn new_admin_may_update_that_moment() {
    let stack = Stack::connect();
    let (writer, friend) = (stack.new_writer().await, stack.new_writer().await);
    let change = json!({
        "moment": {"collectionAddress": writer.collection, "tokenId": "1"},
        "newUri": "ar://by-a-friend",
    });
    let path = "/registry/metadata/moment";
    stack.write_once(path, &friend.key, &change, &[]).await.expect_error(403);

    let answer = grant(&stack, &writer, writer.collection, &friend.artist.wallet).await.expect_success();
    assert_eq!(answer.body["chainId"], 8453);
    let friend_account: Address = friend.artist.wallet.parse().expect("an address");
    let collection = Creator1155::new(writer.collection, stack.chain());
    let on =
        async |token: u64| collection.permissions(U256::from(token), friend_account).call().await.expect("permissions");
    assert_eq!((on(0).await, on(1).await), (U256::ZERO, U256::from(2)));
    stack.write(path, &friend.key, &change, &[]).await.expect_success();

    // A second grant is refused.
    let again = grant(&stack, &writer, writer.collection, &friend.artist.wallet).await.expect_error(409);
    assert!(again.body["message"].as_str().is_some_and(|message| message.contains("already")), "{again:?}");
}

#[tokio::test]
async fn grant_by_a_stranger_or_to_an_invalid_address_is_refused() {
    let stack = Stack::connect();
    let (writer, stranger) = (stack.new_writer().await, stack.new_writer().await);
    let answer = grant(&stack, &stranger, writer.collection, &stranger.artist.wallet).await.expect_error(403);
    assert!(answer.body["message"].as_str().is_some_and(|message| message.contains("ADMIN")), "{answer:?}");
    grant(&stack, &writer, Address::repeat_byte(9), &stranger.artist.wallet).await.expect_error(404);
    for wrong in ["", "0x1", &format!("0x{}", "0".repeat(40)), "0x540c18b7f99b3b599c6FeB99964498931c211858"] {
        let answer = grant(&stack, &writer, writer.collection, wrong).await.expect_error(400);
        assert_eq!(answer.failing_fields(), ["adminAddress"], "{wrong}");
    }
    let answer = stack.write_once(PATH, &writer.key, &json!({}), &[]).await.expect_error(400);
    assert_eq!(answer.failing_fields(), ["moment", "adminAddress"]);
    Answer::of(stack.post(PATH).json(&body(writer.collection, &writer.artist.wallet))).await.expect_error(401);
}

#[tokio::test]
async fn admins_of_a_collection_are_made_and_revoked_in_both_ways() {
    let stack = Stack::connect();
    let (writer, friend) = (stack.new_writer().await, stack.new_writer().await);
    let admin = &friend.artist.wallet;
    let account: Address = admin.parse().expect("an address");
    let whole = json!({"moment": {"collectionAddress": writer.collection, "tokenId": "0"}, "adminAddress": admin});
    let admins = format!("/collections/eip155:8453/erc1155:{:#x}/admins", writer.collection);
    let by_name = json!({"adminAddress": admin});
    let in_query = format!("{PATH}?collectionAddress={:#x}&tokenId=0&adminAddress={admin}", writer.collection);
    let permissions = async || {
        let collection = Creator1155::new(writer.collection, stack.chain());
        collection.permissions(U256::ZERO, account).call().await.expect("permissions")
    };
    let delete = async |path: &str, key: &str| Answer::of_write(stack.delete(path).header("x-api-key", key)).await;
    for (path, body, revoke) in
        [(PATH, &whole, &in_query), (admins.as_str(), &by_name, &format!("{admins}?adminAddress={admin}"))]
    {
        stack.write_once(path, &friend.key, body, &[]).await.expect_error(403);
        stack.write(path, &writer.key, body, &[]).await.expect_success();
        assert_eq!(permissions().await, U256::from(2), "{path}");
        stack.write_once(path, &writer.key, body, &[]).await.expect_error(409);
        // The new admin may do what the artist may.
        let change =
            json!({"moment": {"collectionAddress": writer.collection, "tokenId": "1"}, "newUri": "ar://friend"});
        stack.write("/registry/metadata/moment", &friend.key, &change, &[]).await.expect_success();
        delete(revoke, &writer.key).await.expect_success();
        assert_eq!(permissions().await, U256::ZERO, "{revoke}");
        delete(revoke, &writer.key).await.expect_error(404);
    }
    let missing = delete(&admins, &writer.key).await.expect_error(400);
    assert_eq!(missing.failing_fields(), ["adminAddress"]);
    let unknown = format!("/collections/eip155:8453/erc1155:{:#x}/admins", Address::repeat_byte(9));
    stack.write_once(&unknown, &writer.key, &by_name, &[]).await.expect_error(404);
}
