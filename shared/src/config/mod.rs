//! Environment variables. A missing or invalid one stops a function at its start, with an error that names it.

pub mod variables;

use std::{error::Error, str::FromStr, time::Duration};

pub use self::variables::Variable;

/// Why a function can't start, or a worker's run can't go on.
pub type StartError = Box<dyn Error + Send + Sync>;

/// An environment variable that is missing or invalid.
#[derive(Debug, thiserror::Error)]
#[error("environment variable {name}: {reason}")]
pub struct ConfigError {
    name: &'static str,
    reason: String,
}

impl ConfigError {
    /// An error about a value that parses but can't be used.
    pub fn new(variable: &Variable, reason: impl Into<String>) -> Self {
        Self { name: variable.name, reason: reason.into() }
    }
}

/// The variable's value; its default, if any, where it is unset or empty.
pub fn optional(variable: &Variable) -> Option<String> {
    let given = std::env::var(variable.name).ok().filter(|value| !value.is_empty());
    given.or_else(|| variable.default.map(str::to_owned))
}

/// [`optional`]; an error without a value.
pub fn required(variable: &Variable) -> Result<String, ConfigError> {
    optional(variable).ok_or_else(|| ConfigError::new(variable, "is required and not set"))
}

/// [`required`] as a `T`; an error if invalid.
pub fn parsed<T: FromStr<Err: Error>>(variable: &Variable) -> Result<T, ConfigError> {
    required(variable)?.parse().map_err(|error: T::Err| ConfigError::new(variable, error.to_string()))
}

/// AWS region, credentials and endpoints from the environment, with time-outs.
pub async fn aws() -> aws_config::SdkConfig {
    // Keeps the longest request well within API Gateway's 30 seconds, even when a first attempt hangs.
    let timeouts = aws_config::timeout::TimeoutConfig::builder()
        .connect_timeout(Duration::from_secs(1))
        .operation_attempt_timeout(Duration::from_secs(4))
        .operation_timeout(Duration::from_secs(9))
        .build();
    aws_config::defaults(aws_config::BehaviorVersion::latest()).timeout_config(timeouts).load().await
}
