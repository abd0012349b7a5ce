//! `PATCH /artists/me`

use alloy::signers::local::PrivateKeySigner;
use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use shared::model::{FoldedName, NameShape};
use tests::{Answer, Sandbox, SignedIn, Stack};
use uuid::Uuid;

#[tokio::test]
async fn given_fields_change_and_others_stay() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let name = unused_name();
    let all = json!({
        "username": name,
        "bio": "<script>alert(\"hi\")</script>\n& שלום 🎨",
        "instagram_username": "ada.lovelace",
        "twitter_username": "ada_l",
        "telegram_username": "ada-1815",
    });
    let answer = update(&stack, &artist, &all).await.expect_success();
    for (field, value) in all.as_object().expect("an object") {
        assert_eq!(&answer.body[field], value);
    }
    assert_eq!(answer.body["address"], artist.wallet);
    let shown = Answer::of(stack.get(&format!("/artists/{}", artist.wallet))).await.expect_success();
    assert_eq!(shown.body, answer.body);

    let power = update(&stack, &artist, &json!({"bio": "", "is_admin": true})).await.expect_error(400);
    assert_eq!(power.failing_fields(), ["is_admin"]);
    let bio = json!({"bio": "", "telegram_username": null});
    let answer = update(&stack, &artist, &bio).await.expect_success();
    assert_eq!(answer.body["bio"], "");
    assert_eq!(answer.body["telegram_username"], "ada-1815");
    assert_eq!(answer.body["username"], name);
}

#[tokio::test]
async fn every_invalid_field_is_named_and_nothing_changes() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let wrong = json!({
        "username": "<script>",
        "bio": "x".repeat(501),
        "instagram_username": "@ada",
        "twitter_username": 7,
        "telegram_username": "a b",
    });
    let answer = update(&stack, &artist, &wrong).await.expect_error(400);
    let fields = ["username", "bio", "instagram_username", "twitter_username", "telegram_username"];
    assert_eq!(answer.failing_fields(), fields);
    for body in [
        json!({"username": "ad"}),
        json!({"username": ""}),
        json!({"username": "x".repeat(33)}),
        json!({"username": "аda"}),
        json!({"username": unused_name(), "bio": "a\u{0}b"}),
    ] {
        update(&stack, &artist, &body).await.expect_error(400);
    }
    for body in [json!({}), json!({"bio": null})] {
        let answer = update(&stack, &artist, &body).await.expect_error(400);
        assert!(answer.failing_fields().is_empty(), "{answer:?}");
    }
    assert_eq!(Answer::of(stack.get(&format!("/artists/{}", artist.wallet))).await.body["username"], "");
}

#[tokio::test]
async fn concurrent_claims_of_a_name_in_any_case_give_it_to_one_artist() {
    let stack = Stack::connect();
    let mut artists = Vec::new();
    for _ in 0..6 {
        artists.push(stack.new_artist().await);
    }
    let name = format!("Žofie-{}", &unused_name()[..12]);
    let spellings = [name.clone(), name.to_uppercase(), name.to_lowercase()];
    let bodies: Vec<Value> = (0..6).map(|index| json!({"username": spellings[index % 3]})).collect();
    let asked = artists.iter().zip(&bodies).map(|(artist, body)| update(&stack, artist, body));
    let answers = futures::future::join_all(asked).await;
    let of = |status| answers.iter().filter(|answer| answer.status == status).count();
    assert_eq!((of(200), of(409)), (1, 5), "{answers:?}");

    // The owner may change its case.
    let winner = answers.iter().position(|answer| answer.status == 200).expect("a winner");
    for spelling in &spellings {
        let answer = update(&stack, &artists[winner], &json!({"username": spelling})).await.expect_success();
        assert_eq!(answer.body["username"], *spelling);
    }
}

#[tokio::test]
async fn released_name_is_reserved_for_thirty_days() {
    let stack = Stack::connect();
    let (ada, eve) = (stack.new_artist().await, stack.new_artist().await);
    let (first, second) = (unused_name(), unused_name());
    for name in [&first, &second] {
        update(&stack, &ada, &json!({"username": name})).await.expect_success();
    }
    update(&stack, &eve, &json!({"username": first})).await.expect_error(409);
    update(&stack, &ada, &json!({"username": first})).await.expect_success();
    update(&stack, &ada, &json!({"username": second})).await.expect_success();

    // Thirty days pass.
    let keys = [FoldedName::of(&first).to_string(), NameShape::of(&first).to_string()];
    let rows = keys.map(|key| format!("USERNAME#{key}"));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock").as_secs();
    for row in &rows {
        let kept = stack.row("ArtistTable", row, "ARTIST").await.expect("the name's row");
        let until: u64 = kept["expires_at"].as_n().expect("a number").parse().expect("a time");
        assert!((30 * 86_400 - 60..=30 * 86_400).contains(&(until - now)), "kept for {} s", until - now);
    }
    for row in &rows {
        stack.set("ArtistTable", row, "ARTIST", "expires_at", AttributeValue::N(now.to_string())).await;
    }
    update(&stack, &eve, &json!({"username": first})).await.expect_success();
    update(&stack, &ada, &json!({"username": first})).await.expect_error(409);
}

#[tokio::test]
async fn fourth_reserved_name_is_refused() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let names: Vec<_> = (0..5).map(|_| unused_name()).collect();
    for name in &names[..4] {
        update(&stack, &artist, &json!({"username": name})).await.expect_success();
    }
    let answer = update(&stack, &artist, &json!({"username": names[4], "bio": "new"})).await.expect_error(429);
    let seconds: u64 = answer.header("retry-after").parse().expect("seconds");
    assert!((29 * 86_400..=30 * 86_400).contains(&seconds), "told to wait {seconds} s");
    // A name reserved for the artist needs no further reservation.
    let answer = update(&stack, &artist, &json!({"username": names[0]})).await.expect_success();
    assert_eq!(answer.body["bio"], "", "half of a refused change was made");
}

#[tokio::test]
async fn rename_updates_every_wallet_and_the_search() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let own = PrivateKeySigner::random();
    stack.connect_wallet(&artist, &own).await.expect_success();
    let (first, second) = (unused_name(), unused_name());
    for name in [&first, &second] {
        update(&stack, &artist, &json!({"username": name})).await.expect_success();
        for wallet in [artist.wallet.clone(), format!("{:#x}", own.address())] {
            let row = stack.row("ArtistTable", &format!("WALLET#{wallet}"), "ARTIST").await.expect("the wallet's row");
            assert_eq!(row["username"].as_s().expect("a name"), name);
        }
    }
    let listed = async |name: &str| {
        let folded = FoldedName::of(name);
        let first: String = folded.as_str().chars().take(1).collect();
        stack.row("ArtistTable", &format!("SEARCH#{first}"), folded.as_str()).await
    };
    assert!(listed(&first).await.is_none(), "the old name is still found");
    assert_eq!(listed(&second).await.expect("the new name")["address"].as_s().expect("an address"), &artist.wallet);

    // A wallet connected later has the name from the start.
    let later = PrivateKeySigner::random();
    stack.connect_wallet(&artist, &later).await.expect_success();
    let row = stack.row("ArtistTable", &format!("WALLET#{:#x}", later.address()), "ARTIST").await.expect("a row");
    assert_eq!(row["username"].as_s().expect("a name"), &second);
}

#[tokio::test]
async fn concurrent_changes_are_all_applied() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let wallet = PrivateKeySigner::random();
    let (name, bio, social) =
        (json!({"username": unused_name()}), json!({"bio": "hello"}), json!({"twitter_username": "ada"}));
    let changes = [update(&stack, &artist, &name), update(&stack, &artist, &bio), update(&stack, &artist, &social)];
    let (answers, connected) =
        futures::future::join(futures::future::join_all(changes), stack.connect_wallet(&artist, &wallet)).await;
    connected.expect_success();
    answers.into_iter().for_each(|answer| drop(answer.expect_success()));
    let shown = Answer::of(stack.get(&format!("/artists/{}", artist.wallet))).await.expect_success().body;
    assert_eq!((&shown["username"], &shown["bio"]), (&name["username"], &bio["bio"]));
    assert_eq!((&shown["twitter_username"], shown["wallets"].as_array().map(Vec::len)), (&json!("ada"), Some(2)));
}

#[tokio::test]
async fn picture_of_an_artist_has_previews_and_is_on_the_page() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let profile = format!("/artists/{}", artist.wallet);
    let first = stored(&stack, &artist, "image/svg+xml", &dot()).await;
    let set = update(&stack, &artist, &json!({"avatar": first})).await.expect_success().body;
    assert_eq!(set["avatar"]["uri"], json!(first));
    let shown = stack.wait_until(&profile, |body| !body["avatar"]["placeholder"].is_null()).await;
    let avatar = &shown["avatar"];
    assert_eq!((&avatar["placeholder"]["width"], &avatar["previews"][0]["width"]), (&json!(1280), &json!(320)));
    assert_eq!(avatar["previews"][0]["uri"], json!(first));
    for url in [&avatar["url"], &avatar["previews"][0]["url"]] {
        let file = stack.http.get(url.as_str().expect("an address")).send().await.expect("an answer");
        assert_eq!(file.status(), 200, "{url}");
    }
    let page =
        async || stack.http.get(shown["page"].as_str().expect("a page")).send().await.unwrap().text().await.unwrap();
    let html = page().await;
    assert!(html.contains(&format!("<img class=\"face\" src={}", avatar["previews"][0]["url"])), "{html}");
    assert!(html.contains(&format!("<meta property=\"og:image\" content={}", avatar["previews"][2]["url"])), "{html}");

    // Two in a row: forms of the one that was replaced are never shown.
    for text in [dot(), dot()] {
        let next = stored(&stack, &artist, "image/svg+xml", &text).await;
        let set = update(&stack, &artist, &json!({"avatar": next})).await.expect_success().body;
        assert_eq!((&set["avatar"]["uri"], &set["avatar"]["previews"]), (&json!(next), &json!([])));
    }
    let shown = stack.wait_until(&profile, |body| !body["avatar"]["placeholder"].is_null()).await;
    assert_eq!(shown["avatar"]["previews"][0]["uri"], shown["avatar"]["uri"]);
    let none = update(&stack, &artist, &json!({"avatar": ""})).await.expect_success().body;
    assert_eq!(none["avatar"], Value::Null);
    assert!(!page().await.contains("class=\"face\""));
}

#[tokio::test]
async fn only_stored_pictures_and_web_addresses_are_taken() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let unknown = "ipfs://bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy";
    let writing = stored(&stack, &artist, "text/plain", &unused_name()).await;
    for (uri, words) in [(unknown, "upload it"), (writing.as_str(), "is no picture, but text/plain")] {
        let refused = update(&stack, &artist, &json!({"avatar": uri})).await.expect_error(422);
        assert!(refused.body["message"].as_str().is_some_and(|message| message.contains(words)), "{refused:?}");
    }
    let web = "https://a.example/\"><script>alert(1)</script>";
    let links = ["https://www.a.example/ada/", web];
    let wrong = json!({"avatar": "https://a.example/x.png", "links": [web, "javascript:alert(1)"]});
    let refused = update(&stack, &artist, &wrong).await.expect_error(400);
    assert_eq!(refused.failing_fields(), ["avatar", "links.1"]);
    update(&stack, &artist, &json!({"links": vec!["https://a.example"; 6]})).await.expect_error(400);
    let set = update(&stack, &artist, &json!({"links": links})).await.expect_success().body;
    assert_eq!((&set["links"], &set["avatar"]), (&json!(links), &Value::Null));
    let page = stack.http.get(set["page"].as_str().expect("a page")).send().await.unwrap().text().await.unwrap();
    let link = "<a href=\"https://www.a.example/ada/\" rel=\"me nofollow noopener\" dir=\"ltr\">a.example/ada</a>";
    assert!(page.contains(link) && !page.contains("<script>alert"), "{page}");
    let none = update(&stack, &artist, &json!({"links": []})).await.expect_success().body;
    assert_eq!(none["links"], json!([]));
}

/// A vector picture of a colour that no other has.
fn dot() -> String {
    let colour = &Uuid::new_v4().simple().to_string()[..6];
    format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='4' height='4'><rect width='4' height='4' fill='#{colour}'/></svg>"
    )
}

/// The URI of a file that is uploaded.
async fn stored(stack: &Stack, artist: &SignedIn, kind: &str, content: &str) -> String {
    let begun = json!({"contentType": kind, "size": content.len()});
    let begun = Answer::of(stack.post("/uploads").bearer_auth(&artist.token).json(&begun)).await.expect_success().body;
    let part = stack.http.put(begun["parts"][0]["url"].as_str().expect("a URL")).body(content.to_owned());
    part.send().await.expect("an answer").error_for_status().expect("success");
    let id = begun["uploadId"].as_str().expect("an id");
    let stored = stack.complete_upload(artist, id).await.expect_success().body;
    stored["uri"].as_str().expect("a URI").to_owned()
}

async fn update(stack: &Stack, artist: &SignedIn, body: &Value) -> Answer {
    Answer::of(stack.patch("/artists/me").bearer_auth(&artist.token).json(body)).await
}

/// A random, unused name.
fn unused_name() -> String {
    format!("{:.31}", format!("a{}", Uuid::new_v4().simple()))
}

#[tokio::test]
async fn name_that_looks_like_another_s_or_the_service_s_is_refused() {
    let stack = Stack::connect();
    let (ada, eve) = (stack.new_artist().await, stack.new_artist().await);
    let name = format!("lim0_{}", &unused_name()[..20]);
    update(&stack, &ada, &json!({"username": name})).await.expect_success();
    for alike in [name.to_uppercase(), name.replace("lim0", "1imo"), name.replace("lim0_", "li-rno.")] {
        update(&stack, &eve, &json!({"username": alike})).await.expect_error(409);
        // Nobody is found by a name that they only look like.
        let found = Answer::of(stack.get(&format!("/artists/{alike}"))).await;
        assert_eq!(found.status, if alike.eq_ignore_ascii_case(&name) { 200 } else { 404 }, "{alike}");
    }
    // It is their own, so they may write it otherwise.
    let other = name.replace("lim0", "Limo");
    let renamed = update(&stack, &ada, &json!({"username": other})).await.expect_success();
    assert_eq!(renamed.body["username"], json!(other));
    for reserved in ["support", "Supp0rt", "adm1n", "mo_ments"] {
        let answer = update(&stack, &eve, &json!({"username": reserved})).await.expect_error(400);
        assert_eq!(answer.failing_fields(), ["username"], "{reserved}");
    }
}

#[tokio::test]
async fn name_from_before_look_alikes_counted_takes_its_shape_with_the_next_change() {
    let stack = Stack::connect();
    let (ada, eve) = (stack.new_artist().await, stack.new_artist().await);
    let name = format!("lim0_{}", &unused_name()[..20]);
    update(&stack, &ada, &json!({"username": name})).await.expect_success();
    let shape = format!("USERNAME#{}", NameShape::of(&name));
    let forget_shape = async || {
        let profile = format!("ARTIST#{}", stack.artist_id(&ada));
        stack.set("ArtistTable", &profile, "PROFILE", "has_shape", AttributeValue::Bool(false)).await;
        let key = |value: &str| AttributeValue::S(value.to_owned());
        let call = stack.dynamodb().await.delete_item().table_name("ArtistTable");
        call.key("pk", key(&shape)).key("sk", key("ARTIST")).send().await.expect("a row");
    };
    let alike = json!({"username": name.replace("lim0", "1imo")});
    forget_shape().await;
    update(&stack, &ada, &json!({"bio": "Paints"})).await.expect_success();
    update(&stack, &eve, &alike).await.expect_error(409);
    // Who was faster keeps it, and both may change the rest.
    forget_shape().await;
    update(&stack, &eve, &alike).await.expect_success();
    let changed = update(&stack, &ada, &json!({"bio": "Draws"})).await.expect_success();
    assert_eq!((&changed.body["username"], &changed.body["bio"]), (&json!(name), &json!("Draws")));
}

#[tokio::test]
async fn name_that_is_reserved_only_now_stays_its_artists() {
    let stack = Stack::connect();
    let (ada, eve) = (stack.new_artist().await, stack.new_artist().await);
    let name = unused_name();
    update(&stack, &ada, &json!({"username": name})).await.expect_success();
    let strict = Sandbox::with_variables(&stack, "update-artist", &[("RESERVED_NAMES", &name)]).await;
    let rename = async |artist: &SignedIn| {
        let mut event = strict.event();
        event["headers"]["authorization"] = json!(format!("Bearer {}", artist.token));
        event["body"] = json!({"username": name, "bio": "Stays"}).to_string().into();
        strict.invoke(&event).await["statusCode"].as_u64()
    };
    assert_eq!((rename(&ada).await, rename(&eve).await), (Some(200), Some(400)));
}
