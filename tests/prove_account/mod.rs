//! `make prove-account`: what it would do, and that it deletes its own stage and nothing else.

use local::{cloud, paths::Paths};
use serde_json::{Value, json};
use tests::python;

/// Runs a script, and returns whether it succeeded, and what it printed.
async fn run(cloud: &str, arguments: &[&str]) -> (bool, String) {
    let output = python(cloud, arguments).await.expect("python runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.success(), text)
}

#[tokio::test]
async fn what_it_would_do_is_told_without_a_call() {
    let (succeeds, told) = run("http://127.0.0.1:9", &["local/sam/prove-account", "--dry-run"]).await;
    assert!(
        succeeds && told.starts_with("local/sam/doctor proof --before-deployment\nlocal/sam/deploy proof\n"),
        "{told}"
    );
}

#[tokio::test]
async fn its_stage_is_deleted_with_what_others_keep_and_no_other_stage_is() {
    let paths = Paths::of_checkout();
    let (cloud, _process) = cloud::start(&paths, &paths.local("proof")).await.expect("a cloud");
    let (is_deployed, told) = run(&cloud, &["tests/prove_account/deploy.py"]).await;
    assert!(is_deployed, "{told}");
    let (succeeds, told) = run(&cloud, &["local/sam/prove-account"]).await;
    assert!(!succeeds && told.contains("an interrupted run left something"), "{told}");

    let (succeeds, told) = run(&cloud, &["local/sam/prove-account", "--delete"]).await;
    assert!(succeeds, "{told}");
    let (_, told) = run(&cloud, &["tests/prove_account/deploy.py", "--show"]).await;
    let left: Value = serde_json::from_str(&told).expect("JSON");
    let expected = json!({
        "stacks": ["moments-staging-data"], "tables": ["moments-staging-artists"], "buckets": ["moments-staging-media"],
        "keys": ["Enabled", "PendingDeletion"],
    });
    assert_eq!(left, expected);
}
