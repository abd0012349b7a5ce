//! The event files, one per function, for `sam local invoke -e` and the local runtime.

use std::{collections::BTreeSet, fs};

use local::{functions::Invocation, paths::Paths};
use serde_json::Value;
use template::Template;
use tests::{Sandbox, Stack};

#[tokio::test]
async fn every_function_accepts_its_event_file() {
    let stack = Stack::connect();
    let root = Paths::of_checkout().root().to_owned();
    let template: Template = fs::read_to_string(root.join("template.yaml")).expect("a template").parse().expect("YAML");
    let functions = template.functions().expect("functions");
    let files: BTreeSet<String> = fs::read_dir(root.join("events"))
        .expect("event files")
        .map(|file| file.expect("a file").path().file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    assert_eq!(files, functions.iter().map(|function| function.binary.clone()).collect());

    for function in functions {
        let file = root.join(format!("events/{}.json", function.binary));
        let event: Value = serde_json::from_str(&fs::read_to_string(file).expect("an event")).expect("JSON");
        // The stack's own runs take up the concurrency of scheduled functions.
        if function.is_scheduled {
            Sandbox::with_empty_tables(&stack, &function.binary).await.invoke(&event).await;
            continue;
        }
        let answer =
            Invocation::of(&stack.map.lambda, &function.binary).send(&event).await.expect("the function returns");
        // What no request invokes answers nothing, or an error with a message.
        let is_fine = answer["statusCode"].as_u64().map_or(answer["errorMessage"].is_null(), |status| status < 500);
        assert!(is_fine, "{} answered {answer}", function.binary);
    }
}
