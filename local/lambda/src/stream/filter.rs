//! Filter patterns of event source mappings: JSON whose leaves list what a record's value may be.

use std::{fmt, str::FromStr};

use serde_json::{Map, Value};

/// A parsed pattern, such as `{"dynamodb": {"Keys": {"pk": {"S": [{"prefix": "QUEUE#"}]}}}}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern(Fields);

/// Not a pattern, with the part that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is no part of a filter pattern")]
pub struct InvalidPattern(String);

type Fields = Vec<(String, Rule)>;

/// What must hold for a field.
#[derive(Clone, Debug, PartialEq)]
enum Rule {
    /// Rules for the fields of an object.
    Object(Fields),
    /// The value is one of these.
    OneOf(Vec<Test>),
    /// One of these patterns matches the object that the field `$or` stands in.
    Either(Vec<Fields>),
}

#[derive(Clone, Debug, PartialEq)]
enum Test {
    Equal(Value),
    EqualInAnyCase(String),
    Prefix(String),
    Suffix(String),
    Not(Vec<Self>),
    Numeric(Vec<(Comparison, f64)>),
    Exists(bool),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Less,
    AtMost,
    Equal,
    AtLeast,
    More,
}

impl FromStr for Pattern {
    type Err = InvalidPattern;

    fn from_str(text: &str) -> Result<Self, InvalidPattern> {
        let value = serde_json::from_str(text).map_err(|_| InvalidPattern(text.to_owned()))?;
        match value {
            Value::Object(object) => Ok(Self(fields(&object)?)),
            other => Err(invalid(&other)),
        }
    }
}

impl Pattern {
    /// Whether a record matches.
    pub(super) fn matches(&self, record: &Value) -> bool {
        hold(&self.0, Some(record))
    }
}

fn invalid(part: &impl fmt::Display) -> InvalidPattern {
    InvalidPattern(part.to_string())
}

fn fields(object: &Map<String, Value>) -> Result<Fields, InvalidPattern> {
    object.iter().map(|(name, value)| Ok((name.clone(), rule(name, value)?))).collect()
}

fn rule(name: &str, value: &Value) -> Result<Rule, InvalidPattern> {
    match value {
        Value::Array(patterns) if name == "$or" => {
            let either = patterns.iter().map(|pattern| fields(pattern.as_object().ok_or_else(|| invalid(pattern))?));
            Ok(Rule::Either(either.collect::<Result<_, _>>()?))
        }
        Value::Array(tests) if !tests.is_empty() => Ok(Rule::OneOf(tests.iter().map(test).collect::<Result<_, _>>()?)),
        Value::Object(object) if !object.is_empty() => Ok(Rule::Object(fields(object)?)),
        other => Err(invalid(other)),
    }
}

fn test(value: &Value) -> Result<Test, InvalidPattern> {
    let object = match value {
        Value::Object(object) => object,
        Value::Array(_) => return Err(invalid(value)),
        scalar => return Ok(Test::Equal(scalar.clone())),
    };
    let mut operators = object.iter();
    let (Some((operator, operand)), None) = (operators.next(), operators.next()) else { return Err(invalid(value)) };
    let text = || operand.as_str().map(str::to_owned).ok_or_else(|| invalid(value));
    match operator.as_str() {
        "prefix" => Ok(Test::Prefix(text()?)),
        "suffix" => Ok(Test::Suffix(text()?)),
        "equals-ignore-case" => Ok(Test::EqualInAnyCase(text()?)),
        "exists" => operand.as_bool().map(Test::Exists).ok_or_else(|| invalid(value)),
        "anything-but" => match operand {
            Value::Array(values) => Ok(Test::Not(values.iter().map(test).collect::<Result<_, _>>()?)),
            one => Ok(Test::Not(vec![test(one)?])),
        },
        "numeric" => numeric(operand).map(Test::Numeric).ok_or_else(|| invalid(value)),
        _ => Err(invalid(value)),
    }
}

/// Comparisons in pairs: `[">", 0, "<=", 5]`.
fn numeric(operand: &Value) -> Option<Vec<(Comparison, f64)>> {
    let pairs = operand.as_array().filter(|parts| !parts.is_empty())?.chunks(2);
    let pairs = pairs.map(|pair| {
        let [operator, number] = pair else { return None };
        let comparison = match operator.as_str()? {
            "<" => Comparison::Less,
            "<=" => Comparison::AtMost,
            "=" => Comparison::Equal,
            ">=" => Comparison::AtLeast,
            ">" => Comparison::More,
            _ => return None,
        };
        Some((comparison, number.as_f64()?))
    });
    pairs.collect()
}

fn hold(fields: &Fields, value: Option<&Value>) -> bool {
    fields.iter().all(|(name, rule)| {
        let field = value.and_then(|value| value.get(name));
        match rule {
            Rule::Object(fields) => hold(fields, field),
            Rule::OneOf(tests) => tests.iter().any(|test| passes(test, field)),
            Rule::Either(patterns) => patterns.iter().any(|fields| hold(fields, value)),
        }
    })
}

fn passes(test: &Test, value: Option<&Value>) -> bool {
    // Only values count, not objects that hold some.
    let value = value.filter(|value| !value.is_object());
    match (test, value) {
        (Test::Exists(exists), value) => *exists == value.is_some(),
        (test, Some(Value::Array(values))) => values.iter().any(|value| passes(test, Some(value))),
        (Test::Equal(Value::Number(wanted)), Some(Value::Number(number))) => wanted.as_f64() == number.as_f64(),
        (Test::Equal(wanted), Some(value)) => wanted == value,
        (Test::EqualInAnyCase(wanted), Some(Value::String(text))) => wanted.to_lowercase() == text.to_lowercase(),
        (Test::Prefix(prefix), Some(Value::String(text))) => text.starts_with(prefix),
        (Test::Suffix(suffix), Some(Value::String(text))) => text.ends_with(suffix),
        (Test::Not(tests), Some(value)) => !tests.iter().any(|test| passes(test, Some(value))),
        (Test::Numeric(comparisons), Some(Value::Number(number))) => number.as_f64().is_some_and(|number| {
            comparisons.iter().all(|(comparison, bound)| match comparison {
                Comparison::Less => number < *bound,
                Comparison::AtMost => number <= *bound,
                Comparison::Equal => number == *bound,
                Comparison::AtLeast => number >= *bound,
                Comparison::More => number > *bound,
            })
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn matches(pattern: Value) -> bool {
        let record = json!({
            "eventName": "MODIFY",
            "dynamodb": {
                "Keys": {"pk": {"S": "QUEUE#7"}, "sk": {"N": "12"}},
                "NewImage": {"status": {"S": "queued"}, "flag": {"BOOL": true}, "tags": {"SS": ["a", "b"]}, "none": {"NULL": true}},
                "SizeBytes": 59,
            },
        });
        pattern.to_string().parse::<Pattern>().unwrap().matches(&record)
    }

    #[test]
    fn values_are_matched_exactly_and_by_each_operator() {
        let key = |test: Value| json!({"dynamodb": {"Keys": {"pk": {"S": [test]}}}});
        let size = |test: Value| json!({"dynamodb": {"SizeBytes": [test]}});
        for (pattern, expected) in [
            (key(json!("QUEUE#7")), true),
            (key(json!("queue#7")), false),
            (key(json!({"equals-ignore-case": "queue#7"})), true),
            (key(json!({"prefix": "QUEUE#"})), true),
            (key(json!({"prefix": "#"})), false),
            (key(json!({"suffix": "#7"})), true),
            (key(json!({"anything-but": "QUEUE#7"})), false),
            (key(json!({"anything-but": ["a", "b"]})), true),
            (key(json!({"anything-but": {"prefix": "QUEUE#"}})), false),
            (key(json!({"exists": true})), true),
            (size(json!(59.0)), true),
            (size(json!({"numeric": [">", 58, "<=", 59]})), true),
            (size(json!({"numeric": ["<", 59]})), false),
            (size(json!({"numeric": ["=", 59]})), true),
            (json!({"dynamodb": {"NewImage": {"flag": {"BOOL": [true]}}}}), true),
            (json!({"dynamodb": {"NewImage": {"tags": {"SS": ["b"]}}}}), true),
            (json!({"eventName": ["INSERT", "MODIFY"]}), true),
            (json!({"eventName": ["REMOVE"]}), false),
        ] {
            assert_eq!(matches(pattern.clone()), expected, "{pattern}");
        }
    }

    #[test]
    fn numbers_of_items_are_texts_and_no_numeric_test_matches_them() {
        assert!(matches(json!({"dynamodb": {"Keys": {"sk": {"N": ["12"]}}}})));
        assert!(!matches(json!({"dynamodb": {"Keys": {"sk": {"N": [{"numeric": [">", 0]}]}}}})));
    }

    #[test]
    fn missing_values_match_only_exists_false() {
        let lacking = |test: Value| json!({"dynamodb": {"OldImage": {"status": {"S": [test]}}}});
        assert!(matches(lacking(json!({"exists": false}))));
        for test in [json!("x"), json!({"exists": true}), json!({"anything-but": "x"}), json!(null)] {
            assert!(!matches(lacking(test.clone())), "{test}");
        }
        assert!(!matches(json!({"dynamodb": {"NewImage": {"status": {"S": [{"exists": false}]}}}})));
    }

    #[test]
    fn all_fields_must_match_and_one_pattern_of_or() {
        let status = json!({"status": {"S": ["queued"]}});
        assert!(matches(json!({"eventName": ["MODIFY"], "dynamodb": {"NewImage": status}})));
        assert!(!matches(json!({"eventName": ["INSERT"], "dynamodb": {"NewImage": status}})));
        assert!(matches(json!({"$or": [{"eventName": ["INSERT"]}, {"dynamodb": {"NewImage": status}}]})));
        assert!(!matches(json!({"$or": [{"eventName": ["INSERT"]}, {"eventName": ["REMOVE"]}]})));
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for text in [
            "",
            "[]",
            "7",
            r#"{"a": "b"}"#,
            r#"{"a": []}"#,
            r#"{"a": {}}"#,
            r#"{"a": [{"like": "b"}]}"#,
            r#"{"a": [{"prefix": 1}]}"#,
            r#"{"a": [{"numeric": [">"]}]}"#,
            r#"{"a": [{"numeric": ["~", 1]}]}"#,
            r#"{"a": [{"exists": "yes"}]}"#,
            r#"{"a": [["b"]]}"#,
            r#"{"$or": [1]}"#,
        ] {
            assert!(text.parse::<Pattern>().is_err(), "{text}");
        }
    }
}
