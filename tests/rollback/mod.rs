//! `make rollback` and `make smoke` against a stage in the local cloud, whose address is the local stack's.

use local::{cloud, paths::Paths};
use serde_json::{Value, json};
use tests::{Stack, python};

/// Runs a script, and returns whether it succeeded, and what it printed.
async fn run(cloud: &str, arguments: &[&str]) -> (bool, String) {
    let output = python(cloud, arguments).await.expect("python runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.success(), text)
}

#[tokio::test]
async fn an_earlier_version_comes_back_and_is_asked_a_few_requests() {
    let (stack, paths) = (Stack::connect(), Paths::of_checkout());
    let (cloud, _process) = cloud::start(&paths, &paths.local("rollback")).await.expect("a cloud");
    let (is_deployed, told) = run(&cloud, &["tests/rollback/deploy.py", &stack.map.api, "first", "second"]).await;
    assert!(is_deployed, "{told}");
    assert_eq!(run(&cloud, &["local/sam/rollback", "staging"]).await, (true, "second\nfirst\n".to_owned()));

    let (_, told) = run(&cloud, &["tests/rollback/deploy.py", "--bill", "first"]).await;
    let bill: Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!((&bill["bomFormat"], &bill["metadata"]["component"]["version"]), (&json!("CycloneDX"), &json!("first")));
    let crates = bill["components"].as_array().expect("components");
    let known = crates.iter().find(|each| each["name"] == "serde_json").expect("a crate of the functions");
    assert!(known["hashes"][0]["content"].as_str().is_some_and(|hash| hash.len() == 64), "{known}");

    let (is_well, told) = run(&cloud, &["local/sam/rollback", "staging", "first"]).await;
    assert!(is_well && told.contains("moments-staging: version first"), "{told}");
    let (_, told) = run(&cloud, &["tests/rollback/deploy.py", "--show"]).await;
    let parameters: Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(parameters["Version"], "first");
    assert!(parameters.get("OnlyFirst").is_some() && parameters.get("OnlySecond").is_none(), "{told}");

    let (is_well, told) = run(&cloud, &["local/sam/rollback", "staging", "third"]).await;
    assert!(!is_well && told.contains("no kept version third"), "{told}");
}

#[tokio::test]
async fn an_alarm_that_goes_off_after_a_deployment_takes_it_back() {
    let (stack, paths) = (Stack::connect(), Paths::of_checkout());
    let (cloud, _process) = cloud::start(&paths, &paths.local("watched")).await.expect("a cloud");
    let (is_deployed, told) = run(&cloud, &["tests/rollback/deploy.py", &stack.map.api, "first", "second"]).await;
    assert!(is_deployed, "{told}");
    let (_, told) = run(&cloud, &["tests/rollback/deploy.py", "--settle", "second", "first"]).await;
    let mut lines = told.lines();
    let well = [lines.next(), lines.next()];
    assert_eq!(well, [Some("moments-staging: version second"), Some("True")], "one that was on before\n{told}");
    assert!(told.contains("the alarm moments-staging-server-errors went off"), "{told}");
    assert!(told.contains("back at version first") && !told.contains("failed-writes"), "{told}");
    let (_, told) = run(&cloud, &["tests/rollback/deploy.py", "--show"]).await;
    let parameters: Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(parameters["Version"], "first");
}

#[tokio::test]
async fn a_stage_that_answers_nothing_fails_the_requests() {
    let paths = Paths::of_checkout();
    let (cloud, _process) = cloud::start(&paths, &paths.local("smoke")).await.expect("a cloud");
    let (is_deployed, told) = run(&cloud, &["tests/rollback/deploy.py", "http://127.0.0.1:9/api", "first"]).await;
    assert!(is_deployed, "{told}");
    let (is_well, told) = run(&cloud, &["local/sam/rollback", "staging", "--smoke"]).await;
    assert!(!is_well, "{told}");
    for request in ["GET /timeline", "POST /moment/create/simulate", "POST /oauth/login"] {
        assert!(told.contains(&format!("{request} answers nothing")), "{request}\n{told}");
    }
}
