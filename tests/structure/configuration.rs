//! `docs/configuration.md` names the parameters, variables, defaults and functions of the template, and the variables and
//! defaults of the code: all of them and no others.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use local::paths::Paths;
use template::{Function, Template};

/// The header of the tables that are held equal, and that of the table of groups.
const HEADER: [&str; 5] = ["parameter", "variable", "default", "functions", "meaning"];
const GROUP_HEADER: [&str; 2] = ["group", "functions"];

/// What a cell says for none.
const NONE: &str = "—";

/// A row of the document's tables.
struct Row {
    parameter: Option<String>,
    variable: Option<String>,
    default: Option<String>,
    functions: BTreeSet<String>,
}

/// A variable that the code reads, with the default that it has there.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CodeVariable {
    name: String,
    default: Option<String>,
}

#[test]
fn every_parameter_is_documented_with_its_default() {
    let text = read("template.yaml");
    let defaults = template(&text).parameter_defaults();
    let documented: Vec<_> = rows().into_iter().filter_map(|row| Some((row.parameter?, row.default))).collect();
    let names: BTreeSet<_> = documented.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(names.len(), documented.len(), "a parameter is documented twice");
    assert_eq!(names, parameters(&text), "documented parameters, and the template's");
    for (name, default) in &documented {
        assert_eq!(default.as_ref(), defaults.get(name), "the default of {name}: documented, and the template's");
    }
}

#[test]
fn every_variable_is_documented_with_its_parameter_and_functions() {
    let text = read("template.yaml");
    let (parameters, functions) = (parameters(&text), template(&text).functions().expect("functions"));
    let given: BTreeSet<_> = functions.iter().flat_map(|function| function.environment.keys().cloned()).collect();
    let rows: Vec<Row> = rows().into_iter().filter(|row| row.variable.is_some()).collect();
    let documented: BTreeSet<_> = rows.iter().filter_map(|row| row.variable.clone()).collect();
    assert_eq!(documented, given, "documented variables, and those that the template sets");
    for row in &rows {
        let name = row.variable.as_deref().unwrap_or_default();
        let has = |function: &&Function| has_variable(function, name, row.parameter.as_ref(), &parameters);
        let having: BTreeSet<_> = functions.iter().filter(has).map(|function| function.binary.clone()).collect();
        let parameter = row.parameter.as_deref().unwrap_or("no parameter");
        assert_eq!(row.functions, having, "functions with {name} of {parameter}: documented, and the template's");
    }
}

#[test]
fn the_code_reads_the_documented_variables_with_the_same_defaults() {
    let (rows, read) = (rows(), variables_of_code());
    let documented: BTreeSet<_> = rows.iter().filter_map(|row| row.variable.clone()).collect();
    let names: BTreeSet<_> = read.iter().map(|variable| variable.name.clone()).collect();
    assert_eq!(documented, names, "documented variables, and those that the code reads");
    for CodeVariable { name, default } in &read {
        let Some(default) = default else { continue };
        let of_parameters = rows.iter().filter(|row| row.variable.as_ref() == Some(name) && row.parameter.is_some());
        let documented: Vec<_> = of_parameters.filter_map(|row| row.default.as_ref()).collect();
        assert!(
            documented.contains(&default),
            "the code's default of {name} is {default:?}, not one of {documented:?}"
        );
    }
}

#[test]
fn calls_that_read_variables_are_found() {
    let source = r##"
        const GATEWAYS: &str = "https://a.example/";
        let list: List = config::parsed_or("LIST", r#"[{"id": 1}]"#)?;
        let limit = config::parsed_or::<u64>("LIMIT", "30")?;
        let gateways = config::parsed_or("GATEWAYS", GATEWAYS)?;
        let (key, name) = (Key::from_env(&aws, "KEY_ID")?, config::required(name)?);
        let level = std::env::var("LEVEL");
    "##;
    let variable =
        |name: &str, default: Option<&str>| CodeVariable { name: name.to_owned(), default: default.map(str::to_owned) };
    let expected = [
        variable("GATEWAYS", Some("https://a.example/")),
        variable("KEY_ID", None),
        variable("LEVEL", None),
        variable("LIMIT", Some("30")),
        variable("LIST", Some(r#"[{"id": 1}]"#)),
    ];
    assert_eq!(BTreeSet::from_iter(variables_of(source)), BTreeSet::from(expected));
}

fn read(path: &str) -> String {
    let path = Paths::of_checkout().root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn template(text: &str) -> Template {
    text.parse().expect("a template")
}

/// The names of the template's parameters, those without a default too.
fn parameters(text: &str) -> BTreeSet<String> {
    let section = text.lines().skip_while(|line| *line != "Parameters:").skip(1);
    let section = section.take_while(|line| line.is_empty() || line.starts_with(' ') || line.starts_with('#'));
    let names = section.filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'));
    names.filter(|name| name.starts_with(char::is_alphabetic)).map(str::to_owned).collect()
}

/// Whether a function has the variable from this parameter; or, without one, from no parameter at all.
fn has_variable(function: &Function, name: &str, parameter: Option<&String>, parameters: &BTreeSet<String>) -> bool {
    let Some(value) = function.environment.get(name) else { return false };
    let value = format!("{value:?}");
    let mut words = value.split(|character: char| !character.is_alphanumeric());
    match parameter {
        Some(parameter) => words.any(|word| word == parameter),
        None => !words.any(|word| parameters.contains(word)),
    }
}

/// The rows of the document's tables.
fn rows() -> Vec<Row> {
    let document = read("docs/configuration.md");
    let every = template(&read("template.yaml")).functions().expect("functions");
    let mut groups = BTreeMap::from([("all".to_owned(), every.into_iter().map(|function| function.binary).collect())]);
    for cells in table_rows(&document, &GROUP_HEADER).into_iter().filter(|cells| cells[0] != "all") {
        groups.insert(cells[0].to_owned(), names(cells[1], &BTreeMap::new()));
    }
    let row = |cells: Vec<&str>| Row {
        parameter: code(cells[0]),
        variable: code(cells[1]),
        default: if cells[2] == "*empty*" { Some(String::new()) } else { code(cells[2]) },
        functions: names(cells[3], &groups),
    };
    let rows: Vec<Row> = table_rows(&document, &HEADER).into_iter().map(row).collect();
    assert!(!rows.is_empty(), "docs/configuration.md has no table with the columns {HEADER:?}");
    rows
}

/// The cells of every table with this header.
fn table_rows<'a>(document: &'a str, header: &[&str]) -> Vec<Vec<&'a str>> {
    let (mut rows, mut is_wanted) = (Vec::new(), false);
    let mut lines = document.lines().peekable();
    while let Some(line) = lines.next() {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        if !line.starts_with('|') {
            is_wanted = false;
        } else if lines.peek().is_some_and(|next| next.starts_with("| ---")) {
            is_wanted = cells == header;
        } else if is_wanted && !line.starts_with("| ---") {
            assert_eq!(cells.len(), header.len(), "cells in {line:?}");
            rows.push(cells);
        }
    }
    rows
}

/// What a cell says in backticks; `None` for none.
fn code(cell: &str) -> Option<String> {
    let text = cell.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
    assert!(text.is_some() || cell == NONE, "{cell:?} is neither {NONE} nor in backticks");
    text.map(str::to_owned)
}

/// The functions that a cell names, by themselves or by their groups.
fn names(cell: &str, groups: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for name in cell.split(", ").filter(|name| *name != NONE) {
        match groups.get(name) {
            Some(group) => names.extend(group.iter().cloned()),
            None => names.extend(code(name)),
        }
    }
    names
}

/// The variables that the functions and the library read.
/// Those that the template can set: Lambda keeps the others' prefix to itself.
fn variables_of_code() -> BTreeSet<CodeVariable> {
    let root = Paths::of_checkout().root().to_owned();
    let packages = ["functions", "functions/workers"].into_iter().flat_map(|folder| entries(&root.join(folder)));
    let sources = packages.map(|package| package.join("src")).chain([root.join("shared/src")]);
    let mut files: Vec<PathBuf> = sources.collect();
    let mut variables = BTreeSet::new();
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(entries(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            variables.extend(variables_of(&fs::read_to_string(&path).expect("a source file")));
        }
    }
    variables.retain(|variable| !variable.name.starts_with("AWS_"));
    variables
}

/// What is in a folder; nothing where there is no folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

/// The variables that a source file reads: the calls of `shared::config`, of `std::env`, and those that hand a name on to
/// them.
fn variables_of(source: &str) -> Vec<CodeVariable> {
    let mut variables = Vec::new();
    for function in
        ["config::required", "config::optional", "config::parsed", "config::parsed_or", "env::var", "env::var_os"]
    {
        for arguments in calls(source, function) {
            let Some((name, rest)) = text(arguments, source) else { continue };
            let default = rest.trim_start().strip_prefix(',').and_then(|rest| text(rest, source));
            variables.push(CodeVariable { name, default: default.map(|(default, _)| default) });
        }
    }
    for arguments in calls(source, "from_env") {
        let arguments = arguments.split(')').next().unwrap_or_default();
        let name = arguments.split(',').nth(1).and_then(|name| text(name, source));
        variables.extend(name.map(|(name, _)| CodeVariable { name, default: None }));
    }
    // A table is declared with the variable that names it.
    let tables = source.lines().filter_map(|line| line.trim().strip_suffix("\";")?.split_once("Table = \""));
    variables.extend(tables.map(|(_, name)| CodeVariable { name: name.to_owned(), default: None }));
    variables
}

/// The source from the arguments of each call of `function` on.
fn calls<'a>(source: &'a str, function: &str) -> Vec<&'a str> {
    let arguments = |(at, _): (usize, &str)| {
        let rest = &source[at + function.len()..];
        let rest = match rest.strip_prefix("::<") {
            Some(generic) => generic.split_once(">(").map(|(_, arguments)| arguments),
            None => rest.strip_prefix('('),
        };
        rest.map(str::trim_start)
    };
    source.match_indices(function).filter_map(arguments).collect()
}

/// The text that an argument is, a literal or a constant of the same file, and what follows it. `None` for anything else.
fn text<'a>(argument: &'a str, source: &str) -> Option<(String, &'a str)> {
    let argument = argument.trim_start();
    let literal = |text: &'a str| {
        let (content, rest) = match text.strip_prefix("r#\"") {
            Some(raw) => raw.split_once("\"#")?,
            None => text.strip_prefix('"')?.split_once('"')?,
        };
        Some((content.to_owned(), rest))
    };
    if let Some(found) = literal(argument) {
        return Some(found);
    }
    let end = argument.find(|character: char| !(character.is_ascii_uppercase() || character == '_'))?;
    let (constant, rest) = argument.split_at(end);
    let value = source.split_once(&format!("const {constant}: &str = \""))?.1.split('"').next()?;
    Some((value.to_owned(), rest)).filter(|_| !constant.is_empty())
}
