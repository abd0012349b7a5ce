//! Somebody takes a name that others take for an artist's or the service's, or one that has characters nobody sees.

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use shared::model::{FoldedName, NameShape};
use tests::{Answer, SignedIn, Stack};
use uuid::Uuid;

const TABLE: &str = "ArtistTable";

async fn rename(stack: &Stack, artist: &SignedIn, name: &str) -> Answer {
    Answer::of(stack.patch("/artists/me").bearer_auth(&artist.token).json(&json!({"username": name}))).await
}

/// Letters that are nobody's name yet.
fn unused_letters() -> String {
    let letters = Uuid::new_v4().simple().to_string();
    letters[..12].bytes().map(|byte| char::from(b'a' + byte % 7)).collect()
}

fn row_of(name: impl ToString) -> String {
    format!("USERNAME#{}", name.to_string())
}

#[tokio::test]
async fn names_that_look_like_an_artists_are_refused() {
    let stack = Stack::connect();
    let (ada, eve) = (stack.new_artist().await, stack.new_artist().await);
    let letters = unused_letters();
    let name = format!("Oliver_{letters}");
    rename(&stack, &ada, &name).await.expect_success();
    for alike in ["0liver", "OIiver", "O1iver", "ol.iver", "o-l-i-v-e-r", "OLIVER", "ol·iver"] {
        rename(&stack, &eve, &format!("{alike}_{letters}")).await.expect_error(409);
    }
    // Cyrillic letters among Latin ones, and in their place; characters that aren't seen, or turn the text.
    for unseen in ["Оliver_", "оlivеr_", "Oli\u{200b}ver_", "Oli\u{200d}ver_", "\u{202e}Oliver_", "Oliver\u{2060}_"]
    {
        let refused = rename(&stack, &eve, &format!("{unseen}{letters}")).await.expect_error(400);
        assert_eq!(refused.failing_fields(), ["username"], "{unseen:?}");
    }
    for cyrillic in ["расе", "ВЁАТ"] {
        let refused = rename(&stack, &eve, cyrillic).await.expect_error(400);
        assert_eq!(refused.failing_fields(), ["username"], "{cyrillic}");
    }
    let shown = Answer::of(stack.get(&format!("/artists/{}", eve.wallet))).await.expect_success();
    assert_eq!(shown.body["username"], "");
}

#[tokio::test]
async fn names_of_the_service_are_refused_however_they_are_written() {
    let stack = Stack::connect();
    let eve = stack.new_artist().await;
    for name in ["admin", "Supp0rt", "rnoderator", "moments.support", "Moments-0fficial", "he1p", "security_1", "STAFF"]
    {
        let refused = rename(&stack, &eve, name).await.expect_error(400);
        assert_eq!(refused.failing_fields(), ["username"], "{name}");
    }
}

#[tokio::test]
async fn a_name_from_before_look_alikes_counted_stays_its_artists() {
    let stack = Stack::connect();
    let (ada, eve) = (stack.new_artist().await, stack.new_artist().await);
    let letters = unused_letters();
    let (name, alike) = (format!("mila_{letters}"), format!("rni1a_{letters}"));
    rename(&stack, &ada, &name).await.expect_success();
    // As it was: the row of its shape isn't there.
    let shape = row_of(NameShape::of(&name));
    let key = |text: &str| AttributeValue::S(text.to_owned());
    let call = stack.dynamodb().await.delete_item().table_name(TABLE).key("pk", key(&shape)).key("sk", key("ARTIST"));
    call.send().await.expect("a row");
    let profile = format!("ARTIST#{}", stack.artist_id(&ada));
    stack.set(TABLE, &profile, "PROFILE", "has_shape", AttributeValue::Bool(false)).await;

    let address = async |name: &str| Answer::of(stack.get(&format!("/artists/{name}"))).await.body["address"].clone();
    assert_eq!(address(&name).await, json!(ada.wallet));
    rename(&stack, &eve, &name.to_uppercase()).await.expect_error(409);
    // Whoever looked alike then keeps that name, too, and either may change its case.
    rename(&stack, &eve, &alike).await.expect_success();
    rename(&stack, &ada, &name.to_uppercase()).await.expect_success();
    assert_eq!((address(&name).await, address(&alike).await), (json!(ada.wallet), json!(eve.wallet)));

    let other = format!("other_{letters}");
    rename(&stack, &ada, &other).await.expect_success();
    assert_eq!((address(&other).await, address(&name).await), (json!(ada.wallet), Value::Null));
    rename(&stack, &eve, &name).await.expect_error(409);
    let owner = async |row: &str| stack.row(TABLE, row, "ARTIST").await.expect("a row")["artist_id"].clone();
    assert_eq!(owner(&shape).await, key(&stack.artist_id(&eve)));
    assert_eq!(owner(&row_of(FoldedName::of(&name))).await, key(&stack.artist_id(&ada)));
}
