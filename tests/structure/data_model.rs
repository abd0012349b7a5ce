//! Compares `docs/data-model.md` with the code and the template: the keys of rows with those of the store, their writers
//! and readers with the functions' roles, and their expiry with the tables' time to live.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use local::paths::Paths;
use shared::store::across::{ARTIST_KINDS, SECRET_KINDS};
use template::{Function, Template, resolve_all};

/// The headers of the document's tables. Tables without expiring rows leave out the last column of the first.
const ROW_HEADER: [&str; 6] = ["pk", "sk", "holds", "writers", "readers", "expires"];
const STRUCTURE_HEADER: [&str; 3] = ["structure", "sk", "holds"];
const PART_HEADER: [&str; 3] = ["part", "of", "forms"];
const GROUP_HEADER: [&str; 2] = ["group", "functions"];

/// The content of an empty cell.
const NONE: &str = "—";

/// The cells that stand for the sort keys of a structure.
const LIST: &str = "list";
const PACKED_LIST: &str = "packed list";
const RANKED_SET: &str = "ranked set";

/// The rooms of the store, and the table of each.
const TABLES: [(&str, &str); 3] = [("chain/", "ChainTable"), ("artist/", "ArtistTable"), ("secret/", "SecretTable")];

const WRITE_ACTIONS: [&str; 4] =
    ["dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem", "dynamodb:BatchWriteItem"];
const READ_ACTIONS: [&str; 3] = ["dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query"];

/// A row kind. In both parts of its key, `{}` stands for a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RowKey {
    /// The table's logical id, or `structure` for the keys of lists and ranked sets.
    table: String,
    pk: String,
    sk: String,
}

/// A row of the document's tables.
struct DocumentedRow {
    table: String,
    pks: Vec<String>,
    sks: Vec<String>,
    writers: BTreeSet<String>,
    readers: BTreeSet<String>,
    expires: bool,
}

#[test]
fn documented_keys_are_those_of_the_code() {
    let (document, mut documented) = (document(), BTreeSet::new());
    for row in rows(&document) {
        for (pk, sk) in row.pks.iter().flat_map(|pk| row.sks.iter().map(move |sk| (pk, sk))) {
            let key = RowKey { table: row.table.clone(), pk: pk.clone(), sk: sk.clone() };
            assert!(documented.insert(key), "{pk} with {sk} is documented twice");
        }
    }
    for (_, cells) in table_rows(&document, &STRUCTURE_HEADER) {
        documented.extend(spans(cells[1]).iter().map(|sk| structure_key(cells[0], &shape(sk))));
    }
    let sources = sources();
    let keys = sources.iter().flat_map(|(path, source)| keys_of(path, source, &table_of(path)));
    let code: BTreeSet<RowKey> = keys.collect();
    let undocumented: Vec<_> = code.difference(&documented).collect();
    assert!(undocumented.is_empty(), "docs/data-model.md lacks {undocumented:#?}");
    let unknown: Vec<_> = documented.difference(&code).collect();
    assert!(unknown.is_empty(), "shared/src/store has no {unknown:#?}");
}

#[test]
fn documented_writers_and_readers_have_the_roles_of_the_template() {
    let (rows, functions) = (rows(&document()), template().functions().expect("functions"));
    for row in &rows {
        for (named, actions, verb) in
            [(&row.writers, &WRITE_ACTIONS[..], "write"), (&row.readers, &READ_ACTIONS, "read")]
        {
            for binary in named {
                let function = functions.iter().find(|function| function.binary == *binary);
                let function = function.unwrap_or_else(|| panic!("there is no function {binary}"));
                let mut pks = row.pks.iter();
                assert!(
                    pks.all(|pk| may(function, actions, &row.table, Some(pk))),
                    "{binary} can't {verb} {:?}",
                    row.pks
                );
            }
        }
    }
    for function in &functions {
        for (_, table) in TABLES {
            let of_table = |row: &&DocumentedRow| row.table == table;
            let (writes, reads) =
                (may(function, &WRITE_ACTIONS, table, None), may(function, &READ_ACTIONS, table, None));
            let is_writer = rows.iter().filter(of_table).any(|row| row.writers.contains(&function.binary));
            let is_reader = rows.iter().filter(of_table).any(|row| row.readers.contains(&function.binary));
            let binary = &function.binary;
            assert_eq!(is_writer, writes, "{binary} writes {table}: documented, and allowed");
            assert_eq!(is_reader, reads, "{binary} reads {table}: documented, and allowed");
        }
    }
}

#[test]
fn every_partition_of_an_artist_is_exported_and_erased() {
    let document = document();
    let kinds = document.lines().filter_map(|line| Some(line.strip_prefix("| `")?.split_once("#{artist}`")?.0));
    let known: BTreeSet<_> = ARTIST_KINDS.into_iter().chain(SECRET_KINDS).collect();
    assert_eq!(kinds.collect::<BTreeSet<_>>(), known, "shared/src/store/across/personal_data.rs lists them");
}

#[test]
fn only_tables_that_delete_expired_rows_have_any() {
    let (rows, template) = (rows(&document()), template());
    for (_, table) in TABLES {
        let expire = rows.iter().any(|row| row.table == table && row.expires);
        let resource = template.resources("AWS::DynamoDB::Table").find(|resource| resource.logical_id == table);
        let setting = resource.expect("a table").properties.get("TimeToLiveSpecification");
        let attribute = setting.and_then(|setting| setting.get("AttributeName")).and_then(|name| name.as_str());
        assert_eq!(attribute, expire.then_some("expires_at"), "{table}");
    }
}

#[test]
fn keys_are_found_in_source() {
    let source = r##"
        const LENGTH: &str = "LENGTH";
        impl Things {
            pub fn new(chain: ChainTable) -> Self { Self { partition: "INBOX", chain } }
            fn key(&self) -> PrimaryKey { PrimaryKey::new(self.partition, id.to_string()) }
            fn set(scope: Scope) -> RankedSet {
                let mut name = format!("SET#{chain}#");
                let _ = match scope { Scope::All => write!(name, "ALL"), Scope::Of(it) => write!(name, "OF#{it}") };
                RankedSet::growing(name)
            }
            fn states(&self) { let keys = all.map(|it| partition(it)).map(|pk| PrimaryKey::new(pk, LENGTH)); }
        }
        fn thing_key(thing: &Thing) -> PrimaryKey {
            PrimaryKey::new(format!("THING#{}#{}", thing.chain, thing.address), digits(thing.number))
        }
        fn digits(number: u64) -> String { format!("{number:0>78}") }
        fn partition(of: Of) -> String {
            match of { Of::One(it) => format!("ONE#{it}"), Of::Other => format!("OTHER#{}#{it:020}", of.it) }
        }
        fn list_partition(chain: ChainId) -> String { format!("LIST#{chain}") }
        fn due_key(due: u64) -> PrimaryKey { PrimaryKey::new(list_partition(due), format!("{}#{hash}", f(due, 1))) }
        fn other_partition(a: Address) -> String { format!("MORE#{a}") }
    "##;
    let expected = [
        ("INBOX", "{}"),
        ("SET(ALL OF)", RANKED_SET),
        ("ONE#{}", "LENGTH"),
        ("OTHER#{}#{}", "LENGTH"),
        ("THING#{}#{}", "{}"),
        ("LIST#{}", "{}#{}"),
        ("MORE#{}", LIST),
    ];
    let key = |(pk, sk): (&str, &str)| RowKey { table: "ChainTable".to_owned(), pk: pk.to_owned(), sk: sk.to_owned() };
    assert_eq!(
        BTreeSet::from_iter(keys_of("things.rs", source, "ChainTable")),
        expected.into_iter().map(key).collect()
    );
}

fn document() -> String {
    fs::read_to_string(Paths::of_checkout().root().join("docs/data-model.md")).expect("docs/data-model.md")
}

fn template() -> Template {
    let text = fs::read_to_string(Paths::of_checkout().root().join("template.yaml")).expect("template.yaml");
    text.parse().expect("a template")
}

fn structure_key(structure: &str, sk: &str) -> RowKey {
    RowKey { table: "structure".to_owned(), pk: structure.to_owned(), sk: sk.to_owned() }
}

/// Returns whether a function's role has one of the actions on a table, and on this partition of it if there is one.
fn may(function: &Function, actions: &[&str], table: &str, pk: Option<&str>) -> bool {
    let names = TABLES.map(|(_, table)| (format!("{table}.Arn"), table.to_owned())).into();
    function.policies.iter().flatten().any(|statement| {
        if !statement.actions.iter().any(|action| actions.contains(&action.as_str())) {
            return false;
        }
        let resources = resolve_all(&statement.resources, &names).expect("resources");
        let keys = statement.conditions.values().filter_map(|keys| keys.get("dynamodb:LeadingKeys"));
        let admits = |pattern: &String, pk: &str| match pattern.strip_suffix('*') {
            Some(start) => pk.starts_with(start),
            None => pk == pattern,
        };
        let mut keys = keys.map(|patterns| resolve_all(patterns, &names).expect("leading keys"));
        let is_admitted = keys.all(|patterns| pk.is_none_or(|pk| patterns.iter().any(|pattern| admits(pattern, pk))));
        resources.iter().any(|resource| resource == table) && is_admitted
    })
}

/// The rows of the document's tables of rows.
fn rows(document: &str) -> Vec<DocumentedRow> {
    let groups = table_rows(document, &GROUP_HEADER).into_iter();
    let groups: BTreeMap<&str, Vec<String>> = groups.map(|(_, cells)| (cells[0], spans(cells[1]))).collect();
    let mut parts = BTreeMap::new();
    for (_, cells) in table_rows(document, &PART_HEADER) {
        let words: &mut BTreeSet<String> = parts.entry(one_span(cells[1])).or_default();
        words.extend(spans(cells[2]).iter().flat_map(|form| words_of(form)));
    }
    let mut rows = Vec::new();
    for header in [&ROW_HEADER[..], &ROW_HEADER[..5]] {
        for (heading, cells) in table_rows(document, header) {
            let table = heading.strip_suffix(" table").unwrap_or_else(|| panic!("{cells:?} is in no table's section"));
            let pk = |span: &String| {
                let head = span.split('#').next().unwrap_or_default();
                parts
                    .get(head)
                    .filter(|_| span.contains("}{"))
                    .map_or_else(|| shape(span), |words| composite(head, words))
            };
            let sks = match cells[1] {
                LIST | RANKED_SET => vec![cells[1].to_owned()],
                cell => spans(cell).iter().map(|span| shape(span)).collect(),
            };
            rows.push(DocumentedRow {
                table: format!("{table}Table"),
                pks: spans(cells[0]).iter().map(pk).collect(),
                sks,
                writers: functions(cells[3], &groups),
                readers: functions(cells[4], &groups),
                expires: cells.get(5).is_some_and(|cell| *cell != NONE),
            });
        }
    }
    assert!(!rows.is_empty(), "docs/data-model.md has no table with the columns {ROW_HEADER:?}");
    rows
}

/// The cells of every table with this header, each row with the section of the first order that it is in.
fn table_rows<'a>(document: &'a str, header: &[&str]) -> Vec<(&'a str, Vec<&'a str>)> {
    let (mut rows, mut heading, mut is_wanted) = (Vec::new(), "", false);
    let mut lines = document.lines().peekable();
    while let Some(line) = lines.next() {
        heading = line.strip_prefix("## ").unwrap_or(heading);
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        if !line.starts_with('|') {
            is_wanted = false;
        } else if lines.peek().is_some_and(|next| next.starts_with("| ---")) {
            is_wanted = cells == header;
        } else if is_wanted && !line.starts_with("| ---") {
            assert_eq!(cells.len(), header.len(), "cells in {line:?}");
            rows.push((heading, cells));
        }
    }
    rows
}

/// The functions that a cell names, by themselves or by their groups.
fn functions(cell: &str, groups: &BTreeMap<&str, Vec<String>>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for name in cell.split(", ").filter(|name| *name != NONE) {
        match groups.get(name) {
            Some(group) => names.extend(group.iter().cloned()),
            None => {
                names.insert(one_span(name));
            }
        }
    }
    names
}

/// The texts in backticks.
fn spans(cell: &str) -> Vec<String> {
    let spans: Vec<String> = cell.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    assert!(!spans.is_empty(), "{cell:?} has nothing in backticks");
    spans
}

fn one_span(cell: &str) -> String {
    let text = cell.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
    text.unwrap_or_else(|| panic!("{cell:?} is neither a group nor in backticks")).to_owned()
}

/// A key without the names and forms of its values.
fn shape(text: &str) -> String {
    let mut parts = text.split('{');
    let mut shape = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        shape += "{}";
        shape += part.split_once('}').map_or("", |(_, rest)| rest);
    }
    shape
}

/// The fixed words of a key.
fn words_of(text: &str) -> Vec<String> {
    let shape = shape(text);
    let words = shape.split(|character: char| !(character.is_alphanumeric() || character == '_'));
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The shape of a key that is put together from parts: its first word, and the words of the parts.
fn composite(head: &str, words: &BTreeSet<String>) -> String {
    format!("{head}({})", Vec::from_iter(words.iter().map(String::as_str)).join(" "))
}

/// The sources of the store without comments and tests, by their paths within it.
fn sources() -> BTreeMap<String, String> {
    let root = Paths::of_checkout().root().join("shared/src/store");
    let (mut sources, mut folders) = (BTreeMap::new(), vec![root.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(&root).expect("a path in the store").to_string_lossy().into_owned();
                sources.insert(name, production_code(&fs::read_to_string(&path).expect("a source file")));
            }
        }
    }
    sources
}

fn production_code(source: &str) -> String {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// The keys that a source file of the store makes.
fn keys_of(path: &str, source: &str, table: &str) -> Vec<RowKey> {
    let structure = [("numbered_list", LIST), ("packed_list", PACKED_LIST), ("ranked_set", RANKED_SET)];
    let structure = structure
        .into_iter()
        .find(|(name, _)| path.strip_prefix("engine/structures/").is_some_and(|rest| rest.starts_with(name)));
    let (mut keys, mut with_sort_key) = (Vec::new(), BTreeSet::new());
    for (before, [pk, sk]) in calls::<2>(source, "PrimaryKey::new") {
        let sks = shapes(sk.trim_start_matches('&'), source).unwrap_or_else(|| vec!["{}".to_owned()]);
        if let Some((_, structure)) = structure {
            keys.extend(sks.iter().map(|sk| structure_key(structure, sk)));
            continue;
        }
        let pks = partitions(pk, before, source).unwrap_or_else(|| panic!("{path}: which partition is {pk}?"));
        for pk in pks {
            keys.extend(sks.iter().map(|sk| RowKey { table: table.to_owned(), pk: pk.clone(), sk: sk.clone() }));
            with_sort_key.insert(pk);
        }
    }
    if structure.is_some() {
        return keys;
    }
    let mut structures = BTreeSet::new();
    for (before, [pk]) in
        ["RankedSet::moving", "RankedSet::growing"].into_iter().flat_map(|new| calls::<1>(source, new))
    {
        let pks = partitions(pk, before, source).unwrap_or_else(|| panic!("{path}: which partition is {pk}?"));
        structures.extend(pks.into_iter().map(|pk| (pk, RANKED_SET)));
    }
    // A partition without sort keys of its own is a list's.
    for name in names_of_functions(source).filter(|name| *name == "partition" || name.ends_with("_partition")) {
        let pks = shapes_of_function(name, source).unwrap_or_default();
        structures.extend(pks.into_iter().filter(|pk| !with_sort_key.contains(pk)).map(|pk| (pk, LIST)));
    }
    keys.extend(structures.into_iter().map(|(pk, sk)| RowKey { table: table.to_owned(), pk, sk: sk.to_owned() }));
    keys
}

/// The logical id of a file's table: its room's. What the engine has besides structures is of the chain table; the rows of
/// `across` are notifications that an artist has seen.
fn table_of(path: &str) -> String {
    let table = TABLES.iter().find(|(room, _)| path.starts_with(room)).map(|(_, table)| *table);
    table.unwrap_or(if path.starts_with("across/") { "ArtistTable" } else { "ChainTable" }).to_owned()
}

/// The calls of a function: the source before each, and its arguments.
fn calls<'a, const N: usize>(source: &'a str, function: &str) -> Vec<(&'a str, [&'a str; N])> {
    let call = |(at, _): (usize, &str)| {
        let arguments = source[at + function.len()..].strip_prefix('(')?;
        let arguments = split_arguments(arguments);
        let arguments = arguments.try_into().unwrap_or_else(|all| panic!("{function} with the arguments {all:?}"));
        Some((&source[..at], arguments))
    };
    source.match_indices(function).filter_map(call).collect()
}

/// The arguments up to the parenthesis that ends the call.
fn split_arguments(text: &str) -> Vec<&str> {
    let (mut arguments, mut start, mut depth, mut in_text) = (Vec::new(), 0, 0_u32, false);
    for (at, character) in text.char_indices() {
        match character {
            '"' => in_text = !in_text,
            _ if in_text => {}
            '(' | '[' | '{' => depth += 1,
            ')' if depth == 0 => {
                arguments.push(text[start..at].trim());
                break;
            }
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                arguments.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    // A trailing comma ends no argument.
    arguments.retain(|argument| !argument.is_empty());
    arguments
}

/// The shapes of a partition key: those of its expression, or those that the function around it has for its variable.
fn partitions(argument: &str, before: &str, source: &str) -> Option<Vec<String>> {
    let argument = argument.trim_start_matches('&');
    if argument == "self.partition" {
        let values: Vec<String> = source.split("partition: \"").skip(1).map(|rest| shape(until_quote(rest))).collect();
        return Some(values).filter(|values| !values.is_empty());
    }
    shapes(argument, source).or_else(|| {
        let around = &before[before.rfind("fn ")?..];
        shapes_in(around).or_else(|| {
            let name = names_of_functions(source).find(|name| {
                name.ends_with("partition")
                    && around.contains(&format!("{name}("))
                    && !around.contains(&format!("fn {name}("))
            });
            shapes_of_function(name?, source)
        })
    })
}

/// The shapes of an expression: a literal, a constant, a `format!` or a call of a function of the same file; `None` for
/// anything else, which is a value.
fn shapes(expression: &str, source: &str) -> Option<Vec<String>> {
    if let Some(text) =
        expression.strip_prefix('"').or_else(|| expression.strip_prefix("format!(")?.trim_start().strip_prefix('"'))
    {
        return Some(vec![shape(until_quote(text))]);
    }
    if expression.chars().all(|character| character.is_ascii_uppercase() || character == '_') {
        let value = source.split_once(&format!("const {expression}: &str = \""))?.1;
        return Some(vec![until_quote(value).to_owned()]);
    }
    let callee = expression.split_once('(')?.0;
    let name = callee.rsplit(|character: char| !(character.is_alphanumeric() || character == '_')).next()?;
    shapes_of_function(name, source)
}

fn until_quote(text: &str) -> &str {
    text.split('"').next().unwrap_or_default()
}

fn names_of_functions(source: &str) -> impl Iterator<Item = &str> {
    source.split("fn ").skip(1).filter_map(|rest| rest.split(['(', '<']).next())
}

/// The shapes of the text that a function of the file makes.
fn shapes_of_function(name: &str, source: &str) -> Option<Vec<String>> {
    let (_, rest) = source.split_once(&format!("fn {name}("))?;
    let mut depth = 0_u32;
    let end = rest.char_indices().find(|(_, character)| {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => return false,
        }
        depth == 0
    });
    shapes_in(&rest[..end?.0])
}

/// The shapes of the keys that these literals make: each its own if all are whole keys, else one of all of them.
fn shapes_in(code: &str) -> Option<Vec<String>> {
    let literals: Vec<&str> = code.split('"').skip(1).step_by(2).collect();
    let head = |literal: &&str| {
        let head = literal.split_once('#').map(|(head, _)| head.to_owned())?;
        let is_word = |character: char| character.is_ascii_uppercase() || character == '_';
        Some(head).filter(|head| !head.is_empty() && head.chars().all(is_word))
    };
    let heads: Vec<String> = literals.iter().filter_map(head).collect();
    match (&literals[..], &heads[..]) {
        ([], _) => None,
        (_, heads) if heads.len() == literals.len() => Some(literals.iter().map(|literal| shape(literal)).collect()),
        ([one], _) => Some(vec![shape(one)]),
        (_, [head, ..]) => {
            let words: BTreeSet<String> = literals.iter().flat_map(|literal| words_of(literal)).collect();
            Some(vec![composite(head, &words.into_iter().filter(|word| word != head).collect())])
        }
        _ => None,
    }
}
