use std::{cell::RefCell, ops::RangeInclusive, rc::Rc, str::FromStr};

use serde_json::{Map, Value};

use super::{ApiError, FieldError};
use crate::model::{Invalid, Page, PageLimit, PageNumber};

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
///
/// Each reading method gives `None` when the field is wrong, or missing where it may not be; that is then noted under
/// the field's dotted path.
pub struct Fields {
    values: Map<String, Value>,
    /// Where the object is in the request: empty, or a path with a dot at its end.
    path: String,
    /// Shared with the objects inside this one.
    errors: Rc<RefCell<Vec<FieldError>>>,
}

impl Fields {
    /// The fields of a JSON object.
    pub fn from_object(values: Map<String, Value>) -> Self {
        Self { values, path: String::new(), errors: Rc::default() }
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

    /// A text that must be there.
    pub fn required<T: FromStr<Err = Invalid>>(&mut self, name: &str) -> Option<T> {
        self.refuse_if_absent(name);
        self.optional(name)
    }

    /// A text that may be missing; a JSON `null` counts as missing.
    pub fn optional<T: FromStr<Err = Invalid>>(&mut self, name: &str) -> Option<T> {
        let parsed = match self.value(name)? {
            Value::String(text) => text.parse(),
            _ => Err(Invalid("must be a string")),
        };
        self.note(name, parsed)
    }

    /// A text that may be missing and then means `default`.
    pub fn optional_or<T: FromStr<Err = Invalid>>(&mut self, name: &str, default: T) -> Option<T> {
        if self.value(name).is_none() { Some(default) } else { self.optional(name) }
    }

    /// A number that must be there, as a JSON number or as its digits in a text.
    pub fn required_number<T: FromStr<Err = Invalid>>(&mut self, name: &str) -> Option<T> {
        self.refuse_if_absent(name);
        self.optional_number(name)
    }

    /// A number that may be missing, as a JSON number or as its digits in a text.
    pub fn optional_number<T: FromStr<Err = Invalid>>(&mut self, name: &str) -> Option<T> {
        let parsed = match self.value(name)? {
            Value::Number(number) => number.to_string().parse(),
            Value::String(digits) => digits.parse(),
            _ => Err(Invalid("must be a number")),
        };
        self.note(name, parsed)
    }

    /// A number that may be missing and then means `default`.
    pub fn optional_number_or<T: FromStr<Err = Invalid>>(&mut self, name: &str, default: T) -> Option<T> {
        if self.value(name).is_none() { Some(default) } else { self.optional_number(name) }
    }

    /// Which page is asked for: `limit`, 20 rows unless given, and `page`, the first unless given.
    pub fn page(&mut self) -> Option<Page> {
        let limit = self.optional_or("limit", PageLimit::DEFAULT);
        let number = self.optional_or("page", PageNumber::FIRST);
        Some(Page { limit: limit?, number: number? })
    }

    /// Whether the field is there, right or wrong.
    pub fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    /// An object that must be there. Its fields' errors join these.
    pub fn object(&mut self, name: &str) -> Option<Self> {
        self.refuse_if_absent(name);
        let inside = self.inside(name, self.value(name)?.clone());
        self.note(name, inside)
    }

    /// A list of objects that must be there, with as many as `count` allows.
    pub fn objects(&mut self, name: &str, count: RangeInclusive<usize>) -> Option<Vec<Self>> {
        let values = self.values_of(name, count)?;
        let inside = values.into_iter().enumerate().map(|(index, value)| {
            let name = format!("{name}.{index}");
            let inside = self.inside(&name, value);
            self.note(&name, inside)
        });
        inside.collect()
    }

    /// A list of texts that must be there, with as many as `count` allows.
    pub fn list<T: FromStr<Err = Invalid>>(&mut self, name: &str, count: RangeInclusive<usize>) -> Option<Vec<T>> {
        let values = self.values_of(name, count)?;
        let entries = values.into_iter().enumerate().map(|(index, value)| {
            let parsed = match value {
                Value::String(text) => text.parse(),
                _ => Err(Invalid("must be a string")),
            };
            self.note(&format!("{name}.{index}"), parsed)
        });
        // Every one is read, so that what is wrong with each is told.
        entries.collect::<Vec<_>>().into_iter().collect()
    }

    /// These fields, with their errors among those of `others`: parameters of a path whose request has a body, say.
    pub fn beside(self, others: &Self) -> Self {
        others.errors.borrow_mut().extend(self.errors.take());
        Self { errors: Rc::clone(&others.errors), ..self }
    }

    /// Notes what is wrong with a field, found by whoever knows more than its type does.
    pub fn refuse(&self, name: &str, error: Invalid) {
        let field = format!("{}{name}", self.path);
        self.errors.borrow_mut().push(FieldError { field, message: error.to_string() });
    }

    /// Ends the reading. `value` puts the parts together and gives `None` only where one of them was refused.
    ///
    /// # Errors
    /// 400 with every field that was refused.
    pub fn finish<T>(self, value: impl FnOnce() -> Option<T>) -> Result<T, ApiError> {
        let value = value();
        let errors = self.errors.take();
        match value {
            Some(value) if errors.is_empty() => Ok(value),
            _ => Err(ApiError::invalid_fields(errors)),
        }
    }

    fn value(&self, name: &str) -> Option<&Value> {
        self.values.get(name).filter(|value| !value.is_null())
    }

    fn values_of(&self, name: &str, count: RangeInclusive<usize>) -> Option<Vec<Value>> {
        self.refuse_if_absent(name);
        let Value::Array(values) = self.value(name)?.clone() else {
            return self.note(name, Err(Invalid("must be a list")));
        };
        if values.len() < *count.start() {
            return self.note(name, Err(Invalid("has too few entries")));
        }
        if values.len() > *count.end() {
            return self.note(name, Err(Invalid("has too many entries")));
        }
        Some(values)
    }

    fn inside(&self, name: &str, value: Value) -> Result<Self, Invalid> {
        let Value::Object(values) = value else { return Err(Invalid("must be an object")) };
        Ok(Self { values, path: format!("{}{name}.", self.path), errors: Rc::clone(&self.errors) })
    }

    fn note<T>(&self, name: &str, parsed: Result<T, Invalid>) -> Option<T> {
        parsed.map_err(|error| self.refuse(name, error)).ok()
    }

    fn refuse_if_absent(&self, name: &str) {
        if !self.has(name) {
            self.refuse(name, Invalid("is required"));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::{Address, ChainId, TokenId};

    fn fields(value: Value) -> Fields {
        let Value::Object(values) = value else { panic!("not an object") };
        Fields::from_object(values)
    }

    #[test]
    fn errors_of_nested_objects_and_lists_have_their_dotted_paths() {
        let mut fields = fields(json!({
            "moment": {"collectionAddress": "0x1", "chainId": "base"},
            "splits": [{"address": 7}, 8],
            "tokens": [],
        }));
        if let Some(mut moment) = fields.object("moment") {
            moment.required::<Address>("collectionAddress");
            moment.required::<TokenId>("tokenId");
            moment.optional_number::<ChainId>("chainId");
        }
        fields.object("contract");
        assert!(fields.objects("splits", 2..=9).is_none());
        assert!(fields.objects("tokens", 1..=9).is_none());
        let errors = fields.errors.take();
        let paths: Vec<_> = errors.iter().map(|error| error.field.as_str()).collect();
        let expected =
            ["moment.collectionAddress", "moment.tokenId", "moment.chainId", "contract", "splits.1", "tokens"];
        assert_eq!(paths, expected);
    }

    #[test]
    fn numbers_are_read_from_numbers_and_from_their_digits() {
        let mut fields =
            fields(json!({"a": 8453, "b": "8453", "c": 8453.0, "d": -1, "e": u64::MAX, "f": true, "g": null}));
        assert_eq!(fields.required_number("a"), Some(ChainId(8453)));
        assert_eq!(fields.required_number("b"), Some(ChainId(8453)));
        assert_eq!(fields.required_number("e"), Some(ChainId(u64::MAX)));
        assert_eq!(fields.optional_number_or("g", ChainId::DEFAULT), Some(ChainId::DEFAULT));
        for wrong in ["c", "d", "f"] {
            assert_eq!(fields.required_number::<ChainId>(wrong), None, "{wrong}");
        }
        assert_eq!(fields.errors.take().len(), 3);
    }
}
