//! Times as people write them.

use std::str::FromStr;

use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// A point in time, in Unix seconds: RFC 3339, such as `2026-12-24T18:00:00+01:00`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instant(pub u32);

/// A text is no time.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a time with its offset from 1970 to 2106, such as 2026-12-24T18:00:00Z or 2026-12-24T19:00:00+01:00")]
pub struct NoInstant;

impl FromStr for Instant {
    type Err = NoInstant;

    fn from_str(text: &str) -> Result<Self, NoInstant> {
        let time = OffsetDateTime::parse(text.trim(), &Rfc3339).map_err(|_| NoInstant)?;
        u32::try_from(time.unix_timestamp()).map(Self).map_err(|_| NoInstant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_offset() {
        assert_eq!("2026-12-24T18:00:00Z".parse(), Ok(Instant(1_798_135_200)));
        assert_eq!("2026-12-24T19:00:00+01:00".parse(), Ok(Instant(1_798_135_200)));
        for wrong in
            ["", "2026-12-24", "2026-12-24T18:00:00", "tomorrow", "1969-12-31T23:59:59Z", "2126-12-24T18:00:00Z"]
        {
            assert_eq!(wrong.parse::<Instant>(), Err(NoInstant), "{wrong}");
        }
    }
}
