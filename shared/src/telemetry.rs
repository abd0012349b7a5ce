//! Logs: one JSON object a line, a message that reads on its own and fields beside it. Never a code, a key, a token, a
//! mail address or a body.

use std::{error::Error, fmt::Write};

use tracing::level_filters::LevelFilter;

use crate::config::{self, ConfigError};

/// Starts logging at `LOG_LEVEL` (`error`, `warn`, `info`, `debug`, `trace`; default `info`).
///
/// # Errors
/// When the level is none of these.
pub fn init() -> Result<(), ConfigError> {
    let level: LevelFilter = config::parsed_or("LOG_LEVEL", "info")?;
    tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false)
        .with_target(false)
        .with_max_level(level)
        .init();
    Ok(())
}

/// An error and everything that it says caused it, on one line.
pub fn chain(error: &(dyn Error + Send + Sync)) -> String {
    let mut line = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let _ = write!(line, ": {cause}");
        source = cause.source();
    }
    line
}
