use std::collections::BTreeMap;

use serde_norway::Value;

use crate::{TemplateError, scalar};

/// The reference that means no value.
const NO_VALUE: &str = "AWS::NoValue";

/// A value as text, with `!Ref`, `!GetAtt`, `!Sub`, `!Join` and `!If` resolved by `names`: `Name` for `!Ref Name`,
/// `Name.Attribute` for an attribute; conditions come from [`Template::names`](crate::Template::names).
pub fn resolve(value: &Value, names: &BTreeMap<String, String>) -> Result<String, TemplateError> {
    let unresolved = || TemplateError::Unresolved(format!("{value:?}"));
    let value = chosen(value, names)?.ok_or_else(unresolved)?;
    let look_up = |name: &str| names.get(name).cloned().ok_or_else(|| TemplateError::Unresolved(name.to_owned()));
    let Value::Tagged(tagged) = value else { return scalar(value).ok_or_else(unresolved) };
    let text = || tagged.value.as_str().ok_or_else(unresolved);
    match tagged.tag.to_string().as_str() {
        "!Ref" | "!GetAtt" => look_up(text()?),
        "!Sub" => {
            let mut parts = text()?.split("${");
            let mut text = parts.next().unwrap_or_default().to_owned();
            for part in parts {
                let (name, rest) = part.split_once('}').ok_or_else(unresolved)?;
                text += &look_up(name)?;
                text += rest;
            }
            Ok(text)
        }
        "!Join" => {
            let [separator, list] = arguments(value)? else { return Err(unresolved()) };
            Ok(resolve_all(list, names)?.join(separator.as_str().ok_or_else(unresolved)?))
        }
        _ => Err(unresolved()),
    }
}

/// A list of values, a `!Split` or a single value as texts, without those that resolve to `AWS::NoValue`.
pub fn resolve_all(value: &Value, names: &BTreeMap<String, String>) -> Result<Vec<String>, TemplateError> {
    match chosen(value, names)? {
        None => Ok(Vec::new()),
        Some(value @ Value::Tagged(tagged)) if tagged.tag == "!Split" => {
            let unresolved = || TemplateError::Unresolved(format!("{value:?}"));
            let [separator, list] = arguments(value)? else { return Err(unresolved()) };
            let (separator, list) = (separator.as_str().ok_or_else(unresolved)?, resolve(list, names)?);
            Ok(list.split(separator).map(str::to_owned).collect())
        }
        Some(Value::Sequence(values)) => {
            let lists = values.iter().map(|value| resolve_all(value, names));
            Ok(lists.collect::<Result<Vec<_>, _>>()?.concat())
        }
        Some(value) => Ok(vec![resolve(value, names)?]),
    }
}

/// Key of a condition's outcome in `names`.
pub(crate) fn condition_key(name: &str) -> String {
    format!("condition {name}")
}

/// Outcome of a condition that was evaluated before.
pub(crate) fn holds(name: &str, names: &BTreeMap<String, String>) -> Result<bool, TemplateError> {
    let key = condition_key(name);
    names.get(&key).map(|outcome| outcome == "true").ok_or(TemplateError::Unresolved(key))
}

/// Evaluates a condition. The conditions that it refers to must have been evaluated before.
pub(crate) fn evaluate(condition: &Value, names: &BTreeMap<String, String>) -> Result<bool, TemplateError> {
    let unresolved = || TemplateError::Unresolved(format!("{condition:?}"));
    let Value::Tagged(tagged) = condition else { return Err(unresolved()) };
    match tagged.tag.to_string().as_str() {
        "!Condition" => holds(tagged.value.as_str().ok_or_else(unresolved)?, names),
        "!Equals" => match arguments(condition)? {
            [left, right] => Ok(resolve(left, names)? == resolve(right, names)?),
            _ => Err(unresolved()),
        },
        "!Not" => match arguments(condition)? {
            [condition] => Ok(!evaluate(condition, names)?),
            _ => Err(unresolved()),
        },
        "!And" => {
            let parts = arguments(condition)?.iter().map(|part| evaluate(part, names));
            Ok(parts.collect::<Result<Vec<_>, _>>()?.into_iter().all(|holds| holds))
        }
        "!Or" => {
            let parts = arguments(condition)?.iter().map(|part| evaluate(part, names));
            Ok(parts.collect::<Result<Vec<_>, _>>()?.into_iter().any(|holds| holds))
        }
        _ => Err(unresolved()),
    }
}

/// The value after `!If`; `None` for `AWS::NoValue`.
pub fn chosen<'a>(value: &'a Value, names: &BTreeMap<String, String>) -> Result<Option<&'a Value>, TemplateError> {
    match value {
        Value::Tagged(tagged) if tagged.tag == "!Ref" && tagged.value.as_str() == Some(NO_VALUE) => Ok(None),
        Value::Tagged(tagged) if tagged.tag == "!If" => {
            let unresolved = || TemplateError::Unresolved(format!("{value:?}"));
            let [condition, then, otherwise] = arguments(value)? else { return Err(unresolved()) };
            let holds = holds(condition.as_str().ok_or_else(unresolved)?, names)?;
            chosen(if holds { then } else { otherwise }, names)
        }
        _ => Ok(Some(value)),
    }
}

/// A value, or the first of an `!If`.
pub(crate) fn preferred(value: &Value) -> Option<&Value> {
    match value {
        Value::Tagged(tagged) if tagged.tag == "!If" => tagged.value.get(1).and_then(preferred),
        value => Some(value),
    }
}

fn arguments(value: &Value) -> Result<&[Value], TemplateError> {
    match value {
        Value::Tagged(tagged) => tagged.value.as_sequence().map(Vec::as_slice),
        _ => None,
    }
    .ok_or_else(|| TemplateError::Unresolved(format!("{value:?}")))
}
