//! Tables of documents that are written from the code and the template, as `openapi.json` is.

use std::{env, fs};

use local::paths::Paths;

const BEGIN: &str = "<!-- `make tables` writes what follows. -->\n";
const END: &str = "<!-- Until here. -->\n";

/// Compares the written part of a document, or with `TABLES=write` writes it.
pub fn compare(document: &str, tables: &str) {
    let path = Paths::of_checkout().root().join(document);
    let text = fs::read_to_string(&path).expect(document);
    let (before, rest) = text.split_once(BEGIN).unwrap_or_else(|| panic!("{document} has no {BEGIN}"));
    let (written, after) = rest.split_once(END).unwrap_or_else(|| panic!("{document} has no {END}"));
    if env::var("TABLES").as_deref() == Ok("write") {
        return fs::write(&path, [before, BEGIN, tables, END, after].concat()).expect("a document that can be written");
    }
    let differs = written.lines().zip(tables.lines()).find(|(written, right)| written != right);
    assert!(written == tables, "{document} isn't as the code is: run `make tables`; the first difference: {differs:?}");
}

/// A row of a table.
pub fn row<'a>(cells: impl IntoIterator<Item = &'a str>) -> String {
    let cells: Vec<_> = cells.into_iter().collect();
    format!("| {} |\n", cells.join(" | "))
}
