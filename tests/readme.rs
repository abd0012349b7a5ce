//! The README's walk, run line by line.

use std::{env, path::PathBuf, process::Stdio, time::Duration};

use local::paths::Paths;
use tests::{Answer, Stack, unused_email};
use tokio::{io::AsyncWriteExt, process::Command};

#[tokio::test]
async fn the_walk_can_be_walked() {
    let stack = Stack::connect();
    let root = Paths::of_checkout().root().to_owned();
    let readme = std::fs::read_to_string(root.join("README.md")).expect("a README");
    let walk = readme.split("## A walk").nth(1).and_then(|rest| rest.split("```sh\n").nth(1)).expect("a walk");
    let walk = walk.split("```").next().expect("its end");
    let map = env::var_os("MOMENTS_STACK").map_or_else(|| Paths::of_checkout().local("stack.json"), PathBuf::from);
    let walk = walk
        .replace("http://127.0.0.1:3000/api", &stack.map.api)
        .replace(".local/stack.json", &map.to_string_lossy())
        .replace("you@example.com", &unused_email());
    let script = format!("{walk}\necho; echo $COLLECTION $TOKEN_ID");
    // With history expansion, as in a shell that the lines are pasted into.
    let mut bash = Command::new("bash");
    bash.args(["-euo", "pipefail", "-o", "history", "-o", "histexpand"]).current_dir(root).kill_on_drop(true);
    bash.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut bash = bash.spawn().expect("bash runs");
    let mut lines = bash.stdin.take().expect("its input");
    lines.write_all(script.as_bytes()).await.expect("bash reads");
    drop(lines);
    let output = bash.wait_with_output().await.expect("bash ends");
    let (answer, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{answer}\n{errors}");
    let moment = answer.lines().last().and_then(|line| line.split_once(' '));
    let (collection, token) = moment.expect("a collection and a token");
    for _ in 0..100 {
        let url = format!("/comments?collectionAddress={collection}&tokenId={token}");
        let comments = Answer::of(stack.get(&url)).await.expect_success();
        if comments.body["comments"][0]["comment"] == "High water" {
            return;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    panic!("the comment isn't there after 20 s: {answer}");
}
