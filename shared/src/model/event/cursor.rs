use std::{collections::BTreeMap, fmt, str::FromStr, time::Duration};

use crate::model::{
    invalid::Invalid,
    moment::ChainId,
    schema::{text_schema, whole_schema},
    text::{parse_digits, serde_as_text},
};

/// A log of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LogName {
    /// Of a chain.
    Chain(ChainId),
    /// Of what isn't a chain's.
    Service,
}

/// Id of a log; another one when the log is made anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LogId(pub u64);

/// A place in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogPlace {
    /// The log.
    pub log: LogId,
    /// Number of the last event before it, from 1; 0 at the beginning.
    pub number: u64,
}

/// A place in several logs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventCursor(BTreeMap<LogName, LogPlace>);

/// Where a page of events begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventsAfter {
    /// After everything that has happened.
    Latest,
    /// After a page.
    Cursor(EventCursor),
}

/// How long an answer waits for events: 0 to 20 seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait(u64);

text_schema!(
    EventsAfter,
    "Where a page begins: the `next` of the page before, or `latest` for what happens from now on.",
    "latest",
    pattern = r"^(latest|[0-9]{1,19}\.[0-9a-f]{16}\.[0-9]{1,19}(~[0-9]{1,19}\.[0-9a-f]{16}\.[0-9]{1,19}){0,63})$",
);
text_schema!(EventCursor, "A place in the logs.", "8453.5f0f7c398b4e4d1c.1207~0.9a346e2d1b70c8a5.31");
whole_schema!(Wait, "Most seconds to wait for events.", 20, 0, 20);

const SERVICE: &str = "0";
const MOST_LOGS: usize = 64;

impl EventCursor {
    /// The place in a log, if it has one.
    pub fn place(&self, log: LogName) -> Option<LogPlace> {
        self.0.get(&log).copied()
    }

    /// Sets the place in a log.
    pub fn set(&mut self, log: LogName, place: LogPlace) {
        self.0.insert(log, place);
    }
}

impl Wait {
    /// The longest time.
    pub const LONGEST: Duration = Duration::from_secs(20);

    /// The time.
    pub fn time(self) -> Duration {
        Duration::from_secs(self.0)
    }
}

impl FromStr for Wait {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let seconds = parse_digits(text).filter(|seconds| *seconds <= Self::LONGEST.as_secs());
        seconds.map(Self).ok_or(Invalid("must be a whole number of seconds from 0 to 20"))
    }
}

impl FromStr for LogId {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let is_id = text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let id = u64::from_str_radix(text, 16).ok().filter(|_| is_id);
        id.map(Self).ok_or(Invalid("must be 16 hexadecimal digits"))
    }
}

impl fmt::Display for LogId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

serde_as_text!(LogId);

impl fmt::Display for LogName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chain(chain) => chain.fmt(formatter),
            Self::Service => formatter.write_str("service"),
        }
    }
}

impl serde::Serialize for EventCursor {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

fn entry(text: &str) -> Option<(LogName, LogPlace)> {
    let mut parts = text.split('.');
    let (name, log, number) = (parts.next()?, parts.next()?.parse().ok()?, parts.next()?);
    let is_number = |text: &str| (1..=19).contains(&text.len());
    if parts.next().is_some() || !is_number(name) || !is_number(number) {
        return None;
    }
    let name = if name == SERVICE { LogName::Service } else { LogName::Chain(parse_digits(name).map(ChainId)?) };
    Some((name, LogPlace { log, number: parse_digits(number)? }))
}

impl FromStr for EventsAfter {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text == "latest" {
            return Ok(Self::Latest);
        }
        let entries: Option<Vec<_>> = text.split('~').map(entry).collect();
        let entries = entries.filter(|entries| entries.len() <= MOST_LOGS);
        let cursor = entries.map(|entries| EventCursor(entries.into_iter().collect()));
        cursor.map(Self::Cursor).ok_or(Invalid("must be the next of a page, or latest"))
    }
}

impl fmt::Display for EventCursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entry = |(name, place): (&LogName, &LogPlace)| match name {
            LogName::Chain(chain) => format!("{chain}.{}.{}", place.log, place.number),
            LogName::Service => format!("{SERVICE}.{}.{}", place.log, place.number),
        };
        formatter.write_str(&self.0.iter().map(entry).collect::<Vec<_>>().join("~"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_is_written() {
        let text = "10.00000000000000ff.7~8453.5f0f7c398b4e4d1c.1207~0.9a346e2d1b70c8a5.31";
        let Ok(EventsAfter::Cursor(cursor)) = text.parse() else { panic!("{text} was refused") };
        assert_eq!(cursor.to_string(), text);
        assert_eq!(cursor.place(LogName::Chain(ChainId(10))), Some(LogPlace { log: LogId(255), number: 7 }));
        assert_eq!(cursor.place(LogName::Chain(ChainId(1))), None);
        assert_eq!("latest".parse(), Ok(EventsAfter::Latest));
        let long = vec!["1.5f0f7c398b4e4d1c.1"; 65].join("~");
        for text in
            ["", "1", "~", "1.5f0f7c398b4e4d1c", "1.5F0f7c398b4e4d1c.1", "1.5f0f.1", "x.5f0f7c398b4e4d1c.1", &long]
        {
            assert!(text.parse::<EventsAfter>().is_err(), "{text:?} was accepted");
        }
    }
}
