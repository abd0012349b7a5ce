//! What the template owes an account beyond what linters look at.

use std::fs;

use local::paths::Paths;
use template::Template;

/// Types of resources with a name that an account has once, and the property that has it.
const NAMED: [(&str, &str); 10] = [
    ("AWS::Serverless::HttpApi", "Name"),
    ("AWS::DynamoDB::Table", "TableName"),
    ("AWS::KMS::Alias", "AliasName"),
    ("AWS::KMS::Key", "Description"),
    ("AWS::SES::ConfigurationSet", "Name"),
    ("AWS::Logs::LogGroup", "LogGroupName"),
    ("AWS::SQS::Queue", "QueueName"),
    ("AWS::SNS::Topic", "TopicName"),
    ("AWS::CloudWatch::Alarm", "AlarmName"),
    ("AWS::CloudWatch::Dashboard", "DashboardName"),
];

fn template() -> Template {
    let text = fs::read_to_string(Paths::of_checkout().root().join("template.yaml")).expect("template.yaml");
    text.parse().expect("a template")
}

#[test]
fn every_name_carries_the_stage() {
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
            // SAM would call it by the function's resource alone.
            let name = schedule.get("Name").map(|name| format!("{name:?}"));
            assert!(carries(name), "the schedule of {}", function.logical_id);
        }
    }
}

#[test]
fn what_cannot_be_made_again_outlives_its_stack_and_mistakes() {
    let template = template();
    let mut kept = 0;
    for table in template.resources("AWS::DynamoDB::Table").filter(|table| table.logical_id != "ChainTable") {
        let (id, properties) = (table.logical_id, table.properties);
        assert_eq!((table.deletion_policy, table.update_replace_policy), (Some("Retain"), Some("Retain")), "{id}");
        assert_eq!(properties["DeletionProtectionEnabled"], true, "{id}");
        assert_eq!(properties["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"], true, "{id}");
        kept += 1;
    }
    for key in template.resources("AWS::KMS::Key").filter(|key| key.logical_id != "CodeKey") {
        let (id, properties) = (key.logical_id, key.properties);
        // One that a failed deployment made has never been used.
        let policies = (key.deletion_policy, key.update_replace_policy);
        assert_eq!(policies, (Some("RetainExceptOnCreate"), Some("Retain")), "{id}");
        assert_eq!(properties["PendingWindowInDays"], 30, "{id}");
        kept += 1;
    }
    assert_eq!(kept, 2 + 9, "tables, and the keys of tokens and lanes");
}

#[test]
fn every_route_that_changes_something_has_a_throttle_of_its_own() {
    for function in template().resources("AWS::Serverless::Function") {
        for route in function.events("HttpApi").filter(|route| route.get("Path").is_some()) {
            let is_throttled = route.get("RouteSettings").is_some();
            assert!(route["Method"] == "GET" || is_throttled, "{} has no RouteSettings", function.logical_id);
        }
    }
}
