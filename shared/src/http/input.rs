use std::{
    cell::RefCell,
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::{Map, Value};

use super::{
    error::{ApiError, FieldError},
    fields::{AllowedChains, Fields, FromFields, NoChains, Reading},
};

/// Filters of services like this one, which it lacks: an answer that seems to be filtered by one would be wrong.
const FOREIGN_FILTERS: [&str; 1] = ["channel"];

/// Fields of bodies that clients of services like this one send, and that need no answer: the sender, whom the credential
/// names here, the channel that a client calls from, and a key's name.
const TOLERATED: [&str; 3] = ["account", "channel", "key_name"];

/// Paths of fields that were sent and that no endpoint read.
pub(super) type Ignored = Arc<Mutex<BTreeSet<String>>>;

/// A query, a path or a JSON object as sent, to be read into a type that derives [`FromFields`].
pub struct Input {
    values: Map<String, Value>,
    is_text: bool,
    /// Fields that can't be read, with the reasons.
    refused: Vec<(String, &'static str)>,
    ignored: Ignored,
}

impl Input {
    /// The fields of a JSON object.
    pub fn of_object(values: Map<String, Value>) -> Self {
        Self { values, is_text: false, refused: Vec::new(), ignored: Ignored::default() }
    }

    /// Parameters of a query or path. A repeated one is an error: nothing says which of its values counts.
    pub(super) fn of_parameters(parameters: impl Iterator<Item = (String, String)>) -> Self {
        let mut input = Self { is_text: true, ..Self::of_object(Map::new()) };
        for (name, value) in parameters {
            if value.contains(char::REPLACEMENT_CHARACTER) {
                input.refused.push((name.clone(), "must be UTF-8, percent-encoded"));
            }
            if input.values.insert(name.clone(), Value::String(value)).is_some() {
                input.refused.push((name, "must be given only once"));
            }
        }
        input
    }

    /// Notes fields that no endpoint reads in `ignored`.
    pub(super) fn noting(self, ignored: &Ignored) -> Self {
        Self { ignored: Arc::clone(ignored), ..self }
    }

    /// Reads a type without chains; 400 with every wrong field, and in a body with every unknown one.
    pub fn read<T: FromFields>(&self) -> Result<T, ApiError> {
        self.read_for(&NoChains)
    }

    /// Reads a type whose chains must be among `chains`; 400 with every wrong field.
    pub fn read_for<T: FromFields>(&self, chains: &dyn AllowedChains) -> Result<T, ApiError> {
        let errors = RefCell::default();
        let value = self.read_into(chains, &errors);
        finish(value, errors)
    }

    /// Reads this body and its path at once; the path's errors come first.
    pub fn read_with<P: FromFields, T: FromFields>(
        &self,
        path: &Self,
        chains: &dyn AllowedChains,
    ) -> Result<(P, T), ApiError> {
        let errors = RefCell::default();
        let (path, value) = (path.read_into(chains, &errors), self.read_into(chains, &errors));
        finish(path.zip(value), errors)
    }

    fn read_into<T: FromFields>(&self, chains: &dyn AllowedChains, errors: &RefCell<Vec<FieldError>>) -> Option<T> {
        let refuse = |field: &str, message: &str| {
            errors.borrow_mut().push(FieldError { field: field.to_owned(), message: message.to_owned() });
        };
        self.refused.iter().for_each(|(field, message)| refuse(field, message));
        let already = errors.borrow().len();
        let known = RefCell::default();
        let value = T::from_fields(&Fields::new(
            &self.values,
            Reading { is_text: self.is_text, chains, errors, known: &known },
        ));
        // What else is wrong with them follows from that.
        let mut place = 0;
        errors.borrow_mut().retain(|error| {
            place += 1;
            place <= already || !self.refused.iter().any(|(field, _)| *field == error.field)
        });
        let known = known.into_inner();
        let mut unknown = BTreeSet::new();
        find_unknown(&self.values, "", &known, &mut unknown);
        for path in &unknown {
            if self.is_text && FOREIGN_FILTERS.contains(&path.as_str()) {
                refuse(path, "is a filter that this service doesn't have");
            } else if !self.is_text && !TOLERATED.contains(&path.as_str()) {
                refuse(path, &not_a_field(path, &known));
            }
        }
        self.ignored.lock().unwrap_or_else(PoisonError::into_inner).append(&mut unknown);
        value
    }
}

/// Collects the paths of fields that aren't `known`. What was read whole has no fields of its own.
fn find_unknown(values: &Map<String, Value>, parent: &str, known: &BTreeSet<String>, unknown: &mut BTreeSet<String>) {
    for (name, value) in values {
        let path = format!("{parent}{name}");
        if !known.contains(&path) {
            unknown.insert(path);
            continue;
        }
        let entries = match value {
            Value::Object(_) => vec![(format!("{path}."), value)],
            Value::Array(entries) => entries.iter().enumerate().map(|(n, v)| (format!("{path}.{n}."), v)).collect(),
            _ => continue,
        };
        for (path, entry) in entries {
            let is_read = known.range(path.clone()..).next().is_some_and(|next| next.starts_with(&path));
            if let Some(fields) = entry.as_object().filter(|_| is_read) {
                find_unknown(fields, &path, known, unknown);
            }
        }
    }
}

/// Words for an unknown field: ignoring `maxSuply` would sell without a limit, for ever.
fn not_a_field(path: &str, known: &BTreeSet<String>) -> String {
    let (parent, name) = path.rsplit_once('.').map_or(("", path), |(parent, name)| (parent, name));
    let beside = known.iter().filter_map(|other| {
        let (other_parent, other) = other.rsplit_once('.').unwrap_or(("", other));
        (other_parent == parent && other != name).then_some(other)
    });
    let given = name.to_lowercase();
    let nearest = beside.map(|other| {
        let known = other.to_lowercase();
        // `price` for `pricePerToken`, `uri` for `newUri`.
        let is_part = given.len() > 2 && (known.starts_with(&given) || known.ends_with(&given));
        let distance = strsim::damerau_levenshtein(&given, &known);
        (distance > (name.len() / 3).max(2), !is_part, distance, other)
    });
    match nearest.min() {
        Some((is_far, is_another, _, other)) if !(is_far && is_another) => {
            format!("is not a field here; did you mean {other}?")
        }
        _ => "is not a field here".to_owned(),
    }
}

fn finish<T>(value: Option<T>, errors: RefCell<Vec<FieldError>>) -> Result<T, ApiError> {
    let errors = errors.into_inner();
    match value {
        Some(value) if errors.is_empty() => Ok(value),
        _ => Err(ApiError::invalid_fields(errors)),
    }
}
