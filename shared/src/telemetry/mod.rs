//! Logs: a JSON object per line, metrics too. Never a code, a key, a token, an e-mail address or a body.

mod metrics;

use std::{
    error::Error,
    fmt::Write,
    sync::atomic::{AtomicBool, Ordering},
};

use tracing::level_filters::LevelFilter;

pub use self::metrics::{Metric, count, record};
use crate::config::{self, ConfigError};

static IS_FRESH: AtomicBool = AtomicBool::new(true);

/// Starts logging at `LOG_LEVEL` (default `info`), and metrics in `METRICS_NAMESPACE` if it is set.
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

/// True for the first call in a process, that is, for its first request.
pub fn is_cold_start() -> bool {
    IS_FRESH.swap(false, Ordering::Relaxed)
}

/// An error and its sources on one line, separated by colons.
pub fn chain(error: &(dyn Error + Send + Sync)) -> String {
    let mut line = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let _ = write!(line, ": {cause}");
        source = cause.source();
    }
    line
}
