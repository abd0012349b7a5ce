//! Files of the checkout.

use std::{collections::BTreeMap, fs};

use local::paths::Paths;
use template::Template;

/// A file's text; `path` is relative to the checkout.
pub fn read(path: &str) -> String {
    let path = Paths::of_checkout().root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
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
