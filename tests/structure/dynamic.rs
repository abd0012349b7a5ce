//! The library that development links once: `local/third-party`.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    process::Command,
};

use local::paths::Paths;

/// The file has one name, whichever features it was built with: a library that tests build with more of them would not fit
/// the functions that they start.
#[test]
fn builds_of_functions_and_of_tests_share_one_library() {
    let library: BTreeSet<String> = features(&["--package", "third-party", "--edges", "normal"]).into_keys().collect();
    let chosen = |edges: &str| {
        let mut features = features(&["--workspace", "--edges", edges]);
        features.retain(|package, _| library.contains(package));
        features
    };
    assert!(library.len() > 100, "{library:?}");
    assert_eq!(chosen("normal"), chosen("normal,dev"), "add what tests add to local/third-party/Cargo.toml");
}

/// What `shared` is built on is in the library, or else in each executable.
#[test]
fn the_library_has_every_dependency_of_shared() {
    let direct = |package: &str| -> BTreeSet<String> {
        let arguments = ["--package", package, "--edges", "normal,no-proc-macro", "--depth", "1"];
        features(&arguments)
            .into_keys()
            .filter(|name| !name.contains("shared") && !name.contains("third-party"))
            .collect()
    };
    let missing: Vec<_> = direct("shared").difference(&direct("third-party")).cloned().collect();
    assert!(missing.is_empty(), "local/third-party/Cargo.toml lacks {missing:?}");
}

/// Features of packages (name and version), as a build with these arguments of `cargo tree` chooses them.
fn features(arguments: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.arg("tree").args(arguments).args(["--prefix", "none", "--format", "{p}|{f}"]);
    let output = command.current_dir(Paths::of_checkout().root()).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut features = BTreeMap::<String, BTreeSet<String>>::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Some((package, chosen)) = line.split_once('|') else { continue };
        let package = package.split(" (").next().unwrap_or(package).to_owned();
        let chosen = chosen.trim_end_matches(" (*)").split(',').map(str::to_owned);
        features.entry(package).or_default().extend(chosen.filter(|feature| !feature.is_empty()));
    }
    features
}
