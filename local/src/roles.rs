//! Compares the functions' roles, their boundary and the keys' policies with the recorded calls. A missing permission would
//! only fail in an AWS account, and an unused one would go unnoticed.

use std::collections::{BTreeMap, BTreeSet};

use template::{Statement, Template, resolve_all};

use crate::{
    Error,
    cloud::ACCOUNT,
    recorder::{ATTRIBUTES, Need},
};

type Names = BTreeMap<String, String>;

/// A statement with its references resolved.
#[derive(Clone, Debug)]
struct Allowance {
    actions: Vec<String>,
    resources: Vec<String>,
    conditions: Vec<(Operator, String, Vec<String>)>,
}

/// A condition operator.
#[derive(Clone, Copy, Debug)]
enum Operator {
    /// The value is one of the allowed ones.
    Equals,
    /// Every value is allowed; true without values.
    AllEqual,
    /// Every value matches an allowed pattern; true without values.
    AllLike,
    /// The value matches an allowed pattern.
    Like,
}

/// The condition key of a caller's role.
const CALLER: &str = "aws:PrincipalArn";

/// One line per call that a role, the boundary or a key's policy forbids, and per granted action or listed attribute that was
/// never used. A shared policy's are used if any of its functions used them. Unknown condition operators are an error.
pub fn findings(template: &Template, names: &Names, needs: &BTreeSet<Need>) -> Result<Vec<String>, Error> {
    let (functions, names) = (template.functions()?, &with_other_resources(template, names));
    let (boundary, keys) = (allowances(&template.boundary()?, names)?, keys(template, names)?);
    let mut findings = BTreeSet::new();
    for function in &functions {
        let granted = allowances(function.policies.iter().flatten(), names)?;
        // A key that the template doesn't have is a test's own.
        let is_of_a_test = |need: &Need| need.action.starts_with("kms:") && !keys.contains_key(&need.resource);
        for need in needs.iter().filter(|need| need.caller == function.binary && !is_of_a_test(need)) {
            let Need { action, resource, context, .. } = need;
            let mut require = |who: &str, allowances: &[Allowance], need: &Need| {
                if !allowances.iter().any(|allowance| allowance.allows(need)) {
                    findings.insert(format!("{who}{} may not {action} on {resource} ({context:?})", function.binary));
                }
            };
            require("", &granted, need);
            require("by the boundary, ", &boundary, need);
            if let Some(policy) = keys.get(resource) {
                require("by the key's policy, ", policy, &of_role(need, &function.logical_id, names));
            }
        }
        for policy in &function.policies {
            let sharers = functions.iter().filter(|other| other.policies.contains(policy));
            let sharers: BTreeSet<_> = sharers.map(|other| other.binary.as_str()).collect();
            let needs: Vec<_> = needs.iter().filter(|need| sharers.contains(need.caller.as_str())).collect();
            let who = sharers.iter().copied().collect::<Vec<_>>().join(", ");
            for allowance in allowances_of_single_actions(policy, names)? {
                if !needs.iter().any(|need| allowance.allows(need)) {
                    let (actions, resources) = (allowance.actions.join(", "), allowance.resources.join(", "));
                    findings.insert(format!("{who} may {actions} on {resources} and never does"));
                }
            }
            let listing = allowances(policy, names)?.into_iter().filter(|each| each.attributes().next().is_some());
            for allowance in listing {
                let allowed = needs.iter().filter(|need| allowance.allows(need));
                let named: BTreeSet<_> = allowed.filter_map(|need| need.context.get(ATTRIBUTES)).flatten().collect();
                let (actions, resources) = (allowance.actions.join(", "), allowance.resources.join(", "));
                for attribute in allowance.attributes().filter(|attribute| !named.contains(attribute)) {
                    findings.insert(format!("{who} may name {attribute} in {actions} on {resources} and never does"));
                }
            }
        }
    }
    Ok(findings.into_iter().collect())
}

/// Whether a statement allows a call; `names` are what it refers to.
pub fn allows(statement: &Statement, names: &Names, need: &Need) -> Result<bool, Error> {
    // Of other actions, `names` needn't have the resources.
    Ok(statement.actions.contains(&need.action) && allowances([statement], names)?.iter().any(|each| each.allows(need)))
}

/// The names with an ARN of each resource that isn't made locally.
fn with_other_resources(template: &Template, names: &Names) -> Names {
    let mut names = names.clone();
    for id in template.logical_ids() {
        names.entry(format!("{id}.Arn")).or_insert_with(|| format!("arn of {id}"));
    }
    template.hand_over(&mut names);
    names
}

/// What keys' policies allow, by the keys' ARNs.
fn keys(template: &Template, names: &Names) -> Result<BTreeMap<String, Vec<Allowance>>, Error> {
    let mut keys = BTreeMap::new();
    for (id, statements) in template.key_policies()? {
        if let Some(arn) = names.get(&format!("{id}.Arn")) {
            keys.insert(arn.clone(), allowances(&statements, names)?);
        }
    }
    Ok(keys)
}

/// A call as the role of a function makes it, whose name CloudFormation chooses.
fn of_role(need: &Need, function: &str, names: &Names) -> Need {
    let stage = names.get("Stage").map_or("", String::as_str);
    let role = format!("arn:aws:iam::{ACCOUNT}:role/moments-{stage}-{function}Role-1A2B3C");
    let mut need = need.clone();
    need.context.insert(CALLER.to_owned(), BTreeSet::from([role]));
    need
}

fn allowances<'a>(statements: impl IntoIterator<Item = &'a Statement>, names: &Names) -> Result<Vec<Allowance>, Error> {
    let allowance = |statement: &Statement| {
        let mut conditions = Vec::new();
        for (operator, keys) in &statement.conditions {
            let operator = Operator::named(operator)?;
            for (key, values) in keys {
                conditions.push((operator, key.clone(), resolve_all(values, names)?));
            }
        }
        let resources = resolve_all(&statement.resources, names)?;
        Ok(Allowance { actions: statement.actions.clone(), resources, conditions })
    };
    statements.into_iter().map(allowance).collect()
}

fn allowances_of_single_actions(statements: &[Statement], names: &Names) -> Result<Vec<Allowance>, Error> {
    let single = |allowance: Allowance| {
        let actions = allowance.actions.clone().into_iter();
        actions.map(move |action| Allowance { actions: vec![action], ..allowance.clone() })
    };
    Ok(allowances(statements, names)?.into_iter().flat_map(single).collect())
}

impl Operator {
    fn named(name: &str) -> Result<Self, Error> {
        match name {
            "StringEquals" => Ok(Self::Equals),
            "ForAllValues:StringEquals" => Ok(Self::AllEqual),
            "ForAllValues:StringLike" => Ok(Self::AllLike),
            "ArnLike" => Ok(Self::Like),
            _ => Err(format!("template.yaml: unknown condition operator {name}").into()),
        }
    }

    fn holds(self, values: Option<&BTreeSet<String>>, allowed: &[String]) -> bool {
        let mut all = values.into_iter().flatten();
        let is_like = |value: &String| allowed.iter().any(|pattern| matches(pattern, value));
        match self {
            Self::Equals => values.is_some() && all.all(|value| allowed.contains(value)),
            Self::AllEqual => all.all(|value| allowed.contains(value)),
            Self::AllLike => all.all(is_like),
            Self::Like => values.is_some() && all.all(is_like),
        }
    }
}

impl Allowance {
    fn allows(&self, need: &Need) -> bool {
        self.actions.contains(&need.action)
            && self.resources.iter().any(|resource| matches(resource, &need.resource))
            && self.conditions.iter().all(|(operator, key, allowed)| operator.holds(need.context.get(key), allowed))
    }

    /// The attributes that its conditions list.
    fn attributes(&self) -> impl Iterator<Item = &String> {
        self.conditions.iter().filter(|(_, key, _)| key == ATTRIBUTES).flat_map(|(_, _, allowed)| allowed)
    }
}

/// Whether `text` matches `pattern`, in which `*` matches anything.
pub fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|text| {
            (0..=text.len()).filter(|&at| text.is_char_boundary(at)).any(|at| matches(rest, &text[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const YAML: &str = r#"
Globals: { Function: { PermissionsBoundary: !Ref Boundary } }
Resources:
  Boundary:
    Type: AWS::IAM::ManagedPolicy
    Properties:
      PolicyDocument:
        Statement:
          - { Effect: Allow, Action: ["dynamodb:GetItem", "dynamodb:Query"], Resource: !GetAtt Table.Arn }
          - { Effect: Allow, Action: "sqs:SendMessage", Resource: !GetAtt Queue.Arn }
          - { Effect: Allow, Action: "kms:Sign", Resource: key }
  Queue: { Type: AWS::SQS::Queue }
  Key:
    Type: AWS::KMS::Key
    Properties:
      KeyPolicy:
        Statement:
          - { Effect: Allow, Action: "kms:DisableKey", Resource: "*" }
          - Effect: Allow
            Action: kms:Sign
            Resource: "*"
            Condition: { ArnLike: { "aws:PrincipalArn": !Sub "arn:aws:iam::000000000000:role/moments-${Stage}-ReadFunctionRole-*" } }
  ReadFunction: &reader
    Type: AWS::Serverless::Function
    Metadata: { BuildProperties: { Binary: read } }
    Properties:
      Policies:
        - Statement:
            - { Effect: Allow, Action: ["dynamodb:GetItem", "dynamodb:Query"], Resource: !GetAtt Table.Arn }
            - Effect: Allow
              Action: kms:Sign
              Resource: key
              Condition:
                StringEquals: { "kms:MessageType": RAW }
                ForAllValues:StringLike: { "dynamodb:LeadingKeys": ["A#*"] }
"#;

    fn need(action: &str, resource: &str, context: &[(&str, &str)]) -> Need {
        let context = context.iter().map(|&(key, value)| (key.to_owned(), BTreeSet::from([value.to_owned()])));
        let (action, resource) = (action.to_owned(), resource.to_owned());
        Need { caller: "read".to_owned(), action, resource, context: context.collect() }
    }

    fn findings_in(yaml: &str, needs: &[Need]) -> Vec<String> {
        let names = [("Table.Arn", "table"), ("Key.Arn", "key"), ("Stage", "test")];
        let names = names.map(|(name, value)| (name.to_owned(), value.to_owned()));
        findings(&yaml.parse().unwrap(), &names.into(), &needs.iter().cloned().collect()).unwrap()
    }

    fn findings_of(needs: &[Need]) -> Vec<String> {
        findings_in(YAML, needs)
    }

    fn all() -> [Need; 3] {
        let raw = [("kms:MessageType", "RAW"), ("dynamodb:LeadingKeys", "A#1")];
        [need("dynamodb:GetItem", "table", &[]), need("dynamodb:Query", "table", &[]), need("kms:Sign", "key", &raw)]
    }

    #[test]
    fn exact_role_has_no_findings() {
        assert_eq!(findings_of(&all()), [""; 0]);
    }

    #[test]
    fn missing_permission_is_found() {
        let digest = [("kms:MessageType", "DIGEST"), ("dynamodb:LeadingKeys", "A#1")];
        let other_row = [("kms:MessageType", "RAW"), ("dynamodb:LeadingKeys", "B#1")];
        for lacking in [
            need("dynamodb:PutItem", "table", &[]),
            need("dynamodb:GetItem", "other", &[]),
            need("kms:Sign", "key", &digest),
            need("kms:Sign", "key", &other_row),
            need("kms:Sign", "key", &[]),
        ] {
            let mut findings = findings_of(&[all().as_slice(), std::slice::from_ref(&lacking)].concat());
            findings.retain(|finding| !finding.starts_with("by the boundary"));
            assert_eq!(findings.len(), 1, "{findings:?}");
            assert!(findings[0].starts_with(&format!("read may not {} on {}", lacking.action, lacking.resource)));
        }
    }

    #[test]
    fn what_the_boundary_or_a_keys_policy_forbids_is_found() {
        let call = all()[2].clone();
        let lacks = |of: &str, with: &str, who: &str| {
            assert!(YAML.contains(of), "{of}");
            let found = findings_in(&YAML.replace(of, with), &all());
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].starts_with(&format!("by the {who}, read may not {} on key", call.action)), "{found:?}");
        };
        lacks(
            r#"{ Effect: Allow, Action: "kms:Sign", Resource: key }"#,
            r#"{ Effect: Allow, Action: "kms:Sign", Resource: other }"#,
            "boundary",
        );
        lacks("ReadFunctionRole-*", "WriteFunctionRole-*", "key's policy");
        lacks("role/moments-${Stage}-Read", "role/moments-staging-Read", "key's policy");
    }

    #[test]
    fn unused_permission_is_found() {
        assert_eq!(findings_of(&all()[..2]), ["read may kms:Sign on key and never does"]);
        assert_eq!(findings_of(&all()[1..]), ["read may dynamodb:GetItem on table and never does"]);
    }

    #[test]
    fn attribute_beside_the_list_and_listed_one_that_is_never_named_are_found() {
        let yaml = YAML.replace(r#"["A#*"] }"#, r#"["A#*"], "dynamodb:Attributes": [pk, name, other] }"#);
        let found = |named: &[&str]| {
            let mut needs = all();
            let named = named.iter().map(|&name| name.to_owned()).collect();
            needs[2].context.insert(ATTRIBUTES.to_owned(), named);
            findings_in(&yaml, &needs)
        };
        assert_eq!(found(&["pk", "name", "other"]), [""; 0]);
        assert_eq!(found(&["pk", "name"]), ["read may name other in kms:Sign on key and never does"]);
        let found = found(&["pk", "name", "other", "power"]);
        assert!(found.iter().any(|finding| finding.starts_with("read may not kms:Sign on key")), "{found:?}");
    }

    #[test]
    fn asterisk_matches_anything() {
        assert!(matches("a*c*", "abcd") && matches("*", "") && matches("a", "a"));
        assert!(!matches("a*c", "abd") && !matches("a", "ab"));
    }
}
