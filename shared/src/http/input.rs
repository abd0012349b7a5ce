use std::cell::RefCell;

use serde_json::{Map, Value};

use super::{
    error::{ApiError, FieldError},
    fields::{AllowedChains, Fields, FromFields, NoChains, Reading},
};

/// A query, a path or a JSON object as sent, to be read into a type that derives [`FromFields`].
pub struct Input {
    values: Map<String, Value>,
    is_text: bool,
    repeated: Vec<String>,
}

impl Input {
    /// The fields of a JSON object.
    pub fn of_object(values: Map<String, Value>) -> Self {
        Self { values, is_text: false, repeated: Vec::new() }
    }

    /// Parameters of a query or path. A repeated one is an error: nothing says which of its values counts.
    pub(super) fn of_parameters(parameters: impl Iterator<Item = (String, String)>) -> Self {
        let mut input = Self { is_text: true, ..Self::of_object(Map::new()) };
        for (name, value) in parameters {
            if input.values.insert(name.clone(), Value::String(value)).is_some() {
                input.repeated.push(name);
            }
        }
        input
    }

    /// Reads a type without chains; 400 with every wrong field.
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
        let repeated =
            |field: &String| FieldError { field: field.clone(), message: "must be given only once".to_owned() };
        errors.borrow_mut().extend(self.repeated.iter().map(repeated));
        T::from_fields(&Fields::new(&self.values, Reading { is_text: self.is_text, chains, errors }))
    }
}

fn finish<T>(value: Option<T>, errors: RefCell<Vec<FieldError>>) -> Result<T, ApiError> {
    let errors = errors.into_inner();
    match value {
        Some(value) if errors.is_empty() => Ok(value),
        _ => Err(ApiError::invalid_fields(errors)),
    }
}
