//! `GET /artists/search`

use std::iter::repeat_n;

use alloy::primitives::U256;
use local::database::LocalDatabase;
use serde_json::{Value, json};
use shared::{
    model::Address,
    store::artist::{ArtistTable, ListedArtist, Search},
};
use tests::{Answer, Call, Recorder, Sandbox, Stack, empty_tables};
use uuid::Uuid;

#[tokio::test]
async fn artists_are_found_by_name_prefix_in_any_case() {
    let stack = Stack::connect();
    let mark = Uuid::new_v4().simple().to_string();
    let name = format!("Ada.{}", &mark[..20]);
    let artist = stack.new_artist().await;
    let host = stack.map.api.trim_end_matches("/api");
    let listed = |name: &str| json!([{"address": artist.wallet, "username": name, "page": format!("{host}/@{name}")}]);
    rename(&stack, &artist.token, &name).await;
    for query in [name.clone(), name.to_uppercase(), name.to_lowercase(), name[..12].to_owned(), format!("%20{name}+")]
    {
        let found = search(&stack, &format!("query={query}")).await;
        assert_eq!(found, listed(&name), "{query}");
    }
    for query in [format!("{name}x"), name[1..].to_owned(), mark[..20].to_owned()] {
        assert_eq!(search(&stack, &format!("query={query}")).await, json!([]), "{query}");
    }

    let other = format!("Bea.{}", &mark[..20]);
    rename(&stack, &artist.token, &other).await;
    assert_eq!(search(&stack, &format!("query={name}")).await, json!([]));
    assert_eq!(search(&stack, &format!("query={other}")).await, listed(&other));
}

#[tokio::test]
async fn every_alphabet_is_searched_and_wildcards_are_literal() {
    let stack = Stack::connect();
    let database = empty_tables(&stack).await;
    let names =
        ["a%c", "a_c", "a*c", "abc", "Ωmega", "ωstep", "Straße", "STRASSER", "Ёжик", "東京", "東北", "e\u{301}a"];
    load(&stack, &database, names.iter().map(ToString::to_string)).await;
    let sandbox = Sandbox::with_database(&stack, "search-artists", &database.endpoint).await;
    for (query, expected) in [
        ("a%25", vec!["a%c"]),
        ("a_", vec!["a_c"]),
        ("a*", vec!["a*c"]),
        ("%25", vec![]),
        ("A", vec!["a%c", "a*c", "a_c", "abc"]),
        ("ω", vec!["Ωmega", "ωstep"]),
        ("strass", vec!["Straße", "STRASSER"]),
        ("STRASSE", vec!["Straße", "STRASSER"]),
        ("ёж", vec!["Ёжик"]),
        ("東", vec!["東京", "東北"]),
        ("É", vec!["e\u{301}a"]),
        ("🌊", vec![]),
    ] {
        let answer = sandbox.get(&format!("query={query}")).await;
        let body: Value = serde_json::from_str(answer["body"].as_str().expect("a body")).expect("JSON");
        let found: Vec<_> = body["artists"].as_array().expect("artists").iter().map(|one| &one["username"]).collect();
        assert_eq!(found, expected, "{query}");
    }
}

#[tokio::test]
async fn every_invalid_parameter_is_named() {
    let stack = Stack::connect();
    let long: String = repeat_n('ж', 600).collect();
    for (query, fields) in [
        ("", vec!["query"]),
        ("query=", vec!["query"]),
        ("query=%20%09", vec!["query"]),
        ("query=a&query=b", vec!["query"]),
        ("query=a&limit=0", vec!["limit"]),
        ("query=a&limit=51", vec!["limit"]),
        ("query=a&limit=1.5", vec!["limit"]),
        ("query=a&limit=%2B1", vec!["limit"]),
        ("limit=many", vec!["query", "limit"]),
    ] {
        let answer = Answer::of(stack.get(&format!("/artists/search?{query}"))).await.expect_error(400);
        assert_eq!(answer.failing_fields(), fields, "{query}");
    }
    for query in [format!("query={long}"), format!("query={}", &long[..64]), "query=a&limit=50&unknown=ignored".into()]
    {
        search(&stack, &query).await;
    }
}

#[tokio::test]
async fn search_is_one_query_for_any_number_of_artists() {
    let stack = Stack::connect();
    let (few, many) = (costs(&stack, 100).await, costs(&stack, 100_000).await);
    assert_eq!(few, many);
    for (calls, rows) in few.iter().zip([10, 50, 10]) {
        let [call] = calls.as_slice() else { panic!("{calls:?}") };
        assert_eq!((call.operation.as_str(), call.rows), ("Query", rows));
    }
}

/// The calls for the first rows, many rows and the last rows among this many artists.
async fn costs(stack: &Stack, artists: usize) -> Vec<Vec<Call>> {
    let database = empty_tables(stack).await;
    load(stack, &database, (0..artists).map(|number| format!("Artist.{number:06}"))).await;
    let recorder = Recorder::in_front_of(&database.endpoint).await.expect("a recorder");
    let sandbox = Sandbox::with_database(stack, "search-artists", &recorder.url).await;
    let last = format!("query=artist.{:05}", (artists - 1) / 10);
    let mut costs = Vec::new();
    for query in ["query=a", "query=ARTIST.&limit=50", &last] {
        assert_eq!(sandbox.get(query).await["statusCode"], 200);
        costs.push(recorder.take_calls());
    }
    costs
}

async fn load(stack: &Stack, database: &LocalDatabase, names: impl Iterator<Item = String>) {
    let search = Search::new(ArtistTable::new(&stack.endpoints().sdk_config(&database.endpoint).await, "ArtistTable"));
    let rows = names.enumerate().map(|(number, username)| {
        let address: Address = format!("0x{:040x}", U256::from(number)).parse().expect("an address");
        let mut writes = search.relist(None, Some(&ListedArtist { address, username })).expect("a row");
        writes.remove(0).put.expect("a new row").item
    });
    database.load("ArtistTable", rows).expect("the rows are loaded");
}

async fn rename(stack: &Stack, token: &str, name: &str) {
    let request = stack.http.patch(format!("{}/artists/me", stack.map.api)).bearer_auth(token);
    Answer::of(request.json(&json!({"username": name}))).await.expect_success();
}

async fn search(stack: &Stack, query: &str) -> Value {
    let answer = Answer::of(stack.get(&format!("/artists/search?{query}"))).await.expect_success();
    answer.body["artists"].clone()
}
