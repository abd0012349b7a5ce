//! What documents name is there: links lead to files and headings, paths to files, commands to targets.

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use local::paths::Paths;
use serde_json::Value;

/// Folders whose paths are checked where documents name them.
const FOLDERS: [&str; 10] =
    ["benches/", "clients/", "contracts/", "docs/", "events/", "functions/", "local/", "openapi/", "shared/", "tests/"];

/// The header of the table of test targets in CONTRIBUTING.md.
const TARGET_HEADER: &str = "| target | tests |";

#[test]
fn every_relative_link_leads_to_a_file_and_its_heading() {
    for (name, text) in documents() {
        for target in links(&text) {
            let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let file = if path.is_empty() { name.clone() } else { name.parent().expect("a folder").join(path) };
            assert!(file.exists(), "{} links to {target}, which isn't there", name.display());
            if !anchor.is_empty() {
                let text = read(&file);
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
fn every_test_and_binary_of_a_command_is_a_target() {
    let (targets, makefile) = (targets(), Paths::of_checkout().root().join("Makefile"));
    let (mut tests, mut binaries) = (0, 0);
    for (name, text) in documents().into_iter().chain([(makefile.clone(), read(&makefile))]) {
        for (kind, target) in commanded(&text) {
            let is_there = targets.contains(&(kind.to_owned(), target.to_owned()));
            assert!(is_there, "{} names --{kind} {target}, which isn't a target", name.display());
            *(if kind == "test" { &mut tests } else { &mut binaries }) += 1;
        }
    }
    assert!(tests > 10 && binaries > 1, "commands aren't found: {tests} with --test, {binaries} with --bin");
}

#[test]
fn contributing_lists_every_test_target() {
    let text = read(&Paths::of_checkout().root().join("CONTRIBUTING.md"));
    let table = text.split(TARGET_HEADER).nth(1).expect("the table of test targets");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let listed: BTreeSet<_> = rows.filter_map(|row| row.split('`').nth(1)).map(str::to_owned).collect();
    let tests: BTreeSet<_> = targets().into_iter().filter(|(kind, _)| kind == "test").map(|(_, name)| name).collect();
    assert_eq!(listed, tests, "targets that CONTRIBUTING.md lists, and those of the workspace");
}

#[test]
fn links_headings_paths_and_targets_are_found() {
    let text = "# A `b`: c (d)\n\nSee [x](y.md#z), ![p](p.png) and `shared/src/lib.rs`, `functions/<a>/`.\n```sh\n# [n](m)\n```\n";
    assert_eq!(links(text), ["y.md#z", "p.png"]);
    assert_eq!(headings(text).map(slug).collect::<Vec<_>>(), ["a-b-c-d"]);
    assert_eq!(paths(text), ["shared/src/lib.rs"]);
    let text =
        "`cargo test --workspace --test all`, --test TARGET, node --test a/b.mjs\n```sh\n--bin $$it --bin a-b\n```";
    assert_eq!(commanded(text), [("test", "all"), ("bin", "a-b")]);
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
    paths.into_iter().map(|path| (path.clone(), read(&path))).collect()
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

/// The targets that commands name, with the option's name; `TARGET` and `$it` are placeholders.
fn commanded(text: &str) -> Vec<(&str, &str)> {
    let words: Vec<&str> = text.split(|character: char| character.is_whitespace() || character == '`').collect();
    let named = words.windows(2).filter_map(|pair| Some((pair[0].strip_prefix("--")?, pair[1])));
    let is_name = |name: &str| {
        let is_plain = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
        name.starts_with(|first: char| first.is_ascii_lowercase()) && name.chars().all(is_plain)
    };
    named.filter(|(option, name)| ["test", "bin"].contains(option) && is_name(name)).collect()
}

/// Kind and name of every target in the workspace.
fn targets() -> BTreeSet<(String, String)> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--no-deps", "--format-version", "1"]).current_dir(Paths::of_checkout().root());
    let output = command.output().expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("metadata");
    let packages = metadata["packages"].as_array().expect("packages");
    let targets = packages.iter().flat_map(|package| package["targets"].as_array().expect("targets"));
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    targets.map(|target| (text(&target["kind"][0]), text(&target["name"]))).collect()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
