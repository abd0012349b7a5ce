//! `docs/configuration.md` has the template's parameters, in the template's groups, and the variables that functions read.

use std::{collections::BTreeSet, fs};

use local::paths::Paths;
use serde_norway::Value;
use shared::config::{Variable, variables};
use template::{Function, Template};

use crate::tables;

/// What a cell says for none.
const NONE: &str = "—";

/// Functions that a cell names; further ones are counted.
const NAMED: usize = 5;

/// Variables that Lambda sets.
const OF_LAMBDA: &str = "AWS_";

#[test]
fn the_document_shows_the_parameters_and_variables() {
    let (text, functions) = (read("template.yaml"), template().functions().expect("functions"));
    let document: Value = serde_norway::from_str(&text).expect("YAML");
    let mut written = String::new();
    for group in groups(&document) {
        written += &format!("\n## {}\n\n", words(&group["Label"]["default"]));
        written += &tables::row(["parameter", "default", "variable", "functions", "meaning"]);
        written += &tables::row(["---"; 5]);
        for name in group["Parameters"].as_sequence().into_iter().flatten().map(words) {
            let parameter = &document["Parameters"][name.as_str()];
            let (variable, readers) = carrying(&functions, &name);
            let default = match &parameter["Default"] {
                Value::Null => NONE.to_owned(),
                value if words(value).is_empty() => "*empty*".to_owned(),
                value => format!("`{}`", words(value)),
            };
            let variable = if variable.is_empty() { NONE.to_owned() } else { quoted(&variable) };
            let meaning = words(&parameter["Description"]);
            written +=
                &tables::row([&*format!("`{name}`"), &default, &variable, &readers, meaning.trim_end_matches('.')]);
        }
    }
    written += "\n## Variables without a parameter\n\n";
    written += &tables::row(["variable", "functions", "meaning"]);
    written += &tables::row(["---"; 3]);
    for variable in variables::ALL.iter().filter(|variable| !variable.meaning.is_empty()) {
        let readers = functions.iter().filter(|function| function.environment.contains_key(variable.name));
        let readers = named(readers, functions.len());
        let meaning = variable.meaning.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
        written += &tables::row([&*format!("`{}`", variable.name), &readers, &meaning]);
    }
    tables::compare("docs/configuration.md", &(written + "\n"));
}

#[test]
fn every_parameter_is_in_one_group_and_described() {
    let document: Value = serde_norway::from_str(&read("template.yaml")).expect("YAML");
    let parameters = document["Parameters"].as_mapping().expect("parameters");
    let grouped = groups(&document).into_iter().flat_map(|group| group["Parameters"].as_sequence().cloned());
    let grouped: Vec<_> = grouped.flatten().map(|name| words(&name)).collect();
    let names: BTreeSet<_> = parameters.keys().map(words).collect();
    assert_eq!(grouped.len(), names.len(), "a parameter is in two groups, or in none");
    assert_eq!(grouped.into_iter().collect::<BTreeSet<_>>(), names);
    for (name, parameter) in parameters {
        assert!(!words(&parameter["Description"]).is_empty(), "{name:?} has no description");
    }
}

#[test]
fn the_template_sets_the_variables_that_the_code_reads_with_the_same_defaults() {
    let functions = template().functions().expect("functions");
    let given: BTreeSet<_> =
        functions.iter().flat_map(|function| function.environment.keys().map(String::as_str)).collect();
    let read = variables::ALL.iter().filter(|variable| !variable.name.starts_with(OF_LAMBDA));
    assert_eq!(read.clone().map(|variable| variable.name).collect::<BTreeSet<_>>(), given);
    let defaults = template().parameter_defaults();
    for Variable { name, default, meaning } in read.copied() {
        let parameters = defaults.iter().filter(|(parameter, _)| is_carried(&functions, parameter, name));
        let values: BTreeSet<_> = parameters.map(|(_, value)| value.as_str()).collect();
        if let Some(default) = default {
            assert!(values.contains(default), "the code's default of {name} is {default:?}, the template's {values:?}");
        }
        let is_of_a_parameter = !parameters_of(&functions, name).is_empty();
        assert_eq!(meaning.is_empty(), is_of_a_parameter, "{name} is described once: by its parameter, or by itself");
    }
}

fn read(path: &str) -> String {
    let path = Paths::of_checkout().root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn template() -> Template {
    read("template.yaml").parse().expect("a template")
}

fn groups(document: &Value) -> Vec<Value> {
    let groups = &document["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"];
    groups.as_sequence().expect("groups of parameters").clone()
}

fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        _ => String::new(),
    }
}

/// The variables that carry a parameter's value, and who has them.
fn carrying(functions: &[Function], parameter: &str) -> (BTreeSet<String>, String) {
    let carried = |function: &Function| -> Vec<String> {
        let variables = function.environment.iter().filter(|(_, value)| mentions(value, parameter));
        variables.map(|(name, _)| name.clone()).collect()
    };
    let names = functions.iter().flat_map(carried).collect();
    let readers = functions.iter().filter(|function| !carried(function).is_empty());
    (names, named(readers, functions.len()))
}

fn is_carried(functions: &[Function], parameter: &str, variable: &str) -> bool {
    functions.iter().any(|function| function.environment.get(variable).is_some_and(|value| mentions(value, parameter)))
}

/// The parameters in a variable's values.
fn parameters_of(functions: &[Function], variable: &str) -> BTreeSet<String> {
    let document: Value = serde_norway::from_str(&read("template.yaml")).expect("YAML");
    let parameters = document["Parameters"].as_mapping().expect("parameters").keys().map(words);
    parameters.filter(|parameter| is_carried(functions, parameter, variable)).collect()
}

/// Whether a value refers to a parameter.
fn mentions(value: &Value, parameter: &str) -> bool {
    format!("{value:?}").split(|character: char| !character.is_alphanumeric()).any(|word| word == parameter)
}

fn named<'a>(functions: impl Iterator<Item = &'a Function>, all: usize) -> String {
    let names: BTreeSet<_> = functions.map(|function| function.binary.clone()).collect();
    match names.len() {
        0 => NONE.to_owned(),
        1..=NAMED => quoted(&names),
        count if count == all => "all".to_owned(),
        count => format!("{count} functions"),
    }
}

fn quoted(names: &BTreeSet<String>) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
