//! The event files, one per function, for `sam local invoke -e` and the local runtime.

use std::{collections::BTreeSet, fs};

use local::{paths::Paths, test_events::TestEvents};
use serde_json::Value;
use tests::{Sandbox, Stack};

/// Events that are refused, with the status and why.
const REFUSED: [(&str, u64, &str); 2] = [
    ("refuse-unknown-route", 404, "it is for addresses at which there is nothing"),
    ("unsubscribe", 404, "mails alone have what stops them"),
];

#[tokio::test]
async fn every_event_file_reaches_its_functions_code_and_succeeds() {
    let stack = Stack::connect();
    let root = Paths::of_checkout().root().to_owned();
    let template = Paths::of_checkout().template().expect("a template");
    let functions = template.functions().expect("functions");
    let files: BTreeSet<String> = fs::read_dir(root.join("events"))
        .expect("event files")
        .map(|file| file.expect("a file").path().file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    assert_eq!(files, functions.iter().map(|function| function.binary.clone()).collect());

    let paths = Paths::of_checkout();
    let events = TestEvents::prepare(&paths, &stack.map).await.expect("an artist");
    let mut wrong = Vec::new();
    for function in functions {
        let file = root.join(format!("events/{}.json", function.binary));
        let event: Value = serde_json::from_str(&fs::read_to_string(file).expect("an event")).expect("JSON");
        // The stack's own runs take up the concurrency of scheduled functions.
        if function.is_scheduled {
            Sandbox::with_empty_tables(&stack, &function.binary).await.invoke(&event).await;
            continue;
        }
        let answer = match events.send_to(&function.binary).await {
            Ok(answer) => answer,
            Err(error) => {
                wrong.push(format!("{}: {error}", function.binary));
                continue;
            }
        };
        let Some(status) = answer["statusCode"].as_u64() else {
            // What no request invokes answers nothing.
            assert!(answer["errorMessage"].is_null(), "{} answered {answer}", function.binary);
            continue;
        };
        let refused = REFUSED.iter().find(|(binary, ..)| *binary == function.binary);
        let is_fine = refused.map_or((200..300).contains(&status), |(_, expected, _)| status == *expected);
        if !is_fine {
            wrong.push(format!("{} answered {status}: {}", function.binary, answer["body"]));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
