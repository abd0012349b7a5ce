//! Compares the functions' roles with the recorded calls. A missing permission would only fail in an AWS account, and
//! an unused one would go unnoticed.

use std::collections::{BTreeMap, BTreeSet};

use template::{Statement, Template, resolve_all};

use crate::{Error, recorder::Need};

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
}

/// One line per missing permission and per granted action that was never used. A shared policy's action is used if any
/// of its functions used it. Unknown condition operators are an error.
pub fn findings(template: &Template, names: &Names, needs: &BTreeSet<Need>) -> Result<Vec<String>, Error> {
    let functions = template.functions()?;
    let mut findings = BTreeSet::new();
    for function in &functions {
        let allowances = allowances(function.policies.iter().flatten(), names)?;
        for need in needs.iter().filter(|need| need.caller == function.binary) {
            if !allowances.iter().any(|allowance| allowance.allows(need)) {
                let Need { action, resource, context, .. } = need;
                findings.insert(format!("{} may not {action} on {resource} ({context:?})", function.binary));
            }
        }
        for policy in &function.policies {
            let sharers = functions.iter().filter(|other| other.policies.contains(policy));
            let sharers: BTreeSet<_> = sharers.map(|other| other.binary.as_str()).collect();
            let needs: Vec<_> = needs.iter().filter(|need| sharers.contains(need.caller.as_str())).collect();
            for allowance in allowances_of_single_actions(policy, names)? {
                if !needs.iter().any(|need| allowance.allows(need)) {
                    let who = sharers.iter().copied().collect::<Vec<_>>().join(", ");
                    let (actions, resources) = (allowance.actions.join(", "), allowance.resources.join(", "));
                    findings.insert(format!("{who} may {actions} on {resources} and never does"));
                }
            }
        }
    }
    Ok(findings.into_iter().collect())
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
            _ => Err(format!("template.yaml: unknown condition operator {name}").into()),
        }
    }

    fn holds(self, values: Option<&BTreeSet<String>>, allowed: &[String]) -> bool {
        let mut all = values.into_iter().flatten();
        match self {
            Self::Equals => values.is_some() && all.all(|value| allowed.contains(value)),
            Self::AllEqual => all.all(|value| allowed.contains(value)),
            Self::AllLike => all.all(|value| allowed.iter().any(|pattern| matches(pattern, value))),
        }
    }
}

impl Allowance {
    fn allows(&self, need: &Need) -> bool {
        self.actions.contains(&need.action)
            && self.resources.iter().any(|resource| matches(resource, &need.resource))
            && self.conditions.iter().all(|(operator, key, allowed)| operator.holds(need.context.get(key), allowed))
    }
}

/// Whether `text` matches `pattern`, in which `*` matches anything.
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
            let findings = findings_of(&[all().as_slice(), std::slice::from_ref(&lacking)].concat());
            assert_eq!(findings.len(), 1, "{findings:?}");
            assert!(findings[0].starts_with(&format!("read may not {} on {}", lacking.action, lacking.resource)));
        }
    }

    #[test]
    fn unused_permission_is_found() {
        assert_eq!(findings_of(&all()[..2]), ["read may kms:Sign on key and never does"]);
        assert_eq!(findings_of(&all()[1..]), ["read may dynamodb:GetItem on table and never does"]);
    }

    #[test]
    fn asterisk_matches_anything() {
        assert!(matches("a*c*", "abcd") && matches("*", "") && matches("a", "a"));
        assert!(!matches("a*c", "abd") && !matches("a", "ab"));
    }
}
