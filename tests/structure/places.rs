//! Every place that shows what artists made is in the table of places that honour the operator's decisions.

use std::collections::BTreeSet;

use serde_json::Value;
use tests::{ELSEWHERE, PLACES};

use crate::checkout::{read, template};

/// Fields that have words of artists.
const WORDS: [&str; 6] = ["bio", "comment", "metadata", "name", "uri", "username"];

/// Whether a schema has such a field, at any depth.
fn has_words<'a>(document: &'a Value, schema: &'a Value, seen: &mut BTreeSet<&'a str>) -> bool {
    match schema {
        Value::Object(fields) => {
            if let Some(pointer) = fields.get("$ref").and_then(Value::as_str) {
                let target = document.pointer(pointer.trim_start_matches('#')).expect("a schema");
                return seen.insert(pointer) && has_words(document, target, seen);
            }
            let names = fields.get("properties").and_then(Value::as_object);
            names.is_some_and(|names| WORDS.iter().any(|word| names.contains_key(*word)))
                || fields.iter().any(|(name, value)| name != "examples" && has_words(document, value, seen))
        }
        Value::Array(all) => all.iter().any(|each| has_words(document, each, seen)),
        _ => false,
    }
}

#[test]
fn every_endpoint_that_shows_what_artists_made_is_a_known_place() {
    let document = read("openapi.json");
    let document: Value = serde_json::from_str(&document).expect("JSON");
    let template = template();
    let reads = document["paths"].as_object().expect("paths").values().filter_map(|path| path.get("get"));
    let showing = reads.filter(|read| has_words(&document, &read["responses"]["200"]["content"], &mut BTreeSet::new()));
    let operations = showing.map(|read| read["operationId"].as_str().expect("an id").to_owned());
    let routes = template.routes().expect("routes").into_iter().map(|route| format!("{} {}", route.method, route.path));
    let expected: BTreeSet<String> =
        operations.chain(routes.filter(|route| route.starts_with("GET /pages/"))).collect();
    let known = PLACES.iter().map(|place| place.name).chain(ELSEWHERE.iter().map(|(name, _)| *name));
    let known: BTreeSet<String> = known.map(ToOwned::to_owned).collect();
    assert_eq!(expected, known, "tests/support/places.rs has what shows things, and what doesn't with its reason");
}
