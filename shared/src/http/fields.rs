//! Reading values into types. Every wrong field is noted under its dotted path, so that one answer names them all.

use std::{borrow::Cow, cell::RefCell, collections::BTreeSet, ops::RangeInclusive};

use serde_json::{Map, Value};

use super::error::FieldError;
use crate::model::{ChainId, Invalid};

/// A type that is read from several fields. `#[derive(FromFields)]` implements it from the attributes of the schema.
pub trait FromFields: Sized {
    /// Reads every field; `None` if one is wrong.
    fn from_fields(fields: &Fields<'_>) -> Option<Self>;
}

/// A type that is read from one field.
pub trait FromField: Sized {
    /// Reads the field; `None` if it is wrong.
    fn from_field(field: &Field<'_>) -> Option<Self>;
}

/// The chains that a request may name.
pub trait AllowedChains {
    /// Fails for others.
    fn check(&self, chain: ChainId) -> Result<(), Invalid>;
}

/// No chain: for requests that name none.
pub struct NoChains;

/// Any chain: for reads that find nothing on an unknown one.
pub struct AnyChain;

/// The fields of one object.
pub struct Fields<'a> {
    values: &'a Map<String, Value>,
    /// Empty, or ends with a dot.
    path: String,
    reading: Reading<'a>,
}

/// One field, or one entry of a list. A `null` counts as missing, and so does a parameter's empty text.
pub struct Field<'a> {
    value: Option<Cow<'a, Value>>,
    path: String,
    count: RangeInclusive<usize>,
    /// Whether a default takes the place of what wasn't sent.
    is_default: bool,
    reading: Reading<'a>,
}

#[derive(Clone, Copy)]
pub(super) struct Reading<'a> {
    /// Whether numbers are text, too.
    pub is_text: bool,
    pub chains: &'a dyn AllowedChains,
    pub errors: &'a RefCell<Vec<FieldError>>,
    /// Paths of all fields that were asked for.
    pub known: &'a RefCell<BTreeSet<String>>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(values: &'a Map<String, Value>, reading: Reading<'a>) -> Self {
        Self { values, path: String::new(), reading }
    }

    /// The field with this name.
    pub fn field(&self, name: &str) -> Field<'_> {
        let is_missing = |value: &Value| value.is_null() || self.reading.is_text && value == "";
        let value = self.values.get(name).filter(|value| !is_missing(value)).map(Cow::Borrowed);
        let path = format!("{}{name}", self.path);
        self.reading.known.borrow_mut().insert(path.clone());
        Field { value, path, count: 0..=usize::MAX, is_default: false, reading: self.reading }
    }
}

impl Field<'_> {
    /// Replaces a missing value by a default.
    #[must_use]
    pub fn or(mut self, default: Value) -> Self {
        self.is_default = self.value.is_none();
        self.value = self.value.or(Some(Cow::Owned(default)));
        self
    }

    /// Bounds the entries of a list.
    #[must_use]
    pub fn count(mut self, count: RangeInclusive<usize>) -> Self {
        self.count = count;
        self
    }

    /// Reads the field.
    pub fn read<T: FromField>(&self) -> Option<T> {
        T::from_field(self)
    }

    /// A truth value.
    pub fn boolean(&self) -> Option<bool> {
        self.note(self.given()?.as_bool().ok_or(Invalid("must be true or false")))
    }

    /// Whether it was sent, right or wrong.
    pub fn is_given(&self) -> bool {
        self.value.is_some()
    }

    /// Notes an error.
    pub fn refuse(&self, error: &Invalid) {
        self.refuse_in_words(error.to_string());
    }

    fn refuse_in_words(&self, message: String) {
        self.reading.errors.borrow_mut().push(FieldError { field: self.path.clone(), message });
    }

    /// Returns the value, or notes the error.
    pub fn note<T>(&self, found: Result<T, Invalid>) -> Option<T> {
        found.map_err(|error| self.refuse(&error)).ok()
    }

    /// The fields of an object.
    pub fn object(&self) -> Option<Fields<'_>> {
        self.object_with(|| "must be an object".to_owned())
    }

    /// What an object's fields are read into; what isn't one is answered with their names.
    pub fn read_object<T: FromFields>(&self) -> Option<T> {
        T::from_fields(&self.object_with(|| format!("must be an object with {}", self.names_of::<T>()))?)
    }

    fn object_with(&self, otherwise: impl Fn() -> String) -> Option<Fields<'_>> {
        let Value::Object(values) = self.given()? else {
            self.refuse_in_words(otherwise());
            return None;
        };
        Some(Fields { values, path: format!("{}.", self.path), reading: self.reading })
    }

    /// The fields that a type asks an object for.
    fn names_of<T: FromFields>(&self) -> String {
        let (errors, known) = (RefCell::default(), RefCell::default());
        T::from_fields(&Fields::new(&Map::new(), Reading { errors: &errors, known: &known, ..self.reading }));
        known.into_inner().into_iter().collect::<Vec<_>>().join(", ")
    }

    /// The value as sent; a missing one is an error.
    pub fn given(&self) -> Option<&Value> {
        self.note(self.value.as_deref().ok_or(Invalid("is required")))
    }

    pub(super) fn is_default(&self) -> bool {
        self.is_default
    }

    pub(super) fn is_text(&self) -> bool {
        self.reading.is_text
    }

    pub(super) fn allowed(&self, chain: ChainId) -> Option<ChainId> {
        self.note(self.reading.chains.check(chain).map(|()| chain))
    }
}

impl<T: FromField> FromField for Option<T> {
    fn from_field(field: &Field<'_>) -> Option<Self> {
        if field.is_given() { T::from_field(field).map(Some) } else { Some(None) }
    }
}

impl<T: FromField> FromField for Vec<T> {
    fn from_field(field: &Field<'_>) -> Option<Self> {
        let Value::Array(values) = field.given()? else {
            return field.note(Err(Invalid("must be a list")));
        };
        if values.len() < *field.count.start() {
            field.refuse_in_words(format!("has too few entries: give at least {}", field.count.start()));
            return None;
        }
        if values.len() > *field.count.end() {
            field.refuse_in_words(format!("has too many entries: give at most {}", field.count.end()));
            return None;
        }
        let entries = values.iter().enumerate().map(|(index, value)| {
            let (value, path) = (Some(Cow::Borrowed(value)), format!("{}.{index}", field.path));
            Field { value, path, count: 0..=usize::MAX, is_default: false, reading: field.reading }.read()
        });
        // Collected twice, so that every entry is read even if one is wrong.
        entries.collect::<Vec<_>>().into_iter().collect()
    }
}

impl AllowedChains for NoChains {
    fn check(&self, _: ChainId) -> Result<(), Invalid> {
        Err(Invalid("is not a chain that this service serves"))
    }
}

impl AllowedChains for AnyChain {
    fn check(&self, _: ChainId) -> Result<(), Invalid> {
        Ok(())
    }
}
