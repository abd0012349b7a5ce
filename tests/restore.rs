//! `local/sam/restore`, by which an operator gives a table back what it has lost.

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;
use shared::store::engine::Item;
use tests::{Answer, Error, Stack, restore, restored_table};

const TABLES: [&str; 2] = ["ArtistTable", "SecretTable"];

fn text(text: &str) -> AttributeValue {
    AttributeValue::S(text.to_owned())
}

#[tokio::test]
async fn lost_account_is_back_with_its_key_and_what_was_newer_stays() -> Result<(), Error> {
    let (stack, database) = (Stack::connect(), Stack::connect().dynamodb().await);
    let writer = stack.new_writer().await;
    let (artist, id) = (&writer.artist, stack.artist_id(&writer.artist));
    let describe = async |bio: &str| {
        let change = stack.patch("/artists/me").bearer_auth(&artist.token).json(&json!({"bio": bio}));
        Answer::of(change).await.expect_success();
    };
    let moment = json!({"collectionAddress": writer.collection, "tokenId": "1"});
    let write = async |uri: &str| {
        stack.write("/registry/metadata/moment", &writer.key, &json!({"moment": moment, "newUri": uri}), &[]).await
    };
    describe("before").await;
    write("ar://before").await.expect_success();

    let mut copies = Vec::new();
    for table in TABLES {
        let rows = database.scan().table_name(table).consistent_read(true).into_paginator().items().send();
        let mut rows: Vec<Item> = rows.collect::<Result<_, _>>().await?;
        // Messages are taken by workers meanwhile.
        rows.retain(|row| format!("{row:?}").contains(&id) && !format!("{:?}", row["pk"]).contains("BOX"));
        assert!(!rows.is_empty(), "{table} has nothing of the artist");
        // Worse than none: a lane with a nonce of long ago.
        let lane =
            Item::from([("pk", "LANE#8453#old"), ("sk", "LANE")].map(|(key, value)| (key.to_owned(), text(value))));
        copies.push((table, restored_table(&database, &[rows.clone(), vec![lane]].concat()).await?, rows));
    }
    describe("after").await;
    for (table, _, rows) in &copies {
        for row in rows.iter().filter(|row| row["sk"] != text("PROFILE")) {
            let delete = database.delete_item().table_name(*table);
            delete.key("pk", row["pk"].clone()).key("sk", row["sk"].clone()).send().await?;
        }
    }
    write("ar://lost").await.expect_error(401);

    for (table, copy, _) in &copies {
        let partitions = restore(&stack.map.dynamodb, copy, table, &["KEY#", "WALLET#"]).await?;
        assert!(partitions.starts_with("1 rows copied"), "{partitions}");
        let all = restore(&stack.map.dynamodb, copy, table, &[]).await?;
        assert!(!all.starts_with("0 rows"), "{all}");
        let again = restore(&stack.map.dynamodb, copy, table, &[]).await?;
        assert!(again.starts_with("0 rows copied"), "{again}");
        assert!(stack.row(table, "LANE#8453#old", "LANE").await.is_none(), "an old lane is back");
    }
    write("ar://back").await.expect_success();
    let again = stack.sign_in(&artist.email).await;
    assert_eq!(again.wallet, artist.wallet);
    let profile = Answer::of(stack.get(&format!("/artists/{}", artist.wallet))).await.expect_success();
    assert_eq!(profile.body["bio"], "after");
    Ok(())
}
