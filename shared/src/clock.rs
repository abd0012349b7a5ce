//! Current time and its text form.

use std::time::{Duration, SystemTime, SystemTimeError, UNIX_EPOCH};

use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// Time since the Unix epoch; fails if the machine's clock is set before 1970.
pub fn now() -> Result<Duration, SystemTimeError> {
    SystemTime::now().duration_since(UNIX_EPOCH)
}

/// Formats a Unix time in seconds as ISO 8601 in UTC, such as `2025-07-24T23:33:20Z`; fails beyond the year 9999.
pub fn iso_8601(unix_seconds: u64) -> Result<String, time::Error> {
    let seconds = i64::try_from(unix_seconds).unwrap_or(i64::MAX);
    Ok(OffsetDateTime::from_unix_timestamp(seconds)?.format(&Rfc3339)?)
}

/// Reads a time such as `2025-07-24T23:33:20Z`, or the beginning of a day such as `2025-07-24`, as Unix seconds.
pub fn unix_seconds(text: &str) -> Option<u64> {
    let text = if text.contains('T') { text.to_owned() } else { format!("{text}T00:00:00Z") };
    OffsetDateTime::parse(&text, &Rfc3339).ok().and_then(|time| u64::try_from(time.unix_timestamp()).ok())
}

/// Like [`iso_8601`], with `+00:00` instead of `Z`, for the fields that are specified so.
pub fn iso_8601_with_offset(unix_seconds: u64) -> Result<String, time::Error> {
    Ok(iso_8601(unix_seconds)?.replace('Z', "+00:00"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn times_are_formatted_as_iso_8601() {
        assert_eq!(super::iso_8601(1_753_400_000).unwrap(), "2025-07-24T23:33:20Z");
        assert_eq!(super::iso_8601_with_offset(1_753_400_000).unwrap(), "2025-07-24T23:33:20+00:00");
        assert!(super::iso_8601(u64::MAX).is_err());
        assert_eq!(super::unix_seconds("2025-07-24T23:33:20Z"), Some(1_753_400_000));
        assert_eq!(super::unix_seconds("1970-01-02"), Some(86_400));
        assert_eq!(super::unix_seconds("tomorrow").or(super::unix_seconds("1969-12-31")), None);
    }
}
