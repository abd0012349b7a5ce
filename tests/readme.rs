//! The README's walk, run line by line; and the links and paths of all documents, which must lead to files.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use local::paths::Paths;
use tests::{Answer, Stack, unused_email};
use tokio::{io::AsyncWriteExt, process::Command};

/// Folders whose paths are checked where documents name them.
const FOLDERS: [&str; 10] =
    ["benches/", "clients/", "contracts/", "docs/", "events/", "functions/", "local/", "openapi/", "shared/", "tests/"];

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

#[test]
fn every_relative_link_leads_to_a_file_and_its_heading() {
    for (name, text) in documents() {
        for target in links(&text) {
            let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let file = if path.is_empty() { name.clone() } else { name.parent().expect("a folder").join(path) };
            assert!(file.exists(), "{} links to {target}, which isn't there", name.display());
            if !anchor.is_empty() {
                let text = fs::read_to_string(&file).expect("a document");
                let has_heading = headings(&text).any(|heading| slug(heading) == anchor);
                assert!(has_heading, "{} links to {target}, a heading that isn't there", name.display());
            }
        }
    }
}

#[test]
fn every_path_in_backticks_exists() {
    let root = Paths::of_checkout().root().to_owned();
    for (name, text) in documents() {
        for path in paths(&text) {
            assert!(root.join(path).exists(), "{} names {path}, which isn't there", name.display());
        }
    }
}

#[test]
fn links_headings_and_paths_are_found() {
    let text = "# A `b`: c (d)\n\nSee [x](y.md#z), ![p](p.png) and `shared/src/lib.rs`, `functions/<a>/`.\n```sh\n# [n](m)\n```\n";
    assert_eq!(links(text), ["y.md#z", "p.png"]);
    assert_eq!(headings(text).map(slug).collect::<Vec<_>>(), ["a-b-c-d"]);
    assert_eq!(paths(text), ["shared/src/lib.rs"]);
}

/// The documents that contributors write, with their paths.
fn documents() -> Vec<(PathBuf, String)> {
    let root = Paths::of_checkout().root().to_owned();
    let in_folder = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
    };
    let paths = ["", "clients/typescript", "contracts", "docs", "docs/guide"]
        .map(|folder| in_folder(&root.join(folder)))
        .concat();
    assert!(paths.len() > 5, "the documents aren't found");
    paths.into_iter().map(|path| (path.clone(), fs::read_to_string(path).expect("a document"))).collect()
}

/// The parts outside fenced code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    text.split("```").step_by(2)
}

/// The targets of a document's relative links.
fn links(text: &str) -> Vec<String> {
    let targets = prose(text).flat_map(|part| part.split("](").skip(1)).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://")).map(str::to_owned).collect()
}

fn headings(text: &str) -> impl Iterator<Item = &str> {
    let headings = prose(text).flat_map(str::lines).filter(|line| line.starts_with('#'));
    headings.map(|line| line.trim_start_matches('#').trim())
}

/// A heading's anchor, as GitHub makes it.
fn slug(heading: &str) -> String {
    let kept = heading.chars().filter(|&character| character.is_alphanumeric() || " -_".contains(character));
    kept.map(|character| if character == ' ' { '-' } else { character.to_ascii_lowercase() }).collect()
}

/// What a document names in backticks that is a path of this repository, without placeholders.
fn paths(text: &str) -> Vec<&str> {
    let is_path = |name: &&str| {
        let is_plain = |character: char| character.is_ascii_alphanumeric() || "/_.-".contains(character);
        name.chars().all(is_plain) && FOLDERS.iter().any(|folder| name.starts_with(folder))
    };
    prose(text).flat_map(|part| part.split('`').skip(1).step_by(2)).filter(is_path).collect()
}
