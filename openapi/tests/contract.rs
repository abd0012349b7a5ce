//! `openapi.json` is what the resources' contracts make.

use std::{collections::BTreeSet, env, fs, path::Path};

use serde_json::{Value, json};
use utoipa::OpenApi;

/// With `OPENAPI=write`, writes the document instead of comparing it.
#[test]
fn published_document_is_up_to_date() {
    let document = openapi::document([
        activity::Contract::openapi(),
        agents::Contract::openapi(),
        artists::Contract::openapi(),
        auth::Contract::openapi(),
        chains::Contract::openapi(),
        collections::Contract::openapi(),
        comments::Contract::openapi(),
        docs::Contract::openapi(),
        governance::Contract::openapi(),
        media::Contract::openapi(),
        moderation::Contract::openapi(),
        moments::Contract::openapi(),
        splits::Contract::openapi(),
        transactions::Contract::openapi(),
        wallets::Contract::openapi(),
        webhooks::Contract::openapi(),
    ])
    .expect("one document");
    let text = serde_json::to_string_pretty(&document).expect("JSON") + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../openapi.json");
    if env::var("OPENAPI").as_deref() == Ok("write") {
        return fs::write(path, text).expect("openapi.json can be written");
    }
    let published = fs::read_to_string(path).expect("openapi.json");
    let differences = differences("", &serde_json::from_str(&published).expect("JSON"), &document);
    let (shown, count) = (&differences[..differences.len().min(10)], differences.len());
    assert!(count == 0, "openapi.json differs in {count} places: run `make openapi`\n{}", shown.join("\n"));
    assert!(published == text, "openapi.json is laid out in another way: run `make openapi`");
}

#[test]
fn difference_is_named_by_its_place() {
    let published = json!({"paths": {"/chains": {"get": {"tags": ["Service"]}}}, "servers": [{}]});
    let changed = json!({"paths": {"/chains": {"get": {"tags": ["Chains"]}}}, "servers": [{}, {}]});
    assert_eq!(differences("", &published, &published), [""; 0]);
    assert_eq!(
        differences("", &published, &changed),
        [
            "/paths/~1chains/get/tags/0: published \"Service\", described \"Chains\"",
            "/servers: published [{}], described [{},{}]",
        ]
    );
}

/// The innermost places that differ, as JSON pointers, with both values.
fn differences(place: &str, published: &Value, described: &Value) -> Vec<String> {
    let below = |name: &str| format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"));
    match (published, described) {
        _ if published == described => Vec::new(),
        (Value::Object(left), Value::Object(right)) => {
            let names: BTreeSet<_> = left.keys().chain(right.keys()).collect();
            names.into_iter().flat_map(|name| differences(&below(name), &published[name], &described[name])).collect()
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            let pairs = left.iter().zip(right).enumerate();
            pairs.flat_map(|(index, (left, right))| differences(&below(&index.to_string()), left, right)).collect()
        }
        _ => vec![format!("{place}: published {}, described {}", short(published), short(described))],
    }
}

fn short(value: &Value) -> String {
    const MOST: usize = 200;
    let text = value.to_string();
    if text.chars().count() <= MOST { text } else { text.chars().take(MOST).collect::<String>() + "…" }
}
