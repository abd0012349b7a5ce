//! Logs: a JSON object per line, metrics too. Never a code, a key, a token, an e-mail address or a body.

mod metrics;
pub mod trace;

use std::{
    error::Error,
    fmt::{self, Write},
    sync::atomic::{AtomicBool, Ordering},
};

use serde_json::json;
use tracing::{Event, Metadata, Subscriber, level_filters::LevelFilter};
use tracing_subscriber::{
    filter::filter_fn,
    fmt::{
        FmtContext, FormatEvent, FormatFields,
        format::{self, Format, Json, JsonFields, Writer},
    },
    layer::SubscriberExt,
    registry::LookupSpan,
    util::SubscriberInitExt,
};

pub use self::metrics::{Metric, count, record};
use crate::config::{self, ConfigError};

static IS_FRESH: AtomicBool = AtomicBool::new(true);

/// Starts logging at `LOG_LEVEL` (default `info`), and metrics in `METRICS_NAMESPACE` if it is set.
pub fn init() -> Result<(), ConfigError> {
    let level: LevelFilter = config::parsed(config::variables::LOG_LEVEL)?;
    // Others' crates log whole requests below INFO, with the codes and tokens in them.
    let is_shown = move |line: &Metadata<'_>| {
        let is_ours = line.file().is_some_and(|file| file.starts_with("shared/") || file.starts_with("functions/"));
        *line.level() <= if is_ours { level } else { level.min(LevelFilter::INFO) }
    };
    tracing_subscriber::fmt()
        .fmt_fields(JsonFields::new())
        .event_format(Versioned::from_env()?)
        .with_max_level(level)
        .finish()
        .with(filter_fn(is_shown))
        .init();
    metrics::init();
    Ok(())
}

/// Lines as JSON objects, with the version that wrote them.
struct Versioned {
    lines: Format<Json>,
    /// What each line begins with.
    opening: String,
}

impl Versioned {
    /// Reads `VERSION` (default `unreleased`).
    fn from_env() -> Result<Self, ConfigError> {
        Ok(Self::new(&config::parsed::<String>(config::variables::VERSION)?))
    }

    fn new(version: &str) -> Self {
        let lines = format::format().json().flatten_event(true).with_current_span(false).with_span_list(false);
        Self { lines: lines.with_target(false), opening: format!("{{\"version\":{},", json!(version)) }
    }
}

impl<S, N> FormatEvent<S, N> for Versioned
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    N: for<'writer> FormatFields<'writer> + 'static,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut line = String::new();
        self.lines.format_event(context, Writer::new(&mut line), event)?;
        writer.write_str(&self.opening)?;
        writer.write_str(line.strip_prefix('{').unwrap_or(&line))
    }
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

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{Arc, Mutex},
    };

    use serde_json::Value;
    use tracing::subscriber::with_default;

    use super::*;

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What `write` logs, by the version `v1-2-gabc`.
    fn logged(write: impl FnOnce()) -> String {
        let log = Log::default();
        let writer = log.clone();
        let lines = tracing_subscriber::fmt().fmt_fields(JsonFields::new()).event_format(Versioned::new("v1-2-gabc"));
        with_default(lines.with_writer(move || writer.clone()).finish(), write);
        let bytes = log.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn each_line_has_the_version_that_wrote_it() {
        let line: Value = serde_json::from_str(&logged(|| tracing::info!(status = 200, "answered"))).unwrap();
        assert_eq!(
            (&line["version"], &line["message"], &line["status"]),
            (&json!("v1-2-gabc"), &json!("answered"), &json!(200))
        );
        assert_eq!(line.as_object().unwrap().keys().filter(|name| *name == "level" || *name == "timestamp").count(), 2);
    }

    #[test]
    fn what_others_wrote_is_one_line_and_one_field() {
        let said = "a\r\n{\"level\":\"ERROR\"}\n\",\"status\":500,\"\u{1b}[2J";
        let text = logged(|| tracing::info!(said, "answered"));
        assert!(!text.trim_end().contains(char::is_control), "{text}");
        let line: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&line["said"], &line["level"], line.get("status")), (&json!(said), &json!("INFO"), None));
    }
}
