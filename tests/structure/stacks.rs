//! The two stacks: what outlives the code is deployed first, and hands over its names.

use std::collections::BTreeSet;

use serde_norway::Value;
use template::{Resource, Template, resolve};

use crate::checkout::{read, template};

/// What only `local/sam/keys` reads.
const OF_KEYS: &str = "TokenKeys";

fn document(file: &str) -> Value {
    serde_norway::from_str(&read(file)).expect("YAML")
}

fn keys(value: &Value) -> BTreeSet<String> {
    let keys = value.as_mapping().into_iter().flat_map(|names| names.keys());
    keys.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The names that a value refers to, with their attributes.
fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Sequence(values) => values.iter().for_each(|value| references(value, found)),
        Value::Mapping(values) => values.values().for_each(|value| references(value, found)),
        Value::Tagged(tagged) => {
            match (tagged.tag.to_string().as_str(), tagged.value.as_str()) {
                ("!Ref" | "!GetAtt" | "!Condition", Some(text)) => found.extend([text.to_owned()]),
                ("!If", None) => found.extend(tagged.value[0].as_str().map(str::to_owned)),
                ("!Sub", Some(text)) => {
                    let names = text.split("${").skip(1).filter_map(|rest| rest.split('}').next());
                    found.extend(names.map(str::to_owned));
                }
                _ => {}
            }
            references(&tagged.value, found);
        }
        _ => {}
    }
}

#[test]
fn each_stack_refers_to_its_own_names_alone() {
    for file in ["data.yaml", "template.yaml"] {
        let document = document(file);
        let mut found = BTreeSet::new();
        references(&document, &mut found);
        found.retain(|name| !name.starts_with("AWS::"));
        let own = |part: &str| keys(&document[part]);
        let (resources, others) = (own("Resources"), &own("Parameters") | &own("Conditions"));
        assert!(found.len() > 20, "{file}: references aren't found: {found:?}");
        // Only a resource has attributes.
        found.retain(|reference| match reference.split_once('.') {
            Some((resource, _)) => !resources.contains(resource),
            None => !resources.contains(reference) && !others.contains(reference),
        });
        assert_eq!(found, BTreeSet::new(), "{file} refers to what it doesn't have");
    }
}

#[test]
fn parameters_that_nobody_sets_are_outputs_of_the_data() {
    let (data, code) = (document("data.yaml"), document("template.yaml"));
    let groups = code["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"].as_sequence().expect("groups");
    let settings = groups.iter().flat_map(|group| group["Parameters"].as_sequence().into_iter().flatten());
    let settings: BTreeSet<_> = settings.filter_map(Value::as_str).map(str::to_owned).collect();
    let (parameters, mut outputs) = (keys(&code["Parameters"]), keys(&data["Outputs"]));
    assert!(outputs.remove(OF_KEYS) && !parameters.contains(OF_KEYS));
    assert_eq!(&parameters - &settings, outputs, "what the code is given, and what the data hands over");
}

#[test]
fn what_is_kept_is_in_the_stack_that_outlives_the_code() {
    let [data, code] = ["data.yaml", "template.yaml"].map(|file| read(file).parse::<Template>().expect("a template"));
    let (made, of_code) = (document("data.yaml"), document("template.yaml"));
    for id in code.logical_ids() {
        let policy = &of_code["Resources"][id.as_str()]["DeletionPolicy"];
        assert!(policy.is_null() || *policy == "Delete", "{id} would be in the way when the code is deployed again");
    }
    for id in data.logical_ids() {
        let kind = made["Resources"][id.as_str()]["Type"].as_str().expect("a type");
        let service = kind.split("::").nth(1).expect("a service");
        assert!(["Backup", "DynamoDB", "IAM", "KMS", "Logs", "S3", "SES"].contains(&service), "{id} is code: {kind}");
    }
}

const ORDERS: [(&str, &[&str]); 4] = [("A", &["a"]), ("AB", &["a", "b"]), ("BA", &["b", "a"]), ("B", &["b"])];

#[test]
fn a_key_is_there_before_it_is_used_and_after_the_other_is() {
    let template = template();
    for (kind, (order, keys)) in
        ["TokenKey", "CodeKey", "WebhookKey"].into_iter().flat_map(|kind| ORDERS.map(|order| (kind, order)))
    {
        let names = template.deployed([(format!("{kind}Order"), order.to_owned())].into()).expect("names");
        let keys: Vec<_> = keys.iter().map(|key| format!("{}{key}-physical", kind.to_lowercase())).collect();
        assert_eq!(names[&format!("{kind}s")], keys.join(","), "{kind} {order}");
        let own = |key: &Resource<'_>| key.logical_id.starts_with(kind) && key.is_made(&names).expect("a condition");
        let made = template.resources("AWS::KMS::Key").filter(own).count();
        let listed = names[&format!("{kind}Arns")].split(',').count();
        assert_eq!((made, listed), (keys.len(), keys.len()), "{kind} {order}");
        assert!(kind != "TokenKey" || names["TokenKey"] == keys[0], "{order}");
    }
}

#[test]
fn functions_know_an_origin_secret_before_it_is_sent_and_after_the_other_is() {
    let template = template();
    let value = template.resources("AWS::SSM::Parameter").next().expect("a parameter").properties["Value"].clone();
    for (order, secrets) in ORDERS {
        let given = [("Distribution", "always"), ("OriginSecretOrder", order)];
        let names = template.deployed(given.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
        let names = names.expect("names");
        let secrets = secrets.iter().map(|name| format!("{{{{resolve:secretsmanager:originsecret{name}-physical}}}}"));
        let secrets: Vec<_> = secrets.collect();
        assert_eq!(resolve(&value, &names).expect("a value"), secrets.join(","), "{order}");
        let made = template.resources("AWS::SecretsManager::Secret");
        assert_eq!(
            made.filter(|secret| secret.is_made(&names).expect("a condition")).count(),
            secrets.len(),
            "{order}"
        );
    }
}
