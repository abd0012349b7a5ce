//! The functions' roles against their common boundary: a role may do only what both allow.

use std::collections::BTreeMap;

use serde_norway::Value;
use template::{chosen, resolve_all};

use crate::checkout::template;

/// An allowing statement, with its references resolved.
struct Allowance {
    actions: Vec<String>,
    resources: Vec<String>,
    condition: Option<Value>,
}

fn allowance(statement: &Value, names: &BTreeMap<String, String>) -> Allowance {
    assert_eq!(statement["Effect"], "Allow", "{statement:?}");
    let list = |name: &str| resolve_all(&statement[name], names).expect(name);
    Allowance { actions: list("Action"), resources: list("Resource"), condition: statement.get("Condition").cloned() }
}

fn allowances<'a>(document: &'a Value, names: &BTreeMap<String, String>) -> Vec<Allowance> {
    let statements: &'a [Value] = document["Statement"].as_sequence().expect("statements");
    statements.iter().map(|statement| allowance(statement, names)).collect()
}

/// Whether whatever `wanted` matches is matched by `pattern`, too.
fn includes(pattern: &str, wanted: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == wanted, |start| wanted.starts_with(start))
}

impl Allowance {
    /// Whether it allows an action on a resource to a statement with this condition.
    fn includes(&self, action: &str, resource: &str, condition: Option<&Value>) -> bool {
        self.actions.iter().any(|pattern| includes(pattern, action))
            && self.resources.iter().any(|pattern| includes(pattern, resource))
            && self.condition.as_ref().is_none_or(|own| Some(own) == condition)
    }
}

/// What SAM adds to a function's policies.
fn added(properties: &Value) -> Vec<(&'static str, &'static str)> {
    let mut added = vec![("xray:PutTraceSegments", "*"), ("xray:PutTelemetryRecords", "*")];
    let destination = properties.get("EventInvokeConfig").and_then(|config| config.get("DestinationConfig"));
    added.extend(destination.map(|_| ("sqs:SendMessage", "DeadLetters.Arn")));
    added
}

#[test]
fn the_boundary_allows_what_each_role_does() {
    let template = template();
    let parameters = [
        vec![],
        vec![("Stage", "production"), ("OperatorLaneCount", "8"), ("MailIdentity", "example.com")],
        vec![("TokenKeyOrder", "AB"), ("CodeKeyOrder", "BA"), ("WebhookKeyOrder", "AB")],
        vec![("RpcSecret", "arn:aws:secretsmanager:x:1:secret:nodes")],
        vec![("PinningEndpoint", "https://a.example"), ("PinningSecret", "arn:aws:secretsmanager:x:1:secret:y")],
    ];
    let mut tried = 0;
    for parameters in parameters {
        let given = parameters.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        let given = [("MailSender".to_owned(), "a@example.com".to_owned())].into_iter().chain(given);
        let names = template.deployed(given.collect()).expect("names");
        let boundary = template.resources("AWS::IAM::ManagedPolicy").find(|each| each.logical_id == "FunctionBoundary");
        let boundary = allowances(&boundary.expect("the boundary").properties["PolicyDocument"], &names);
        for function in template.resources("AWS::Serverless::Function") {
            let mut check = |action: &str, resource: &str, condition: Option<&Value>| {
                let is_allowed = boundary.iter().any(|allowance| allowance.includes(action, resource, condition));
                assert!(is_allowed, "{}: the boundary denies {action} on {resource}", function.logical_id);
                tried += 1;
            };
            for policy in function.properties.get("Policies").and_then(Value::as_sequence).into_iter().flatten() {
                let Some(policy) = chosen(policy, &names).expect("a policy") else { continue };
                for Allowance { actions, resources, condition } in allowances(policy, &names) {
                    for action in &actions {
                        resources.iter().for_each(|resource| check(action, resource, condition.as_ref()));
                    }
                }
            }
            for (action, resource) in added(function.properties) {
                check(action, names.get(resource).map_or(resource, String::as_str), None);
            }
        }
    }
    assert!(tried > 500, "only {tried} permissions are found");
}

#[test]
fn functions_that_call_nodes_and_no_others_read_the_secret_of_their_urls() {
    for function in template().functions().expect("functions") {
        let statements = function.policies.iter().flatten();
        let may = statements.filter(|each| format!("{:?}", each.resources).contains("RpcSecret")).count();
        let calls = function.environment.contains_key("RPC_URLS");
        assert_eq!(may, usize::from(calls), "{}", function.binary);
    }
}

#[test]
fn functions_that_read_objects_are_told_of_missing_ones() {
    // S3 answers 403 for a missing object unless the caller may list the bucket.
    let mut readers = 0;
    for function in template().functions().expect("functions") {
        let statements: Vec<_> = function.policies.iter().flatten().collect();
        let has = |action: &str| statements.iter().any(|each| each.actions.iter().any(|own| own == action));
        if has("s3:GetObject") {
            assert!(has("s3:ListBucket"), "{} reads objects and may not list the bucket", function.binary);
            readers += 1;
        }
    }
    assert!(readers >= 4, "only {readers} functions read objects");
}

#[test]
fn patterns_include_what_they_match() {
    for (pattern, wanted, is_included) in
        [("a", "a", true), ("a/*", "a/b/*", true), ("*", "a", true), ("a/*", "a", false), ("a", "a/b", false)]
    {
        assert_eq!(includes(pattern, wanted), is_included, "{pattern} {wanted}");
    }
}
