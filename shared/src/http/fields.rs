use std::str::FromStr;

use serde_json::{Map, Value};

use super::{ApiError, FieldError};
use crate::model::Invalid;

/// The fields of a query string or of a JSON object, read one by one into types. What is wrong with each is gathered,
/// so that a client hears of all of it at once:
///
/// ```
/// # use shared::{http::{ApiError, Fields}, model::{Address, TokenId}};
/// # fn read(mut fields: Fields) -> Result<(Address, TokenId), ApiError> {
/// let collection = fields.required::<Address>("collectionAddress");
/// let token = fields.required::<TokenId>("tokenId");
/// fields.finish(|| Some((collection?, token?)))
/// # }
/// ```
pub struct Fields {
    values: Map<String, Value>,
    errors: Vec<FieldError>,
}

impl Fields {
    /// The fields of a JSON object.
    pub fn from_object(values: Map<String, Value>) -> Self {
        Self { values, errors: Vec::new() }
    }

    /// The parameters of a query string. One that is given twice is an error: which one was meant?
    pub fn from_query(query: &str) -> Self {
        let mut fields = Self::from_object(Map::new());
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            if fields.values.insert(name.to_string(), Value::String(value.into_owned())).is_some() {
                fields.refuse(&name, Invalid("must be given only once"));
            }
        }
        fields
    }

    /// A text that must be there. `None` when it is missing or wrong, which is then noted.
    pub fn required<T: FromStr<Err = Invalid>>(&mut self, name: &str) -> Option<T> {
        if self.is_absent(name) {
            self.refuse(name, Invalid("is required"));
        }
        self.optional(name)
    }

    /// A text that may be missing; a JSON `null` counts as missing. `None` when it is missing or wrong.
    pub fn optional<T: FromStr<Err = Invalid>>(&mut self, name: &str) -> Option<T> {
        let parsed = match self.values.get(name)? {
            Value::Null => return None,
            Value::String(text) => text.parse(),
            _ => Err(Invalid("must be a string")),
        };
        parsed.map_err(|error| self.refuse(name, error)).ok()
    }

    /// A text that may be missing and then means `default`. `None` when it is wrong, which is then noted.
    pub fn optional_or<T: FromStr<Err = Invalid>>(&mut self, name: &str, default: T) -> Option<T> {
        if self.is_absent(name) { Some(default) } else { self.optional(name) }
    }

    /// Notes what is wrong with a field, found by whoever knows more than its type does.
    pub fn refuse(&mut self, name: &str, error: Invalid) {
        self.errors.push(FieldError { field: name.to_owned(), message: error.to_string() });
    }

    /// Ends the reading. `value` puts the parts together and gives `None` only where one of them was refused.
    ///
    /// # Errors
    /// 400 with every field that was refused.
    pub fn finish<T>(self, value: impl FnOnce() -> Option<T>) -> Result<T, ApiError> {
        match value() {
            Some(value) if self.errors.is_empty() => Ok(value),
            _ => Err(ApiError::invalid_fields(self.errors)),
        }
    }

    fn is_absent(&self, name: &str) -> bool {
        self.values.get(name).is_none_or(Value::is_null)
    }
}
