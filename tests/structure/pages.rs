//! What has a page for people carries its address wherever an answer shows it.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::checkout::read;

/// Fields that only an answer about such a thing has together.
const SHOWN: [(&str, &[&str]); 3] = [
    ("moment", &["token_id", "creator", "created_at"]),
    ("collection", &["address", "creator", "created_at"]),
    ("artist", &["address", "username", "bio"]),
];

/// Schemas that show one besides, in fewer fields.
const IN_FEWER_FIELDS: [&str; 1] = ["ListedArtist"];

#[test]
fn answers_that_show_a_moment_collection_or_artist_have_its_page() {
    let document = read("openapi.json");
    let document: Value = serde_json::from_str(&document).expect("JSON");
    let schemas = document["components"]["schemas"].as_object().expect("schemas");
    let mut found = BTreeSet::new();
    for (name, schema) in schemas {
        let has = |field: &str| !schema["properties"][field].is_null();
        let shown = SHOWN.iter().find(|(_, fields)| fields.iter().all(|field| has(field)));
        let is_listed = IN_FEWER_FIELDS.contains(&name.as_str());
        if shown.is_none() && !is_listed {
            continue;
        }
        let page = &schema["properties"]["page"];
        assert!(page["type"] == "string" && page["format"] == "uri", "{name} has no page");
        let required = schema["required"].as_array().into_iter().flatten();
        assert!(required.into_iter().any(|field| field == "page"), "{name} can lack its page");
        found.extend(shown.map(|(what, _)| *what).or(is_listed.then_some(name.as_str())));
    }
    let expected = SHOWN.iter().map(|(what, _)| *what).chain(IN_FEWER_FIELDS).collect();
    assert_eq!(found, expected, "what the contract shows of things with pages");
}
