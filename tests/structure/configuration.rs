//! `docs/configuration.md` has the parameters of both stacks, in the template's groups, and the variables that functions read.

use std::collections::{BTreeMap, BTreeSet};

use serde_norway::Value;
use shared::config::{Variable, variables};
use template::Function;

use crate::checkout::{read, template};
use crate::tables;

/// What a cell says for none.
const NONE: &str = "—";

/// Functions that a cell names; further ones are counted.
const NAMED: usize = 5;

/// Variables that Lambda sets.
const OF_LAMBDA: &str = "AWS_";

#[test]
fn the_document_shows_the_parameters_and_variables() {
    let (settings, functions) = (settings(), template().functions().expect("functions"));
    let mut written = String::new();
    for (label, names) in groups() {
        written += &format!("\n## {label}\n\n");
        written += &tables::row(["parameter", "default", "variable", "functions", "meaning"]);
        written += &tables::row(["---"; 5]);
        for name in names {
            let parameter = &settings[&name];
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
    let settings = settings();
    let grouped: Vec<_> = groups().into_iter().flat_map(|(_, names)| names).collect();
    let names: BTreeSet<_> = settings.keys().cloned().collect();
    assert_eq!(grouped.len(), names.len(), "a parameter is in two groups, or in none");
    assert_eq!(grouped.into_iter().collect::<BTreeSet<_>>(), names);
    for (name, parameter) in settings {
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

fn stacks() -> [Value; 2] {
    ["data.yaml", "template.yaml"].map(|file| serde_norway::from_str(&read(file)).expect("YAML"))
}

/// The parameters of both stacks, by name, without those that one hands over to the other.
fn settings() -> BTreeMap<String, Value> {
    let stacks = stacks();
    let parameters = stacks.iter().flat_map(|stack| stack["Parameters"].as_mapping().expect("parameters"));
    let outputs = stacks[0]["Outputs"].as_mapping().expect("outputs");
    let set = parameters.filter(|(name, _)| !outputs.contains_key(name));
    set.map(|(name, parameter)| (words(name), parameter.clone())).collect()
}

/// The groups' labels and parameters; groups of both stacks with one label are one.
fn groups() -> Vec<(String, Vec<String>)> {
    let groups = stacks().map(|stack| {
        let groups = &stack["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"];
        let group = |group: &Value| {
            let names = group["Parameters"].as_sequence().expect("parameters").iter().map(words).collect::<Vec<_>>();
            (words(&group["Label"]["default"]), names)
        };
        groups.as_sequence().expect("groups of parameters").iter().map(group).collect::<Vec<_>>()
    });
    let [of_data, mut groups] = groups;
    for (label, names) in of_data {
        let (_, others) = groups.iter_mut().find(|(other, _)| *other == label).expect("a label of template.yaml");
        others.retain(|name| !names.contains(name));
        others.splice(..0, names);
    }
    groups
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
    settings().into_keys().filter(|parameter| is_carried(functions, parameter, variable)).collect()
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
