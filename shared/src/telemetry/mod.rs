//! Logs: a JSON object per line, metrics too. Never a code, a key, a token, an e-mail address or a body.

mod metrics;
pub mod trace;

use std::{
    error::Error,
    fmt::Write,
    sync::atomic::{AtomicBool, Ordering},
};

use tracing::{Metadata, level_filters::LevelFilter};
use tracing_subscriber::{filter::filter_fn, layer::SubscriberExt, util::SubscriberInitExt};

pub use self::metrics::{Metric, count, record};
use crate::config::{self, ConfigError};

static IS_FRESH: AtomicBool = AtomicBool::new(true);

/// Starts logging at `LOG_LEVEL` (default `info`), and metrics in `METRICS_NAMESPACE` if it is set.
pub fn init() -> Result<(), ConfigError> {
    let level: LevelFilter = config::parsed_or("LOG_LEVEL", "info")?;
    // Others' crates log whole requests below INFO, with the codes and tokens in them.
    let is_shown = move |line: &Metadata<'_>| {
        let is_ours = line.file().is_some_and(|file| file.starts_with("shared/") || file.starts_with("functions/"));
        *line.level() <= if is_ours { level } else { level.min(LevelFilter::INFO) }
    };
    tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false)
        .with_target(false)
        .with_max_level(level)
        .finish()
        .with(filter_fn(is_shown))
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
