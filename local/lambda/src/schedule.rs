//! EventBridge Scheduler: rates, and the events it sends.

use std::{str::FromStr, time::Duration};

use bytes::Bytes;
use serde_json::json;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep, timeout};
use uuid::Uuid;

use crate::{
    account::{ACCOUNT, REGION},
    invocation::Invocation,
    invoker::Invoker,
};

/// A rate expression, such as `rate(5 minutes)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate(pub Duration);

/// Not a rate expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not a rate expression, such as rate(5 minutes)")]
pub struct InvalidRate(String);

impl FromStr for Rate {
    type Err = InvalidRate;

    /// Parses `rate(<value> <unit>)`: a positive number of minutes, hours or days, in the singular only for 1.
    fn from_str(text: &str) -> Result<Self, InvalidRate> {
        let invalid = || InvalidRate(text.to_owned());
        let inner = text.strip_prefix("rate(").and_then(|rest| rest.strip_suffix(')')).ok_or_else(invalid)?;
        let (value, unit) = inner.split_once(' ').ok_or_else(invalid)?;
        let value: u64 = value.parse().map_err(|_| invalid())?;
        let unit = match unit.trim().strip_suffix('s').map_or((unit.trim(), value == 1), |unit| (unit, value > 1)) {
            ("minute", true) => 60,
            ("hour", true) => 3_600,
            ("day", true) => 86_400,
            _ => return Err(invalid()),
        };
        value.checked_mul(unit).map(Duration::from_secs).map(Self).ok_or_else(invalid)
    }
}

/// A schedule of one function.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// The function's name.
    pub function: String,
    /// Payload; `None` for the scheduler's own event.
    pub input: Option<Bytes>,
    /// When it runs.
    pub pace: Pace,
}

/// When a schedule runs.
#[derive(Clone, Copy, Debug)]
pub enum Pace {
    /// At a rate, as an asynchronous invocation, whether or not the last run has ended: as in an account.
    Rate(Rate),
    /// With a pause after each run, or after `patience` if that is less: as often as possible without runs that wait
    /// for each other. A failed run is not retried.
    Pause {
        /// Pause after a run.
        pause: Duration,
        /// Longest wait for a run before the next one starts.
        patience: Duration,
    },
}

pub(crate) async fn run(invoker: Invoker, schedule: Schedule) {
    match schedule.pace {
        Pace::Rate(Rate(period)) => {
            let mut ticks = interval_at(Instant::now() + period, period);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
            loop {
                ticks.tick().await;
                // It fails only for a function that isn't there.
                let _ = invoker.invoke_later(invocation(&schedule));
            }
        }
        Pace::Pause { pause, patience } => loop {
            // Failures are in the function's log; the next run takes up the work.
            let _ = timeout(patience, invoker.invoke(invocation(&schedule))).await;
            sleep(pause).await;
        },
    }
}

fn invocation(schedule: &Schedule) -> Invocation {
    let input = schedule.input.clone().unwrap_or_else(|| event(&schedule.function));
    Invocation::new(&schedule.function, input)
}

/// The event of a schedule without an input.
fn event(name: &str) -> Bytes {
    let now = OffsetDateTime::now_utc().replace_nanosecond(0).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let event = json!({
        "version": "0",
        "id": Uuid::new_v4(),
        "detail-type": "Scheduled Event",
        "source": "aws.scheduler",
        "account": ACCOUNT,
        "time": now.format(&Rfc3339).unwrap_or_default(),
        "region": REGION,
        "resources": [format!("arn:aws:scheduler:{REGION}:{ACCOUNT}:schedule/default/{name}")],
        "detail": "{}",
    });
    event.to_string().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_and_others_refused() {
        for (text, seconds) in [("rate(1 minute)", 60), ("rate(5 minutes)", 300), ("rate(2 hours)", 7_200)] {
            assert_eq!(text.parse(), Ok(Rate(Duration::from_secs(seconds))), "{text}");
        }
        for text in ["rate(0 minutes)", "rate(5 minute)", "rate(1 minutes)", "rate(1 week)", "cron(0 0 * * ? *)", ""] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
    }
}
