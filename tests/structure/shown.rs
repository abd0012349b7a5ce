//! Lists of claims, each with what shows it: `file::test`, or `file::words` where words show it.

use serde_norway::Value;

use crate::checkout::read;

/// Rows of a list in this folder.
pub fn rows(list: &str) -> Vec<Value> {
    serde_norway::from_str(&read(&format!("tests/structure/{list}"))).expect("a list")
}

/// The places under a key of a row.
pub fn places<'a>(row: &'a Value, key: &str) -> Vec<&'a str> {
    let places = row.get(key).and_then(Value::as_sequence).into_iter().flatten();
    places.map(|place| place.as_str().expect("a place")).collect()
}

/// Whether a place exists: a test of that name, or words of which there are several.
pub fn exists(place: &str) -> bool {
    let (path, words) = place.split_once("::").expect("file::test");
    let text = read(path);
    let before = text.split(&format!("fn {words}(")).next().filter(|before| before.len() < text.len());
    let is_test = before.is_some_and(|before| {
        let head = before.trim_end().trim_end_matches("async").trim_end();
        head.ends_with("test]") || head.lines().next_back().is_some_and(|line| line.starts_with("#[tokio::test("))
    });
    is_test || words.contains(' ') && text.contains(words)
}
