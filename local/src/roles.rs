//! Holds the functions' roles against what they were seen to need: a role that lacks something fails in an account and
//! nowhere else, and one that allows more than is used does so unseen.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use template::{Function, Statement, Template, resolve_all};

use crate::{Error, recorder::Need};

type Names = BTreeMap<String, String>;

/// A statement with its references resolved.
#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Allowance {
    actions: Vec<String>,
    resources: Vec<String>,
    /// Operator, key and values.
    conditions: Vec<(String, String, Vec<String>)>,
}

/// What is wrong with the roles, a line each: needs that a role doesn't allow, and actions that it allows and nobody needs.
/// Functions with the same policies count as one where it comes to the latter.
///
/// # Errors
/// When a policy can't be read, or has a condition whose meaning isn't known here.
pub fn findings(template: &Template, names: &Names, needs: &BTreeSet<Need>) -> Result<Vec<String>, Error> {
    let functions = template.functions()?;
    let mut findings = BTreeSet::new();
    for function in &functions {
        let allowances = allowances(function, names)?;
        for need in needs.iter().filter(|need| need.caller == function.binary) {
            let mut is_allowed = false;
            for allowance in &allowances {
                is_allowed |= allowance.allows(need)?;
            }
            if !is_allowed {
                let Need { action, resource, context, .. } = need;
                findings.insert(format!("{} may not {action} on {resource} ({context:?})", function.binary));
            }
        }
        let alike: BTreeSet<&str> = functions
            .iter()
            .filter(|other| other.policies == function.policies)
            .map(|other| other.binary.as_str())
            .collect();
        for allowance in &allowances {
            for action in &allowance.actions {
                let only = Allowance { actions: vec![action.clone()], ..allowance.clone() };
                let mut is_used = false;
                for need in needs.iter().filter(|need| alike.contains(need.caller.as_str())) {
                    is_used |= only.allows(need)?;
                }
                if !is_used {
                    let who = alike.iter().copied().collect::<Vec<_>>().join(", ");
                    findings.insert(format!("{who} may {action} on {} and never does", allowance.resources.join(", ")));
                }
            }
        }
    }
    Ok(findings.into_iter().collect())
}

fn allowances(function: &Function, names: &Names) -> Result<Vec<Allowance>, Error> {
    let allowance = |statement: &Statement| {
        let mut conditions = Vec::new();
        for (operator, keys) in &statement.conditions {
            for (key, values) in keys {
                conditions.push((operator.clone(), key.clone(), resolve_all(values, names)?));
            }
        }
        let resources = resolve_all(&statement.resources, names)?;
        Ok(Allowance { actions: statement.actions.clone(), resources, conditions })
    };
    function.policies.iter().map(allowance).collect()
}

impl Allowance {
    fn allows(&self, need: &Need) -> Result<bool, Error> {
        let applies = self.actions.contains(&need.action)
            && self.resources.iter().any(|resource| matches(resource, &need.resource));
        if !applies {
            return Ok(false);
        }
        for (operator, key, allowed) in &self.conditions {
            let values = need.context.get(key);
            let fits = match operator.as_str() {
                "StringEquals" => values.is_some_and(|values| values.iter().all(|value| allowed.contains(value))),
                "ForAllValues:StringLike" => {
                    values.into_iter().flatten().all(|value| allowed.iter().any(|pattern| matches(pattern, value)))
                }
                _ => return Err(format!("template.yaml: the roles' test knows no condition {operator}").into()),
            };
            if !fits {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Whether a text fits a pattern, in which `*` stands for anything.
fn matches(pattern: &str, text: &str) -> bool {
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
Resources:
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

    fn findings_of(needs: &[Need]) -> Vec<String> {
        let names = BTreeMap::from([("Table.Arn".to_owned(), "table".to_owned())]);
        findings(&YAML.parse().unwrap(), &names, &needs.iter().cloned().collect()).unwrap()
    }

    fn all() -> [Need; 3] {
        let raw = [("kms:MessageType", "RAW"), ("dynamodb:LeadingKeys", "A#1")];
        [need("dynamodb:GetItem", "table", &[]), need("dynamodb:Query", "table", &[]), need("kms:Sign", "key", &raw)]
    }

    #[test]
    fn a_role_that_is_used_and_suffices_is_right() {
        assert_eq!(findings_of(&all()), [""; 0]);
    }

    #[test]
    fn what_a_role_lacks_is_found() {
        let digest = [("kms:MessageType", "DIGEST"), ("dynamodb:LeadingKeys", "A#1")];
        let other_row = [("kms:MessageType", "RAW"), ("dynamodb:LeadingKeys", "B#1")];
        for lacking in [
            need("dynamodb:PutItem", "table", &[]),
            need("dynamodb:GetItem", "other", &[]),
            need("kms:Sign", "key", &digest),
            need("kms:Sign", "key", &other_row),
            need("kms:Sign", "key", &[]),
        ] {
            let findings = findings_of(&[all().as_slice(), std::slice::from_ref(&lacking)].concat());
            assert_eq!(findings.len(), 1, "{findings:?}");
            assert!(findings[0].starts_with(&format!("read may not {} on {}", lacking.action, lacking.resource)));
        }
    }

    #[test]
    fn what_a_role_allows_for_nothing_is_found() {
        assert_eq!(findings_of(&all()[..2]), ["read may kms:Sign on key and never does"]);
        assert_eq!(findings_of(&all()[1..]), ["read may dynamodb:GetItem on table and never does"]);
    }

    #[test]
    fn an_asterisk_stands_for_anything() {
        assert!(matches("a*c*", "abcd") && matches("*", "") && matches("a", "a"));
        assert!(!matches("a*c", "abd") && !matches("a", "ab"));
    }
}
