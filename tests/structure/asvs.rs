//! Each requirement of OWASP ASVS is shown by a test or text that exists, or has a reason.

use std::collections::BTreeSet;

use serde_norway::Value;

use crate::shown::{exists, places, rows};

#[test]
fn every_requirement_is_shown_or_has_a_reason() {
    let rows = rows("asvs.yaml");
    let mut ids = BTreeSet::new();
    for row in &rows {
        let id = row["id"].as_str().expect("an id");
        assert!(ids.insert(id), "{id} is there twice");
        let shown = places(row, "shown");
        let has_reason = row.get("why").and_then(Value::as_str).is_some_and(|why| !why.is_empty());
        match row["state"].as_str() {
            Some("met") => assert!(!shown.is_empty() && !has_reason, "{id}: nothing shows it"),
            Some("refused" | "inapplicable") => assert!(has_reason, "{id}: no reason"),
            state => panic!("{id}: {state:?}"),
        }
        for place in shown {
            assert!(exists(place), "{id}: there is no {place}");
        }
    }
    for chapter in 1..=17 {
        assert!(ids.contains(format!("V{chapter}").as_str()), "nothing is said of chapter {chapter}");
    }
}
