//! `openapi.json`: read, compared and written by the endpoints' tests.

use std::{
    env,
    fs::{self, File},
    path::{Path, PathBuf},
};

use serde_json::Value;
use utoipa::openapi::OpenApi;

use crate::{
    endpoint::{Effect, complete},
    polish::polish,
};

/// The published document.
///
/// # Panics
/// When it isn't there or isn't JSON.
#[expect(clippy::expect_used, reason = "a test's own")]
pub fn document() -> Value {
    serde_json::from_str(&fs::read_to_string(path()).expect("openapi.json: run `make openapi`")).expect("JSON")
}

/// Compares the published document with an endpoint's description; with `OPENAPI=write`, writes the description into it.
///
/// # Panics
/// When they differ.
#[expect(clippy::expect_used, reason = "a test's own")]
pub fn hold(description: &OpenApi, effect: Effect, errors: &[u16]) {
    let description = serde_json::to_value(description).expect("a description is JSON");
    let own = own(&description, effect, errors);
    if is_writing() {
        // The tests of one function run in parallel.
        let lock = File::create(env::temp_dir().join("openapi.json.lock")).expect("a lock");
        lock.lock().expect("a lock");
        let mut document = document();
        for (place, value) in own {
            *place.iter().fold(&mut document, |value, name| &mut value[name]) = value;
        }
        write(&document);
    } else {
        let document = document();
        for (place, value) in own {
            let published = place.iter().fold(&document, |value, name| &value[name]);
            assert_eq!(published, &value, "openapi.json differs at {place:?}: run `make openapi`");
        }
    }
}

/// A description's parts of the document: paths of names, and their values.
fn own(description: &Value, effect: Effect, errors: &[u16]) -> Vec<(Vec<String>, Value)> {
    let entries = |value: &Value| value.as_object().cloned().into_iter().flatten();
    let place = |names: [&str; 3]| names.map(ToOwned::to_owned).to_vec();
    let mut description = description.clone();
    polish(&mut description);
    let mut own: Vec<_> = entries(&description["components"]["schemas"])
        .map(|(name, schema)| (place(["components", "schemas", &name]), schema))
        .collect();
    for (path, operations) in entries(&description["paths"]) {
        for (method, mut operation) in entries(&operations) {
            complete(&method, &mut operation, effect, errors);
            own.push((place(["paths", &path, &method]), operation));
        }
    }
    own
}

fn is_writing() -> bool {
    env::var("OPENAPI").as_deref() == Ok("write")
}

#[expect(clippy::expect_used, reason = "a test's own")]
fn write(document: &Value) {
    let text = serde_json::to_string_pretty(document).expect("JSON");
    fs::write(path(), text + "\n").expect("openapi.json can be written");
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../openapi.json")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::frame;

    #[test]
    fn the_frame_is_as_published() {
        if is_writing() {
            return write(&frame());
        }
        let (mut published, frame) = (document(), frame());
        published["paths"] = json!({});
        for (name, schema) in frame["components"]["schemas"].as_object().unwrap() {
            assert_eq!(&published["components"]["schemas"][name], schema);
        }
        published["components"]["schemas"] = frame["components"]["schemas"].clone();
        assert_eq!(published, frame, "openapi.json: run `make openapi`");
    }
}
