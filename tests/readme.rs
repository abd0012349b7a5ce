//! The README's first moment, request by request: the key and the contract's address go where its words say.

use std::{path::Path, process::Stdio};

use local::{artists::SignedIn, paths::Paths, patience::PATIENCE};
use serde_json::Value;
use tests::{Stack, eventually};
use tokio::{io::AsyncWriteExt, process::Command};

#[tokio::test]
async fn first_moment_is_published_collected_and_read() {
    let stack = Stack::connect();
    let root = Paths::of_checkout().root().to_owned();
    let readme = std::fs::read_to_string(root.join("README.md")).expect("a README");
    let block = readme.split("## A first moment").nth(1).and_then(|rest| rest.split("```sh\n").nth(1));
    let block = block.and_then(|rest| rest.split("```").next()).expect("a block of shell below its heading");

    let new = stack.new_artist().await;
    let artist = SignedIn { email: new.email, account: new.wallet, token: new.token };
    let artist = artist.equip(&stack.map, "somebody").await.expect("money and a key");
    assert!(block.contains("http://127.0.0.1:3000/api") && block.contains("moments_…"), "{block}");
    let block = block.replace("http://127.0.0.1:3000/api", &stack.map.api).replace("moments_…", &artist.key);
    let (settings, requests) = block.split_once("# ").expect("settings, then requests");
    let requests: Vec<_> = requests.split("\n# ").map(|request| format!("{settings}# {request}\n")).collect();
    let [publish, collect, read, picture] = requests.as_slice() else { panic!("{} requests: {block}", requests.len()) };

    // Asked again without a key of its own, it would be another moment.
    let credential = r#"-H "x-api-key: $KEY""#;
    assert!(publish.contains(credential), "{publish}");
    let published = write(&root, &publish.replace(credential, &format!("{credential} -H idempotency-key:first"))).await;
    let (collection, token) = (text(&published["contractAddress"]), text(&published["tokenId"]));
    let fill = |request: &str| {
        assert!(request.contains("0x…"), "{request} has no place for the contract's address");
        let request = request.replace("0x…", &collection);
        request
            .replace(r#""tokenId": "1""#, &format!(r#""tokenId": "{token}""#))
            .replace("tokenId=1", &format!("tokenId={token}"))
    };
    let collected = write(&root, &fill(collect)).await;
    assert!(collected["hash"].is_string(), "{collected}");
    let page = format!("/comments?collectionAddress={collection}&tokenId={token}");
    let said = stack.wait_for_comment(&page, |comment| comment["comment"].is_string()).await;
    let comments = run(&root, &fill(read)).await;
    assert_eq!(comments["comments"][0]["comment"], said["comment"]);
    let moments = Paths::of_checkout().binary("moments");
    let picture = picture.replace("cargo run -qp moments-cli --", &format!("'{}'", moments.display()));
    let printed = printed(&root, &picture).await;
    let page = printed.split_whitespace().find(|word| word.starts_with("http")).expect("a page's address");
    // Its name is there once the index has read its document.
    eventually("its name is on its page", async || {
        let page = stack.http.get(page).send().await.expect("an answer").text().await.expect("text");
        page.contains("<title>Home").then_some(())
    })
    .await;
    assert!(collect.contains(&format!(r#""comment": "{}""#, text(&said["comment"]))), "{said}");
}

/// [`run`] for a write with an idempotency key, until its outcome is known: one that isn't mined within 20 seconds is
/// answered with 202.
async fn write(root: &Path, lines: &str) -> Value {
    eventually("the write's outcome", async || {
        let answer = run(root, lines).await;
        answer["transactionId"].is_null().then_some(answer)
    })
    .await
}

/// Runs lines as they are pasted into a shell, and returns the answer that they print.
async fn run(root: &Path, lines: &str) -> Value {
    let answer = printed(root, lines).await;
    serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {lines}\n{answer}"))
}

/// Runs lines as they are pasted into a shell, with history expansion, and returns what they print.
async fn printed(root: &Path, lines: &str) -> String {
    let mut bash = Command::new("bash");
    bash.args(["-euo", "pipefail", "-o", "history", "-o", "histexpand"]).current_dir(root).kill_on_drop(true);
    bash.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut bash = bash.spawn().expect("bash runs");
    let mut input = bash.stdin.take().expect("its input");
    input.write_all(lines.as_bytes()).await.expect("bash reads");
    drop(input);
    let output = tokio::time::timeout(PATIENCE, bash.wait_with_output()).await;
    let output = output.expect("an end in time").expect("bash ends");
    let (answer, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{lines}\n{answer}\n{errors}");
    answer.into_owned()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}
