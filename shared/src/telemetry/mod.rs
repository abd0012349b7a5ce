//! Logs: one JSON object a line, a message that reads on its own and fields beside it. Never a code, a key, a token, a
//! mail address or a body. Metrics go the same way.

mod metrics;

use std::{
    error::Error,
    fmt::Write,
    sync::atomic::{AtomicBool, Ordering},
};

use tracing::level_filters::LevelFilter;

pub use self::metrics::{Metric, count, record};
use crate::config::{self, ConfigError};

/// Whether nothing was asked of this process yet.
static IS_FRESH: AtomicBool = AtomicBool::new(true);

/// Starts logging at `LOG_LEVEL` (`error`, `warn`, `info`, `debug`, `trace`; default `info`), and collecting metrics in
/// `METRICS_NAMESPACE`.
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
    metrics::init();
    Ok(())
}

/// Whether this is the first time that it is asked, as it is for the first request of a process.
pub fn is_cold_start() -> bool {
    IS_FRESH.swap(false, Ordering::Relaxed)
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
