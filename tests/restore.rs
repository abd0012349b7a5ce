//! `local/sam/restore`, by which an operator gives a table back what it has lost.

use std::collections::HashMap;

use aws_sdk_dynamodb::{
    Client,
    types::{AttributeDefinition, AttributeValue, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType},
};
use serde_json::json;
use tests::{Answer, Error, Stack, python};
use uuid::Uuid;

const TABLES: [&str; 2] = ["ArtistTable", "SecretTable"];

type Row = HashMap<String, AttributeValue>;

fn text(text: &str) -> AttributeValue {
    AttributeValue::S(text.to_owned())
}

/// A restored table with these rows.
async fn restored(database: &Client, rows: &[Row]) -> Result<String, Error> {
    let name = format!("restored-{}", Uuid::new_v4().simple());
    let mut table = database.create_table().table_name(&name).billing_mode(BillingMode::PayPerRequest);
    for (key, kind) in [("pk", KeyType::Hash), ("sk", KeyType::Range)] {
        let field = AttributeDefinition::builder().attribute_name(key).attribute_type(ScalarAttributeType::S);
        let part = KeySchemaElement::builder().attribute_name(key).key_type(kind);
        table = table.attribute_definitions(field.build()?).key_schema(part.build()?);
    }
    table.send().await?;
    for row in rows {
        database.put_item().table_name(&name).set_item(Some(row.clone())).send().await?;
    }
    Ok(name)
}

async fn restore(stack: &Stack, from: &str, to: &str, partitions: &[&str]) -> Result<String, Error> {
    let arguments = [&["local/sam/restore", from, to], partitions].concat();
    let output = python(&stack.map.dynamodb, &arguments).await?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
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
        let mut rows: Vec<Row> = rows.collect::<Result<_, _>>().await?;
        // Messages are taken by workers meanwhile.
        rows.retain(|row| format!("{row:?}").contains(&id) && !format!("{:?}", row["pk"]).contains("BOX"));
        assert!(!rows.is_empty(), "{table} has nothing of the artist");
        // Worse than none: a lane with a nonce of long ago.
        let lane =
            Row::from([("pk", "LANE#8453#old"), ("sk", "LANE")].map(|(key, value)| (key.to_owned(), text(value))));
        copies.push((table, restored(&database, &[rows.clone(), vec![lane]].concat()).await?, rows));
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
        let partitions = restore(&stack, copy, table, &["KEY#", "WALLET#"]).await?;
        assert!(partitions.starts_with("1 rows copied"), "{partitions}");
        let all = restore(&stack, copy, table, &[]).await?;
        assert!(!all.starts_with("0 rows"), "{all}");
        let again = restore(&stack, copy, table, &[]).await?;
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
