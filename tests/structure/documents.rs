//! What documents name is there: links lead to files and headings, paths to files, commands to targets, identifiers to
//! sources. Documents are short and narrow.

use std::{
    collections::{BTreeSet, HashSet},
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use local::paths::Paths;
use serde_json::Value;

use crate::checkout::tracked;

/// Folders whose paths are checked where documents name them.
const FOLDERS: [&str; 10] =
    ["benches/", "clients/", "contracts/", "docs/", "events/", "functions/", "local/", "openapi/", "shared/", "tests/"];

/// Most words of all documents together, and most columns of a line.
const WORDS: usize = 30_000;
const COLUMNS: usize = 120;

/// Tables that are compared with the code, row by row: a row of Markdown can't be broken.
const GENERATED_TABLES: [&str; 2] = ["docs/data-model.md", "docs/configuration.md"];

/// Results of measurements, which programs write.
const RESULTS: &str = "benches/results/";

/// What changed: names what was there before, too.
const HISTORY: &str = "CHANGELOG.md";

/// Words in backticks that no source has, with the reason.
const FOREIGN: [(&str, &str); 5] = [
    ("EnabledModule", "an event of Safe"),
    ("AddedOwner", "an event of Safe"),
    ("ChangedGuard", "an event of Safe"),
    ("AT_TIMESTAMP", "a mode of Lambda that the emulated one lacks"),
    ("deprecated", "a word of OpenAPI, for the day when something is"),
];

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
fn every_identifier_in_backticks_is_in_the_sources() {
    let this = Path::new(file!()).file_name().expect("this file's name");
    let mut known: HashSet<String> = FOREIGN.iter().map(|(name, _)| (*name).to_owned()).collect();
    for path in tracked() {
        let is_source = path.extension().is_none_or(|extension| extension != "md") && path.file_name() != Some(this);
        // Binary files have no words to look up.
        if let Some(text) = is_source.then(|| fs::read_to_string(&path).ok()).flatten() {
            known.extend(words(&text).map(str::to_owned));
            known.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    let history = Paths::of_checkout().root().join(HISTORY);
    let documents = documents().into_iter().filter(|(name, _)| *name != history);
    let unknown: Vec<_> = documents
        .flat_map(|(name, text)| {
            let names = identifiers(&text).filter(|identifier| !known.contains(*identifier));
            names.map(|identifier| format!("{}: {identifier}", name.display())).collect::<Vec<_>>()
        })
        .collect();
    assert!(unknown.is_empty(), "documents name what no source has:\n{}", unknown.join("\n"));
}

#[test]
fn no_line_is_wider_than_the_code() {
    let root = Paths::of_checkout().root().to_owned();
    let mut wide = Vec::new();
    for (name, text) in documents() {
        let has_generated_tables = GENERATED_TABLES.iter().any(|path| name == root.join(path));
        for (index, line) in text.lines().enumerate() {
            let may_be_wide = has_generated_tables && line.starts_with('|');
            if line.chars().count() > COLUMNS && !may_be_wide {
                wide.push(format!("{}:{}", name.display(), index + 1));
            }
        }
    }
    assert!(wide.is_empty(), "lines of more than {COLUMNS} columns:\n{}", wide.join("\n"));
}

#[test]
fn documents_stay_short() {
    let has_a_word = |text: &&str| text.chars().any(char::is_alphanumeric);
    let results = Paths::of_checkout().root().join(RESULTS);
    let written = documents().into_iter().filter(|(name, _)| !name.starts_with(&results));
    let lengths: Vec<_> =
        written.map(|(name, text)| (text.split_whitespace().filter(has_a_word).count(), name)).collect();
    let total: usize = lengths.iter().map(|(length, _)| length).sum();
    assert!(total > WORDS / 2, "the documents aren't found: {total} words");
    let longest = lengths.iter().max().expect("a document");
    assert!(total <= WORDS, "{total} words, {WORDS} are the most; the longest is {longest:?}");
}

#[test]
fn links_headings_paths_and_targets_are_found() {
    let text = "# A `b`: c (d)\n\nSee [x](y.md#z), ![p](p.png) and `shared/src/lib.rs`, `functions/<a>/`.\n```sh\n# [n](m)\n```\n";
    assert_eq!(links(text), ["y.md#z", "p.png"]);
    assert_eq!(headings(text).map(slug).collect::<Vec<_>>(), ["a-b-c-d"]);
    assert_eq!(paths(text), ["shared/src/lib.rs"]);
    let names: Vec<_> = identifiers("`Fees::bump`, `text_schema!`, `GET /x`, `a.b`").collect();
    assert_eq!(names, ["Fees", "bump", "text_schema"]);
    let text =
        "`cargo test --workspace --test all`, --test TARGET, node --test a/b.mjs\n```sh\n--bin $$it --bin a-b\n```";
    assert_eq!(commanded(text), [("test", "all"), ("bin", "a-b")]);
}

/// The documents, with their paths.
fn documents() -> Vec<(PathBuf, String)> {
    let paths = tracked().into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let documents: Vec<_> = paths.map(|path| (path.clone(), read(&path))).collect();
    assert!(documents.len() > 20, "the documents aren't found");
    documents
}

/// The words of a text, identifiers of Rust among them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !(character.is_ascii_alphanumeric() || character == '_'))
}

/// The identifiers in backticks, each part of a path of Rust by itself.
fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let spans = prose(text).flat_map(|part| part.split('`').skip(1).step_by(2));
    let names = spans.map(|span| span.strip_suffix('!').unwrap_or(span));
    let is_name = |part: &str| {
        let is_plain = |character: char| character.is_ascii_alphanumeric() || character == '_';
        part.starts_with(|first: char| first.is_ascii_alphabetic()) && part.chars().all(is_plain)
    };
    names.filter(move |name| name.split("::").all(is_name)).flat_map(|name| name.split("::"))
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
