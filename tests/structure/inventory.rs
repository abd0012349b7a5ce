//! The lists of third-party packages, which are kept with each commit: what a bill of materials is made of.

use std::fs;

use serde_json::Value;

use crate::checkout::tracked;

#[test]
fn every_package_is_listed_with_its_hash_and_comes_from_its_registry() {
    let (mut lists, mut packages) = (0, 0);
    for path in tracked() {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let read = || fs::read_to_string(&path).expect("a text");
        let list = match name {
            "Cargo.lock" => of_cargo(&read()),
            "package-lock.json" => of_npm(&read()),
            _ if name.ends_with("requirements.txt") => of_pip(&read()),
            _ => continue,
        };
        let unknown: Vec<_> = list.iter().filter(|(_, is_known)| !is_known).collect();
        assert!(unknown.is_empty(), "{}: no hash, or from elsewhere: {unknown:?}", path.display());
        (lists, packages) = (lists + 1, packages + list.len());
    }
    assert!(lists > 10 && packages > 1_000, "{packages} packages in {lists} lists");
}

/// Packages of other people, each with whether it has a hash and is from the registry.
fn of_cargo(lock: &str) -> Vec<(String, bool)> {
    const REGISTRY: &str = "\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\n";
    let packages = lock.split("\n[[package]]\n").skip(1).filter(|package| package.contains("\nsource = "));
    packages.map(|text| (first_line(text), text.contains(REGISTRY) && text.contains("\nchecksum = \""))).collect()
}

/// The same; npm names no registry where it is its own.
fn of_npm(lock: &str) -> Vec<(String, bool)> {
    let lock: Value = serde_json::from_str(lock).expect("JSON");
    let packages = lock["packages"].as_object().expect("packages").iter().filter(|(name, _)| !name.is_empty());
    let is_known = |package: &Value| {
        let hash = package["integrity"].as_str().unwrap_or_default();
        let address = package["resolved"].as_str().unwrap_or("https://registry.npmjs.org/");
        hash.starts_with("sha512-") && address.starts_with("https://registry.npmjs.org/")
    };
    packages.map(|(name, package)| (name.clone(), is_known(package))).collect()
}

/// The same; a line that names another index is no package with a hash.
fn of_pip(list: &str) -> Vec<(String, bool)> {
    let list = list.replace("\\\n", " ");
    let lines = list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| (first_line(line), line.contains("==") && line.contains("--hash=sha256:"))).collect()
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
