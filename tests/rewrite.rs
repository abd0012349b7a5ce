//! `local/sam/rewrite`, by which an operator brings rows of an older form up to the newest.

use std::collections::HashMap;

use aws_sdk_dynamodb::{Client, types::AttributeValue};
use serde_json::json;
use tests::{Answer, Error, Stack, empty_tables, python};

const TABLE: &str = "ArtistTable";

type Row = HashMap<String, AttributeValue>;

/// The only webhook of an artist's row.
fn webhook(row: &mut Row) -> &mut Row {
    let Some(AttributeValue::L(webhooks)) = row.get_mut("webhooks") else { panic!("no webhooks") };
    let [AttributeValue::M(webhook)] = &mut webhooks[..] else { panic!("not one webhook") };
    webhook
}

async fn rewrite(database: &str, values: &[&str]) -> Result<(bool, String), Error> {
    let output = python(database, &[&["local/sam/rewrite", TABLE], values].concat()).await?;
    let told = [output.stdout, output.stderr].concat();
    Ok((output.status.success(), String::from_utf8(told)?))
}

#[tokio::test]
async fn rows_of_an_older_form_get_the_newest_and_lose_nothing() -> Result<(), Error> {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let body = json!({"url": "http://127.0.0.1:9/older"});
    Answer::of(stack.post("/webhooks").bearer_auth(&artist.token).json(&body)).await.expect_success();
    let partition = format!("WEBHOOKS#{}", stack.artist_id(&artist));
    let newest = stack.row(TABLE, &partition, "WEBHOOKS").await.ok_or("no row")?;
    let number = |number: &str| AttributeValue::N(number.to_owned());
    assert_eq!(newest["form"], number("2"));

    // As it was before rows had a form.
    let mut older = newest.clone();
    older.remove("form");
    webhook(&mut older).retain(|name, _| !["key", "former_key"].contains(&name.as_str()));
    let mut other = newest.clone();
    other.insert("pk".to_owned(), AttributeValue::S("ARTIST#other".to_owned()));
    other.remove("form");
    let database = empty_tables(&stack).await;
    let client = Client::new(&stack.endpoints().sdk_config(&database.endpoint).await);
    for row in [&older, &other] {
        client.put_item().table_name(TABLE).set_item(Some(row.clone())).send().await?;
    }
    let (succeeds, told) = rewrite(&database.endpoint, &[]).await?;
    assert!(!succeeds && told.contains("webhookKey"), "{told}");

    let key = format!("webhookKey={}", stack.map.names["WebhookKeys"]);
    for expected in ["1 rows rewritten\n", "0 rows rewritten\n"] {
        assert_eq!(rewrite(&database.endpoint, &[&key]).await?, (true, expected.to_owned()));
    }
    let mut expected = newest.clone();
    // The worker that asks the address for its challenge may have changed the row before it was copied.
    let version: u64 = newest["version"].as_n().map_err(|_| "no version")?.parse()?;
    expected.insert("version".to_owned(), number(&(version + 1).to_string()));
    webhook(&mut expected).remove("former_key");
    let read = async |row: &Row| {
        let call = client.get_item().table_name(TABLE).key("pk", row["pk"].clone()).key("sk", row["sk"].clone());
        call.consistent_read(true).send().await.map(|answer| answer.item)
    };
    assert_eq!(read(&older).await?, Some(expected));
    assert_eq!(read(&other).await?, Some(other), "other rows stay as they are");
    Ok(())
}
