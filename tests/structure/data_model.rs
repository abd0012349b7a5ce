//! `docs/data-model.md` has the rows that the store declares, with who may write and read them by the functions' roles.

use shared::store::{
    artist, chain, document,
    engine::{INDEX, Row, STRUCTURES, Section},
    secret,
};
use template::{Function, resolve_all};

use crate::checkout::{self, template};
use crate::tables;

/// The content of an empty cell.
const NONE: &str = "—";

/// Functions that a cell names; further ones are counted.
const NAMED: usize = 3;

const WRITE_ACTIONS: [&str; 4] =
    ["dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem", "dynamodb:BatchWriteItem"];
const READ_ACTIONS: [&str; 3] = ["dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query"];

/// The tables, by their logical ids, with their rows.
fn rooms() -> [(&'static str, Vec<&'static Section>); 4] {
    let all = |rooms: &[&'static [Section]]| rooms.iter().flat_map(|rows| rows.iter()).collect();
    [
        ("ChainTable", all(&[chain::ROWS, INDEX])),
        ("ArtistTable", all(&[artist::ROWS])),
        ("SecretTable", all(&[secret::ROWS])),
        ("DocumentTable", all(&[document::ROWS])),
    ]
}

#[test]
fn the_document_shows_the_rows_of_the_code() {
    let functions = template().functions().expect("functions");
    let mut text = String::new();
    for (table, sections) in rooms() {
        text += &format!("\n## {} table\n", table.trim_end_matches("Table"));
        sections.into_iter().for_each(|section| text += &shown(section, table, &functions));
    }
    STRUCTURES.iter().for_each(|section| text += &shown(section, "", &functions).replacen("###", "##", 1));
    tables::compare("docs/data-model.md", &(text + "\n"));
}

#[test]
fn only_tables_that_delete_expired_rows_have_any() {
    let template = template();
    for (table, sections) in rooms() {
        let expire = rows(&sections).any(|row| row.expires.is_some());
        let resource = template.resources("AWS::DynamoDB::Table").find(|resource| resource.logical_id == table);
        let setting = resource.expect("a table").properties.get("TimeToLiveSpecification");
        let attribute = setting.and_then(|setting| setting.get("AttributeName")).and_then(|name| name.as_str());
        assert_eq!(attribute, expire.then_some("expires_at"), "{table}");
    }
}

#[test]
fn no_key_is_declared_twice() {
    for (table, sections) in rooms() {
        let mut keys: Vec<_> = rows(&sections).map(|row| (without_forms(row.pk), without_forms(row.sk))).collect();
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), count, "{table}: {keys:?}");
    }
}

#[test]
fn forms_of_values_are_shown_in_words() {
    assert_eq!(without_forms("{due:012}#{uri_hash}#{token:0>78}"), "{due, 12 digits}#{uri hash}#{token, 78 digits}");
    assert_eq!(without_forms("{score:032x}{id}"), "{score, 32 hexadecimal digits}{id}");
}

#[test]
fn pattern_of_a_role_admits_the_keys_that_it_matches() {
    for (pattern, pk, is_admitted) in [
        ("QUEUE#*", "QUEUE#{chain}#{kind}", true),
        ("QUEUE#*#PLAIN", "QUEUE#{chain}#{kind}", true),
        ("QUEUE#*#PLAIN", "QUEUE#{chain}#WAKE", false),
        ("QUEUE#1#WAKE", "QUEUE#{chain}#WAKE", true),
        ("ACTIVITY#WORKS#*", "ACTIVITY#{artist}", false),
        ("ACTIVITY#*", "ACTIVITY#WORKS#{artist}", true),
        ("INBOX", "INBOX", true),
        ("INBOX", "INBOX#RANKINGS", false),
        ("INBOX#*", "INBOX", false),
    ] {
        assert_eq!(admits(pattern, pk), is_admitted, "{pattern} {pk}");
    }
}

fn rows<'a>(sections: &'a [&'static Section]) -> impl Iterator<Item = &'static Row> + 'a {
    sections.iter().flat_map(|section| section.rows.iter().flat_map(|rows| rows.iter()))
}

/// A section with its table; and who uses the rows, where roles name partitions.
fn shown(section: &Section, table: &str, functions: &[Function]) -> String {
    let mut text = format!("\n### {}\n\n", section.heading);
    if !section.about.is_empty() {
        text += &format!("{}\n\n", joined(section.about, "\n"));
    }
    let columns = ["sk", "holds", "pk", "expires", "written by", "read by"];
    let columns = match table {
        "" => &columns[..2],
        "ChainTable" => &columns[..3],
        _ => &columns[..],
    };
    let order = |cells: &[String]| {
        let mut cells: Vec<_> = cells.iter().take(columns.len()).map(String::as_str).collect();
        let pk = (cells.len() > 2).then(|| cells.remove(2));
        tables::row(pk.into_iter().chain(cells))
    };
    text += &order(&columns.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
    text += &tables::row(columns.iter().map(|_| "---"));
    for row in section.rows.iter().flat_map(|rows| rows.iter()) {
        let sk = match row.sk {
            structure @ ("list" | "packed list" | "ranked set") => structure.to_owned(),
            sk => format!("`{}`", without_forms(sk)),
        };
        let who = |actions: &[&str]| named(functions, actions, table, row.pk);
        text += &order(&[
            sk,
            joined(row.holds, " "),
            format!("`{}`", without_forms(row.pk)),
            row.expires.unwrap_or(NONE).to_owned(),
            who(&WRITE_ACTIONS),
            who(&READ_ACTIONS),
        ]);
    }
    text
}

fn joined(lines: &[&str], between: &str) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(between)
}

/// A pattern with its values' names as words, and their forms in words: `{due:012}` as `{due, 12 digits}`.
fn without_forms(pattern: &str) -> String {
    let mut parts = pattern.split('{');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (value, rest) = part.split_once('}').unwrap_or((part, ""));
        let (name, form) = value.split_once(':').unwrap_or((value, ""));
        let form = form.trim_start_matches("0>").trim_start_matches('0');
        let form = match form.strip_suffix('x') {
            Some(length) => format!(", {length} hexadecimal digits"),
            None if form.is_empty() => String::new(),
            None => format!(", {form} digits"),
        };
        text += &format!("{{{}{form}}}{rest}", name.replace('_', " "));
    }
    text
}

/// The functions whose roles have one of these actions on the partition.
fn named(functions: &[Function], actions: &[&str], table: &str, pk: &str) -> String {
    let named = functions.iter().filter(|function| may(function, actions, table, pk));
    let named: Vec<_> = named.map(|function| format!("`{}`", function.binary)).collect();
    match named.len() {
        0 => NONE.to_owned(),
        1..=NAMED => named.join(", "),
        more => format!("{} functions", more),
    }
}

fn may(function: &Function, actions: &[&str], table: &str, pk: &str) -> bool {
    let names = checkout::tables();
    function.policies.iter().flatten().any(|statement| {
        if !statement.actions.iter().any(|action| actions.contains(&action.as_str())) {
            return false;
        }
        let resources = resolve_all(&statement.resources, &names).expect("resources");
        let keys = statement.conditions.values().filter_map(|keys| keys.get("dynamodb:LeadingKeys"));
        let mut keys = keys.map(|patterns| resolve_all(patterns, &names).expect("leading keys"));
        resources.iter().any(|resource| resource == table)
            && keys.all(|patterns| patterns.iter().any(|pattern| admits(pattern, pk)))
    })
}

/// Whether a role's pattern, in which `*` is any text, admits a key like `pk`, whose `{values}` have no `#`.
fn admits(pattern: &str, pk: &str) -> bool {
    let value = pk.strip_prefix('{').and_then(|rest| rest.split_once('}'));
    let after = value.map_or_else(|| pk.get(1..).unwrap_or_default(), |(_, after)| after);
    if let Some(rest) = pattern.strip_prefix('*') {
        return admits(rest, pk) || !pk.is_empty() && admits(pattern, after);
    }
    match pattern.split_at_checked(1) {
        Some((first, rest)) if value.is_some() => first != "#" && (admits(rest, pk) || admits(rest, after)),
        Some((first, rest)) => pk.starts_with(first) && admits(rest, after),
        None => pk.is_empty(),
    }
}
