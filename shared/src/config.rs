//! Reading the environment. A missing or unreadable variable stops a function at its start and names itself.

use std::{error::Error, str::FromStr, time::Duration};

/// A variable that keeps a function from starting.
#[derive(Debug, thiserror::Error)]
#[error("environment variable {name}: {reason}")]
pub struct ConfigError {
    name: &'static str,
    reason: String,
}

impl ConfigError {
    /// A value that can be read but not used, and why.
    pub fn new(name: &'static str, reason: impl Into<String>) -> Self {
        Self { name, reason: reason.into() }
    }
}

/// The variable's value; unset and empty are the same.
pub fn optional(name: &'static str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The variable's value.
///
/// # Errors
/// When it is unset or empty.
pub fn required(name: &'static str) -> Result<String, ConfigError> {
    optional(name).ok_or_else(|| ConfigError { name, reason: "is required and not set".to_owned() })
}

/// The variable's value as a `T`.
///
/// # Errors
/// When it is unset, empty or no `T`.
pub fn parsed<T: FromStr<Err: Error>>(name: &'static str) -> Result<T, ConfigError> {
    parse(name, &required(name)?)
}

/// The variable's value as a `T`, or that of `default` when it is unset or empty.
///
/// # Errors
/// When it is no `T`.
pub fn parsed_or<T: FromStr<Err: Error>>(name: &'static str, default: &str) -> Result<T, ConfigError> {
    parse(name, optional(name).as_deref().unwrap_or(default))
}

fn parse<T: FromStr<Err: Error>>(name: &'static str, value: &str) -> Result<T, ConfigError> {
    value.parse().map_err(|error: T::Err| ConfigError { name, reason: error.to_string() })
}

/// Region, credentials and endpoints of AWS, as every function gets them from its environment.
pub async fn aws() -> aws_config::SdkConfig {
    // The longest request is answered well within API Gateway's 30 seconds, even when a first try hangs.
    let timeouts = aws_config::timeout::TimeoutConfig::builder()
        .connect_timeout(Duration::from_secs(1))
        .operation_attempt_timeout(Duration::from_secs(4))
        .operation_timeout(Duration::from_secs(9))
        .build();
    aws_config::defaults(aws_config::BehaviorVersion::latest()).timeout_config(timeouts).load().await
}
