//! Files of the checkout.

use std::{collections::BTreeMap, fs, path::PathBuf, process::Command};

use local::paths::Paths;
use template::Template;

/// A file's text; `path` is relative to the checkout.
pub fn read(path: &str) -> String {
    let path = Paths::of_checkout().root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files of the repository, those that aren't committed yet included.
pub fn tracked() -> Vec<PathBuf> {
    let paths = Paths::of_checkout();
    // Git doesn't know a folder of the checkout that cargo was told to build in.
    let (root, built) = (paths.root(), paths.built());
    let mut command = Command::new("git");
    command.args(["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate"]).current_dir(root);
    let output = command.output().expect("git runs");
    let names = String::from_utf8(output.stdout).expect("names in UTF-8");
    names.lines().map(|name| root.join(name)).filter(|path| !path.starts_with(&built) && path.is_file()).collect()
}

/// What is deployed, of both stacks.
pub fn template() -> Template {
    Paths::of_checkout().template().expect("a template")
}

/// The tables' logical ids by what functions' roles name them with.
pub fn tables() -> BTreeMap<String, String> {
    [
        ("ChainTable.Arn", "ChainTable"),
        ("ArtistTableArn", "ArtistTable"),
        ("SecretTableArn", "SecretTable"),
        ("DocumentTableArn", "DocumentTable"),
    ]
    .map(|(reference, table)| (reference.to_owned(), table.to_owned()))
    .into()
}
