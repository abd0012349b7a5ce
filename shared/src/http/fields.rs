use std::{cell::RefCell, ops::RangeInclusive, rc::Rc, str::FromStr};

use serde_json::{Map, Number, Value};

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
    /// Whether they come from where everything is text, numbers too.
    is_text: bool,
    /// Where the object is in the request: empty, or a path with a dot at its end.
    path: String,
    /// Shared with the objects inside this one.
    errors: Rc<RefCell<Vec<FieldError>>>,
}

impl Fields {
    /// The fields of a JSON object.
    pub fn from_object(values: Map<String, Value>) -> Self {
        Self { values, is_text: false, path: String::new(), errors: Rc::default() }
    }

    /// The parameters of a query string. One that is given twice is an error: which one was meant?
    pub fn from_query(query: &str) -> Self {
        let mut fields = Self { is_text: true, ..Self::from_object(Map::new()) };
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

    /// A number that must be there.
    pub fn required_number<T: FromStr<Err = Invalid>>(&mut self, name: &str) -> Option<T> {
        self.refuse_if_absent(name);
        self.optional_number(name)
    }

    /// A number that may be missing: a JSON number, or in a query its digits.
    pub fn optional_number<T: FromStr<Err = Invalid>>(&mut self, name: &str) -> Option<T> {
        self.number(name, self.is_text, Invalid("must be a number"))
    }

    /// A number that may be missing and then means `default`.
    pub fn optional_number_or<T: FromStr<Err = Invalid>>(&mut self, name: &str, default: T) -> Option<T> {
        if self.value(name).is_none() { Some(default) } else { self.optional_number(name) }
    }

    /// A number that must be there, and may come exact.
    pub fn required_exact<T: FromStr<Err = Invalid>>(&mut self, name: &str) -> Option<T> {
        self.refuse_if_absent(name);
        self.optional_exact(name)
    }

    /// A number that may be missing: a JSON number, or its digits as text, since the JSON numbers of many languages have
    /// neither 64 bits nor exact decimals.
    pub fn optional_exact<T: FromStr<Err = Invalid>>(&mut self, name: &str) -> Option<T> {
        self.number(name, true, Invalid("must be a number, or its digits as text"))
    }

    /// The same for one that means `default` when it is missing.
    pub fn optional_exact_or<T: FromStr<Err = Invalid>>(&mut self, name: &str, default: T) -> Option<T> {
        if self.value(name).is_none() { Some(default) } else { self.optional_exact(name) }
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
        let path = format!("{}{name}.", self.path);
        Ok(Self { values, is_text: self.is_text, path, errors: Rc::clone(&self.errors) })
    }

    fn number<T: FromStr<Err = Invalid>>(&self, name: &str, may_be_text: bool, refusal: Invalid) -> Option<T> {
        let parsed = match self.value(name)? {
            Value::Number(number) => digits(number).parse(),
            Value::String(digits) if may_be_text => digits.parse(),
            _ => Err(refusal),
        };
        self.note(name, parsed)
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

/// A number as it is written, but a whole one without decimals: to JSON Schema, 1.0 is the integer 1. One that is written
/// with decimals or an exponent has a `f64`'s precision (RFC 8259, section 6); one that is written as digits alone is exact.
fn digits(number: &Number) -> String {
    let whole = number.as_f64().filter(|value| number.is_f64() && value.fract() == 0.0);
    // Adding nothing makes -0 into 0.
    whole.map_or_else(|| number.to_string(), |value| format!("{:.0}", value + 0.0))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::{Address, ChainId, TokenId, Whole};

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
    fn numbers_are_numbers_and_in_a_query_their_digits() {
        let body = json!({"a": 8453, "b": 8453.0, "c": u64::MAX, "d": null, "e": -0.0,
            "text": "8453", "part": 8453.5, "negative": -1, "flag": true,
            "large": 9_007_199_254_740_992.0, "too large": 18_446_744_073_709_551_616.0, "huge": 1e300});
        let mut fields = fields(body);
        for (name, number) in [("a", 8453), ("b", 8453), ("c", u64::MAX), ("e", 0), ("large", 1 << 53)] {
            assert_eq!(fields.required_number(name), Some(ChainId(number)), "{name}");
        }
        assert_eq!(fields.optional_number_or("d", ChainId::DEFAULT), Some(ChainId::DEFAULT));
        let wrong = ["text", "part", "negative", "flag", "too large", "huge"];
        for name in wrong {
            assert_eq!(fields.required_number::<ChainId>(name), None, "{name}");
        }
        assert_eq!(fields.errors.take().len(), wrong.len());
        assert_eq!(Fields::from_query("a=8453").required_number("a"), Some(ChainId::DEFAULT));
    }

    #[test]
    fn exact_numbers_may_be_text() {
        let mut fields = fields(json!({"a": u64::MAX, "b": u64::MAX.to_string(), "c": "1.0", "d": true, "e": null}));
        assert_eq!(fields.required_exact("a"), Some(Whole(u64::MAX)));
        assert_eq!(fields.required_exact("b"), Some(Whole(u64::MAX)));
        assert_eq!((fields.required_exact::<Whole>("c"), fields.required_exact::<Whole>("d")), (None, None));
        assert_eq!(fields.optional_exact_or("e", Whole(7)), Some(Whole(7)));
        assert_eq!(fields.errors.take().len(), 2);
    }
}
