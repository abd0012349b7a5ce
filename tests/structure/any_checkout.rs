//! Everything runs in any checkout: where cargo builds in another folder, and where its path has a space.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use local::paths::Paths;

use crate::checkout::tracked;

/// Files that name what cargo is asked for elsewhere, with the reason.
const NAMING: [(&str, &str); 2] = [
    (".ci/unused-dependencies", "a package in its test was built"),
    (".ci/green", "keeps a clone's build apart from the checkout's"),
];

/// Profiles, and so folders in the one that cargo builds in.
const PROFILES: [&str; 3] = ["debug", "measure", "release"];

#[test]
fn nothing_takes_the_folder_that_cargo_builds_in_for_granted() {
    let named = lines(|_, line| names_folder(line));
    let is_excused = |file: &Path| NAMING.iter().any(|(known, _)| file == Path::new(known));
    let wrong: Vec<_> = named.iter().filter(|(file, _)| !is_excused(file)).collect();
    assert!(wrong.is_empty(), "ask local/target-dir, or Paths: {wrong:#?}");
    for (known, _) in NAMING {
        assert!(named.iter().any(|(file, _)| file == Path::new(known)), "{known} doesn't name it: don't excuse it");
    }
}

#[test]
fn no_module_takes_a_part_of_an_address_for_a_path() {
    let is_module = |file: &Path| file.extension().is_some_and(|extension| extension == "mjs");
    let wrong = lines(|file, line| is_module(file) && line.contains("import.meta.url).pathname"));
    assert!(wrong.is_empty(), "fileURLToPath gives its path, which may have a space: {wrong:#?}");
}

#[test]
fn script_names_the_folder_that_cargo_was_told_to_build_in() {
    let root = Paths::of_checkout().root().to_owned();
    for (variable, told) in [("CARGO_TARGET_DIR", "some folder"), ("CARGO_BUILD_TARGET_DIR", "/some/other folder")] {
        let mut script = Command::new(root.join("local/target-dir"));
        script.env_remove("CARGO_TARGET_DIR").env(variable, told).current_dir(env::temp_dir());
        let output = script.output().expect("the script runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let named = String::from_utf8(output.stdout).expect("UTF-8");
        assert_eq!(Path::new(named.trim_end_matches('\n')), root.join(told), "{variable}");
    }
}

#[test]
fn named_folders_are_found_in_lines() {
    let [set, named] = [["CARGO", "TARGET_DIR"].join("_"), ["target", "debug"].join("/")];
    for line in [format!("${{{set}:-target}}"), format!("exec {named}/local"), format!("ROOT / \"{named}\"")] {
        assert!(names_folder(&line), "{line}");
    }
    for line in [format!("// {named}/local test"), format!("  # {set}"), "--target-dir here".to_owned()] {
        assert!(!names_folder(&line), "{line}");
    }
}

/// Whether a line other than a comment says where cargo builds.
fn names_folder(line: &str) -> bool {
    let is_comment = ["//", "#", "*"].iter().any(|mark| line.trim_start().starts_with(mark));
    let names_profile = || line.split("target/").skip(1).any(|rest| PROFILES.iter().any(|name| rest.starts_with(name)));
    !is_comment && (line.contains(&["CARGO", "TARGET_DIR"].join("_")) || names_profile())
}

/// The lines that are so of the repository's texts, its documents left out, each with its file's path in the checkout.
fn lines(is_wanted: impl Fn(&Path, &str) -> bool) -> Vec<(PathBuf, String)> {
    let (root, this) = (Paths::of_checkout().root().to_owned(), Path::new("tests/structure/any_checkout.rs"));
    let (mut found, mut seen) = (Vec::new(), 0);
    for path in tracked() {
        let file = path.strip_prefix(&root).expect("below it");
        if file == this || file.extension().is_some_and(|extension| extension == "md") {
            continue;
        }
        // Pictures are no texts.
        for line in fs::read_to_string(&path).unwrap_or_default().lines() {
            seen += 1;
            if is_wanted(file, line) {
                found.push((file.to_owned(), line.to_owned()));
            }
        }
    }
    assert!(seen > 50_000, "only {seen} lines were found");
    found
}
