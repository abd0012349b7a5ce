//! Rules for the template that linters don't check.

use std::collections::{BTreeMap, BTreeSet};

use serde_norway::Value;
use template::{Template, resolve, resolve_all};

use crate::checkout::{read, template};

/// Resource types whose name is unique in an account, and the name's property.
const NAMED: [(&str, &str); 18] = [
    ("AWS::Serverless::HttpApi", "Name"),
    ("AWS::DynamoDB::Table", "TableName"),
    ("AWS::S3::Bucket", "BucketName"),
    ("AWS::KMS::Alias", "AliasName"),
    ("AWS::KMS::Key", "Description"),
    ("AWS::SES::ConfigurationSet", "Name"),
    ("AWS::Logs::LogGroup", "LogGroupName"),
    ("AWS::SQS::Queue", "QueueName"),
    ("AWS::SNS::Topic", "TopicName"),
    ("AWS::CloudWatch::Alarm", "AlarmName"),
    ("AWS::CloudWatch::CompositeAlarm", "AlarmName"),
    ("AWS::CloudWatch::Dashboard", "DashboardName"),
    ("AWS::Logs::QueryDefinition", "Name"),
    ("AWS::SSM::Parameter", "Name"),
    ("AWS::Backup::BackupVault", "BackupVaultName"),
    ("AWS::WAFv2::WebACL", "Name"),
    ("AWS::Events::Rule", "Name"),
    ("AWS::CloudFront::CachePolicy", "CachePolicyConfig"),
];

#[test]
fn every_name_includes_the_stage() {
    let template = template();
    let carries = |name: Option<String>| name.is_some_and(|name| name.contains("${Stage}"));
    for (r#type, property) in NAMED {
        let mut resources = template.resources(r#type).peekable();
        assert!(resources.peek().is_some(), "there is no {type}");
        for resource in resources {
            let name = resource.properties.get(property).map(|name| format!("{name:?}"));
            assert!(carries(name), "{}'s {property}", resource.logical_id);
        }
    }
    for function in template.resources("AWS::Serverless::Function") {
        for schedule in function.events("ScheduleV2") {
            // SAM's default name is the function's logical id, without the stage.
            let name = schedule.get("Name").map(|name| format!("{name:?}"));
            assert!(carries(name), "the schedule of {}", function.logical_id);
        }
    }
}

#[test]
fn production_is_not_deployed_without_an_address_for_alarms() {
    let text = read("template.yaml");
    let template: serde_norway::Value = serde_norway::from_str(&text).expect("YAML");
    let rule = serde_norway::to_string(&template["Rules"]["ProductionTellsOfAlarms"]).expect("a rule");
    for part in ["production", "AlarmAddress", "!Not"] {
        assert!(rule.contains(part), "{part} in {rule}");
    }
}

#[test]
fn irreplaceable_resources_are_retained() {
    let template = template();
    let mut kept = 0;
    for table in template.resources("AWS::DynamoDB::Table").filter(|table| table.logical_id != "ChainTable") {
        let (id, properties) = (table.logical_id, table.properties);
        assert_eq!((table.deletion_policy, table.update_replace_policy), (Some("Retain"), Some("Retain")), "{id}");
        assert_eq!(properties["DeletionProtectionEnabled"], true, "{id}");
        assert_eq!(properties["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"], true, "{id}");
        kept += 1;
    }
    for bucket in template.resources("AWS::S3::Bucket") {
        let policies = (bucket.deletion_policy, bucket.update_replace_policy);
        // A bucket that a failed deployment created is empty.
        assert_eq!(policies, (Some("RetainExceptOnCreate"), Some("Retain")), "{}", bucket.logical_id);
        kept += 1;
    }
    for key in template.resources("AWS::KMS::Key") {
        let (id, properties) = (key.logical_id, key.properties);
        // A key that a failed deployment created was never used.
        let policies = (key.deletion_policy, key.update_replace_policy);
        assert_eq!(policies, (Some("RetainExceptOnCreate"), Some("Retain")), "{id}");
        assert_eq!(properties["PendingWindowInDays"], 30, "{id}");
        kept += 1;
    }
    // Those of the firewall go with it, so that it can come back under the name that it demands.
    for logs in template.resources("AWS::Logs::LogGroup").filter(|logs| logs.logical_id != "FirewallLogs") {
        let policies = (logs.deletion_policy, logs.update_replace_policy);
        assert_eq!(policies, (Some("RetainExceptOnCreate"), Some("Retain")), "{}", logs.logical_id);
        kept += 1;
    }
    assert_eq!(kept, 3 + 1 + 14 + 2, "tables, the bucket, the keys of tokens, codes, webhooks and lanes, and logs");
}

#[test]
fn every_log_group_is_in_the_guide() {
    let (template, guide) = (template(), read("docs/operations.md"));
    let names = template.deployed(BTreeMap::new()).expect("names");
    let groups = template.resources("AWS::Logs::LogGroup");
    let groups: Vec<_> =
        groups.map(|group| resolve(&group.properties["LogGroupName"], &names).expect("a name")).collect();
    assert!(groups.len() >= 3, "{groups:?}");
    for group in groups {
        assert!(guide.contains(&format!("\n| `{group}` | ")), "docs/operations.md doesn't say what is in {group}");
    }
}

#[test]
fn deleted_files_come_back_for_a_month() {
    for bucket in template().resources("AWS::S3::Bucket") {
        let (id, properties) = (bucket.logical_id, bucket.properties);
        assert_eq!(properties["VersioningConfiguration"]["Status"], "Enabled", "{id}");
        let rules = properties["LifecycleConfiguration"]["Rules"].as_sequence().expect("rules");
        let former: Vec<_> = rules.iter().filter_map(|rule| rule.get("NoncurrentVersionExpiration")).collect();
        assert!(former.len() == 1 && former[0]["NoncurrentDays"] == 30, "{id} keeps versions for {former:?}");
    }
}

#[test]
fn keys_that_another_region_would_need_can_be_copied_there() {
    let is_needed = |id: &str| ["TokenKeyA", "TokenKeyB", "WebhookKeyA", "WebhookKeyB"].contains(&id);
    for key in template().resources("AWS::KMS::Key").filter(|key| is_needed(key.logical_id)) {
        assert_eq!(key.properties["MultiRegion"], true, "{}", key.logical_id);
    }
}

/// The pattern of the rule that tells of changes of keys.
pub fn keys_pattern(template: &Template) -> &Value {
    let rule = template.resources("AWS::Events::Rule").find(|rule| rule.logical_id == "KeysRule").expect("KeysRule");
    let targets = format!("{:?}", rule.properties["Targets"]);
    assert!(targets.contains("AlarmTopic") && targets.contains("PageTopic"), "{targets}");
    &rule.properties["EventPattern"]
}

fn assert_watched(pattern: &Value, source: &str, calls: &[&str]) {
    let lists = |list: &Value, word: &str| list.as_sequence().is_some_and(|list| list.iter().any(|own| own == word));
    assert!(lists(&pattern["source"], source), "{source}");
    for call in calls {
        assert!(lists(&pattern["detail"]["eventName"], call), "{call}");
    }
}

#[test]
fn every_key_is_watched() {
    let template = template();
    let pattern = keys_pattern(&template);
    let keys = ["TokenKeyOrder", "CodeKeyOrder", "WebhookKeyOrder"].map(|order| (order, "AB"));
    let most = [("OperatorLaneCount", "8")].into_iter().chain(keys);
    let most = most.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let names = template.deployed(most.collect()).expect("names");
    let watched = resolve_all(&pattern["detail"]["$or"][0]["resources"]["ARN"], &names).expect("ARNs");
    for key in template.resources("AWS::KMS::Key") {
        let arn = &names[&format!("{}.Arn", key.logical_id)];
        assert!(watched.contains(arn), "nobody learns of changes of {}", key.logical_id);
    }
    assert_watched(pattern, "aws.kms", &["PutKeyPolicy", "CreateGrant", "DisableKey", "ScheduleKeyDeletion"]);
}

/// Beginnings of the names of roles of functions and of their schedules:
/// <https://docs.aws.amazon.com/serverless-application-model/latest/developerguide/sam-specification-generated-resources-function.html>
fn generated_roles(template: &Template, stage: &str) -> BTreeSet<String> {
    let mut roles = BTreeSet::new();
    for function in template.resources("AWS::Serverless::Function") {
        let id = function.logical_id;
        roles.insert(format!("moments-{stage}-{id}Role-"));
        for (event, settings) in function.properties["Events"].as_mapping().into_iter().flatten() {
            if settings["Type"] == "ScheduleV2" {
                roles.insert(format!("moments-{stage}-{id}{}Role-", event.as_str().expect("a name")));
            }
        }
    }
    roles
}

#[test]
fn every_role_that_a_key_trusts_by_name_is_watched_and_no_other() {
    let template = template();
    let pattern = keys_pattern(&template);
    let names = template.deployed(BTreeMap::new()).expect("names");
    let watched = pattern["detail"]["$or"][1]["requestParameters"]["roleName"].as_sequence().expect("prefixes");
    let watched: BTreeSet<_> = watched.iter().map(|name| resolve(&name["prefix"], &names).expect("a prefix")).collect();
    let policies = template.key_policies().expect("policies");
    let mut trusted = BTreeSet::new();
    for principals in policies.values().flatten().filter_map(|statement| statement.conditions.get("ArnLike")) {
        for role in resolve_all(&principals["aws:PrincipalArn"], &names).expect("roles") {
            let name = role.split(":role/").nth(1).and_then(|name| name.strip_suffix('*'));
            trusted.insert(name.expect("a pattern of names").to_owned());
        }
    }
    assert!(trusted.len() >= 5, "keys trust {trusted:?}");
    let watches = |role: &str| watched.iter().filter(|beginning| role.starts_with(*beginning)).count();
    assert_eq!(watched.len(), trusted.len());
    for role in &trusted {
        assert_eq!(watches(role), 1, "{role}");
    }
    for role in generated_roles(&template, &names["Stage"]) {
        assert!(trusted.contains(&role) || watches(&role) == 0, "{role} is watched, and no key trusts it");
    }
    let calls = ["CreateRole", "UpdateAssumeRolePolicy", "PutRolePolicy", "AttachRolePolicy"];
    assert_watched(pattern, "aws.iam", &calls);
}

#[test]
fn routes_have_no_metrics_of_their_own() {
    for api in template().resources("AWS::Serverless::HttpApi") {
        let settings = &api.properties["DefaultRouteSettings"];
        assert_eq!(settings["DetailedMetricsEnabled"], false, "six metrics a route cost up to 150 dollars a month");
    }
}

#[test]
fn scheduled_events_expire_before_they_queue_up() {
    for function in template().resources("AWS::Serverless::Function") {
        for schedule in function.events("ScheduleV2") {
            let (id, retries) = (function.logical_id, schedule.get("RetryPolicy").expect("a RetryPolicy"));
            assert_eq!(retries["MaximumEventAgeInSeconds"], 60, "{id}");
            assert_eq!(retries["MaximumRetryAttempts"], 0, "{id}");
            let invocation = &function.properties["EventInvokeConfig"];
            assert_eq!(invocation["MaximumRetryAttempts"], 0, "{id}");
            assert!(invocation["MaximumEventAgeInSeconds"].as_u64().is_some_and(|age| age <= 120), "{id}");
        }
    }
}

#[test]
fn boundary_allows_reading_the_streams_that_wake_functions() {
    let template = template();
    let boundary = template.resources("AWS::IAM::ManagedPolicy").find(|policy| policy.logical_id == "FunctionBoundary");
    let document = &boundary.expect("the boundary").properties["PolicyDocument"];
    // What a mapping checks: https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html
    let needed = ["DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"];
    let statements = document["Statement"].as_sequence().expect("statements");
    let allows = |action: &str, table: &str| {
        statements.iter().any(|statement| {
            let (actions, resources) = (format!("{:?}", statement["Action"]), format!("{:?}", statement["Resource"]));
            let covers = resources.contains(&format!("${{{table}}}/stream/*")) || statement["Resource"] == "*";
            actions.contains(&format!("\"dynamodb:{action}\"")) && covers
        })
    };
    let mut found = 0;
    for function in template.resources("AWS::Serverless::Function") {
        for event in function.events("DynamoDB") {
            let stream = format!("{:?}", event["Stream"]);
            let tables = [("ChainTable", "ChainTable.Arn"), ("ArtistTable", "ArtistTableArn")];
            let table = tables.into_iter().find(|(table, _)| stream.contains(table)).map(|(_, arn)| arn);
            let table = table.unwrap_or_else(|| panic!("{}: an unknown stream {stream}", function.logical_id));
            for action in needed {
                assert!(allows(action, table), "{}: the boundary denies {action} of {table}", function.logical_id);
            }
            found += 1;
        }
    }
    assert!(found >= 3, "only {found} functions are woken by a stream");
}

#[test]
fn writing_routes_have_their_own_throttle() {
    for function in template().resources("AWS::Serverless::Function") {
        for route in function.events("HttpApi").filter(|route| route.get("Path").is_some()) {
            let is_throttled = route.get("RouteSettings").is_some();
            assert!(route["Method"] == "GET" || is_throttled, "{} has no RouteSettings", function.logical_id);
        }
    }
}
