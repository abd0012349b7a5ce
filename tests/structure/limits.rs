//! CloudFormation's limits and an account's quotas, by the template as SAM expands it.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

use local::{
    alarm::{Alarm, Composite, mails},
    paths::Paths,
};
use serde_json::json;
use serde_norway::Value;
use shared::store::secret::{MAX_NETWORK_WAITS, MAX_PROVIDER_WAITS};
use template::{Template, resolve, resolve_all};

use crate::{
    checkout::{read, template},
    deployment::keys_pattern,
};

/// Longest names by type, with the path of the name in the properties.
const NAMES: [(&str, &str, usize); 16] = [
    ("AWS::Serverless::HttpApi", "Name", 128),
    ("AWS::DynamoDB::Table", "TableName", 255),
    ("AWS::S3::Bucket", "BucketName", 63),
    ("AWS::KMS::Alias", "AliasName", 256),
    ("AWS::SES::ConfigurationSet", "Name", 64),
    ("AWS::Logs::LogGroup", "LogGroupName", 512),
    ("AWS::Logs::QueryDefinition", "Name", 255),
    ("AWS::SQS::Queue", "QueueName", 80),
    ("AWS::SNS::Topic", "TopicName", 256),
    ("AWS::Events::Rule", "Name", 64),
    ("AWS::CloudWatch::Alarm", "AlarmName", 255),
    ("AWS::CloudWatch::CompositeAlarm", "AlarmName", 255),
    ("AWS::SSM::Parameter", "Name", 1011),
    ("AWS::WAFv2::WebACL", "Name", 128),
    ("AWS::CloudFront::CachePolicy", "CachePolicyConfig.Name", 128),
    ("AWS::CloudFront::OriginRequestPolicy", "OriginRequestPolicyConfig.Name", 128),
];

/// What clients that take up the rest leave: signing in, taking power away, getting money out, and completing uploads.
const RESERVED: [(&str, usize); 15] = [
    ("send-code", 100),
    ("log-in", 100),
    ("use-link", 50),
    ("use-wallet", 50),
    ("use-passkey", 50),
    ("challenge-sign-in", 100),
    ("challenge-passkey-sign-in", 50),
    ("log-out", 20),
    ("revoke-api-key", 20),
    ("revoke-permission", 20),
    ("withdraw-funds", 20),
    ("complete-upload", 20),
    ("forget-device", 10),
    ("disconnect-wallet", 10),
    ("remove-passkey", 10),
];

const SCHEDULE_NAME: usize = 64;
const ROLE_NAME: usize = 64;
/// What CloudFormation adds to a role's name after the last hyphen.
const ROLE_SUFFIX: usize = 13;

/// The code's whole template, with anchors and without types.
fn document() -> Value {
    serde_norway::from_str(&read("template.yaml")).expect("YAML")
}

/// `docs/operations.md`, without line breaks.
fn guide() -> String {
    read("docs/operations.md").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Dynamic references in a value, by occurrence.
fn dynamic_references(value: &Value) -> usize {
    match value {
        Value::String(text) => text.matches("{{resolve:").count(),
        Value::Sequence(values) => values.iter().map(dynamic_references).sum(),
        Value::Mapping(values) => values.values().map(dynamic_references).sum(),
        Value::Tagged(tagged) => dynamic_references(&tagged.value),
        _ => 0,
    }
}

#[test]
fn dynamic_references_stay_below_cloudformations_limit() {
    let document = document();
    let functions = template().resources("AWS::Serverless::Function").count();
    // SAM copies the globals into each function.
    let found = functions * dynamic_references(&document["Globals"]) + dynamic_references(&document["Resources"]);
    assert!(found > 0, "dynamic references aren't found");
    assert!(found <= 60, "{found} dynamic references, 60 are the most");
}

#[test]
fn resources_stay_below_cloudformations_limit_and_are_counted_in_the_guide() {
    let [data, code] = ["data.yaml", "template.yaml"].map(|stack| {
        let template: Template = read(stack).parse().expect("a template");
        let mut count = template.logical_ids().count();
        // An API has a stage.
        count += template.resources("AWS::Serverless::HttpApi").count();
        for function in template.resources("AWS::Serverless::Function") {
            let events = |name| function.events(name).count();
            // A role; a permission for each route; a schedule with its role; a mapping for each stream.
            count += 1 + events("HttpApi") + 2 * events("ScheduleV2") + events("DynamoDB");
            count += usize::from(function.properties.get("EventInvokeConfig").is_some());
        }
        assert!(count <= 500, "{stack}: {count} resources");
        count
    });
    let sentence = format!("{code} of the 500 resources that it may have, that of the data {data}");
    assert!(guide().contains(&sentence), "docs/operations.md doesn't say: {sentence}");
}

#[test]
fn idle_costs_in_the_guide_are_those_that_the_script_counts() {
    let paths = Paths::of_checkout();
    for arguments in [&["--lanes", "1", "--small"][..], &["--lanes", "1"], &[], &["--lanes", "4", "--edge"]] {
        let mut script = Command::new(paths.python_program("python"));
        let output =
            script.arg("local/sam/cost").args(arguments).current_dir(paths.root()).output().expect("python runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let table = String::from_utf8(output.stdout).expect("UTF-8");
        let sums: Vec<_> = table.split("**").filter(|part| part.parse::<u16>().is_ok()).collect();
        assert_eq!(sums.len(), 2, "{table}");
        let row = format!("| {} | {} |", sums[0], sums[1]);
        assert!(guide().contains(&row), "docs/operations.md doesn't say {row} for {arguments:?}");
    }
}

#[test]
fn a_small_stage_has_fewer_alarms_and_each_speaks_for_itself() {
    let template = template();
    let stage = |size: &str| {
        let mut names = template.deployed(BTreeMap::from([("Size".to_owned(), size.to_owned())])).expect("names");
        names.insert("DeadLetters.QueueName".to_owned(), "dead-letters".to_owned());
        (Alarm::all(&template, &names).expect("alarms"), Composite::all(&template, &names).expect("composites"))
    };
    let ((full, composites), (small, none)) = (stage("full"), stage("small"));
    assert!(small.len() < full.len() && !composites.is_empty() && none.is_empty());
    for alarm in &small {
        let sent = mails(&small, &none, &BTreeSet::from([alarm.id.clone()]));
        assert_eq!(sent, BTreeSet::from([alarm.id.clone()]));
    }
}

#[test]
fn production_reserves_concurrency_that_is_summed_up_in_the_guide() {
    let template = template();
    let names = |choice: &[(&str, &str)]| {
        let given = choice.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        template.names(given).expect("names")
    };
    let sum = |names: &BTreeMap<String, String>| -> usize {
        let functions = template.resources("AWS::Serverless::Function");
        let reserved = functions.filter_map(|function| function.properties.get("ReservedConcurrentExecutions"));
        let reserved = reserved.flat_map(|reserved| resolve_all(reserved, names).expect("a number"));
        reserved.map(|reserved| reserved.parse::<usize>().expect("a number")).sum()
    };
    let functions = template.functions().expect("functions");
    for (binary, reserved) in RESERVED {
        let function = functions.iter().find(|function| function.binary == binary).expect(binary);
        assert_eq!(function.reserved_concurrency, Some(reserved), "{binary}");
    }
    let waiting = functions.iter().find(|function| function.binary == "wait-for-events").expect("wait-for-events");
    let tenth = waiting.reserved_concurrency.map(|most| most / 10);
    assert_eq!(tenth, Some(MAX_NETWORK_WAITS.into()), "one network holds more of what waits than a tenth");
    let of_three = 3 * usize::from(MAX_PROVIDER_WAITS);
    assert!(waiting.reserved_concurrency > Some(of_three), "three providers hold all that waits");
    let production = ("Stage", "production");
    let most = sum(&names(&[production]));
    assert_eq!(sum(&names(&[("ReserveConcurrency", "yes")])), most);
    for choice in [&[production, ("ReserveConcurrency", "no")][..], &[]] {
        assert_eq!(sum(&names(choice)), 0, "{choice:?}: a new account can't reserve any");
    }
    // Lambda keeps a hundred for functions without a reservation.
    let sentence = format!("reserves {most}, for which the account needs {}", most + 100);
    assert!(guide().contains(&sentence), "docs/operations.md doesn't say: {sentence}");
}

fn names_at_the_longest_stage(template: &Template) -> BTreeMap<String, String> {
    let text = read("template.yaml");
    let pattern = text.split("AllowedPattern: ^[a-z][a-z0-9]{1,").nth(1).and_then(|rest| rest.split('}').next());
    let longest = 1 + pattern.and_then(|most| most.parse::<usize>().ok()).expect("the pattern of Stage");
    template.deployed(BTreeMap::from([("Stage".to_owned(), "s".repeat(longest))])).expect("names")
}

#[test]
fn the_pattern_of_watched_keys_fits_while_all_of_them_are_replaced() {
    // Of a region with one of the longest names.
    const KEY: &str = "arn:aws:kms:ap-southeast-1:111122223333:key/01234567-89ab-cdef-0123-456789abcdef";
    let template = template();
    let (names, pattern) = (names_at_the_longest_stage(&template), keys_pattern(&template));
    let roles = pattern["detail"]["$or"][1]["requestParameters"]["roleName"].as_sequence().expect("prefixes");
    let roles = roles.iter().map(|role| json!({"prefix": resolve(&role["prefix"], &names).expect("a prefix")}));
    let roles: Vec<_> = roles.collect();
    let keys = vec![KEY; template.resources("AWS::KMS::Key").count()];
    let either = json!([{"resources": {"ARN": keys}}, {"requestParameters": {"roleName": roles}}]);
    let detail = json!({"eventName": pattern["detail"]["eventName"], "$or": either});
    let whole = json!({"source": pattern["source"], "detail-type": pattern["detail-type"], "detail": detail});
    let length = whole.to_string().len();
    assert!(length <= 2_048, "{length} characters: {whole}");
}

#[test]
fn names_fit_at_the_longest_stage() {
    let template = template();
    let names = names_at_the_longest_stage(&template);
    for (r#type, path, most) in NAMES {
        let mut resources = template.resources(r#type).peekable();
        assert!(resources.peek().is_some(), "there is no {type}");
        for resource in resources {
            let name = path.split('.').try_fold(resource.properties, |value, part| value.get(part)).expect(r#type);
            let name = resolve(name, &names).expect("a name");
            assert!(name.len() <= most, "{}: {name} has {} characters", resource.logical_id, name.len());
        }
    }
    for function in template.resources("AWS::Serverless::Function") {
        for schedule in function.events("ScheduleV2") {
            let name = resolve(&schedule["Name"], &names).expect("a name");
            assert!(name.len() <= SCHEDULE_NAME, "{name}");
        }
    }
    let mut roles = Vec::new();
    for key in template.resources("AWS::KMS::Key") {
        for statement in key.properties["KeyPolicy"]["Statement"].as_sequence().expect("statements") {
            let Some(principals) = statement.get("Condition").and_then(|condition| condition.get("ArnLike")) else {
                continue;
            };
            roles.extend(resolve_all(&principals["aws:PrincipalArn"], &names).expect("roles"));
        }
    }
    assert!(roles.len() >= 5, "key policies name {roles:?}");
    for role in roles {
        // Shortened, the name wouldn't match, and KMS would refuse the function.
        let name = role.split(":role/").nth(1).and_then(|name| name.strip_suffix('*')).expect("a pattern of names");
        assert!(name.len() + ROLE_SUFFIX <= ROLE_NAME, "{name} has {} characters and a suffix", name.len());
    }
}
