use std::collections::BTreeMap;

use serde_norway::Value;

use crate::resolve::preferred;

/// An allowing statement of a role.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Actions, such as `dynamodb:GetItem`.
    pub actions: Vec<String>,
    /// ARNs, with unresolved references.
    pub resources: Value,
    /// Operator → key → allowed values, with unresolved references.
    pub conditions: BTreeMap<String, BTreeMap<String, Value>>,
}

/// The statements of each policy, a conditional one included. Only inline policies with `Effect: Allow` are supported;
/// `None` for any other.
pub(crate) fn policies(policies: Option<&Value>) -> Option<Vec<Vec<Statement>>> {
    let policies = policies.and_then(Value::as_sequence).into_iter().flatten();
    policies.map(preferred).map(|policy| statements(policy?)).collect()
}

/// The statements of a policy document; `None` if it isn't such a one.
pub(crate) fn statements(document: &Value) -> Option<Vec<Statement>> {
    document.get("Statement")?.as_sequence()?.iter().map(statement).collect()
}

fn statement(value: &Value) -> Option<Statement> {
    if value.get("Effect")?.as_str()? != "Allow" {
        return None;
    }
    let actions = match value.get("Action")? {
        Value::Sequence(actions) => actions.iter().map(|action| action.as_str().map(str::to_owned)).collect(),
        action => action.as_str().map(|action| vec![action.to_owned()]),
    }?;
    let mut conditions = BTreeMap::new();
    for (operator, keys) in value.get("Condition").and_then(Value::as_mapping).into_iter().flatten() {
        let keys = keys.as_mapping()?.iter();
        let keys = keys.map(|(key, allowed)| Some((key.as_str()?.to_owned(), allowed.clone())));
        conditions.insert(operator.as_str()?.to_owned(), keys.collect::<Option<_>>()?);
    }
    Some(Statement { actions, resources: value.get("Resource")?.clone(), conditions })
}
