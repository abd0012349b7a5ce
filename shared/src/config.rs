//! Environment variables. A missing or invalid one stops a function at its start, with an error that names it.

use std::{error::Error, str::FromStr, time::Duration};

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
    pub fn new(name: &'static str, reason: impl Into<String>) -> Self {
        Self { name, reason: reason.into() }
    }
}

/// The variable's value; `None` if unset or empty.
pub fn optional(name: &'static str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The variable's value; an error if unset or empty.
pub fn required(name: &'static str) -> Result<String, ConfigError> {
    optional(name).ok_or_else(|| ConfigError { name, reason: "is required and not set".to_owned() })
}

/// The variable's value as a `T`; an error if unset, empty or invalid.
pub fn parsed<T: FromStr<Err: Error>>(name: &'static str) -> Result<T, ConfigError> {
    parse(name, &required(name)?)
}

/// The variable's value, or `default` if unset or empty, as a `T`; an error if invalid.
pub fn parsed_or<T: FromStr<Err: Error>>(name: &'static str, default: &str) -> Result<T, ConfigError> {
    parse(name, optional(name).as_deref().unwrap_or(default))
}

fn parse<T: FromStr<Err: Error>>(name: &'static str, value: &str) -> Result<T, ConfigError> {
    value.parse().map_err(|error: T::Err| ConfigError { name, reason: error.to_string() })
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
