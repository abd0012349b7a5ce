//! The `Range` header of a request.

/// What a request wants of a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Range {
    /// All of it.
    Whole,
    /// From byte `first` to byte `last`.
    Part {
        /// From 0.
        first: u64,
        /// Included.
        last: u64,
    },
    /// Nothing that the file has.
    Impossible,
}

impl Range {
    /// Reads the `Range` header. A part has at most `most` bytes: clients ask for the rest by themselves (RFC 9110, 15.3.7).
    /// Several ranges and other units count as none.
    pub fn of(header: Option<&str>, size: u64, most: u64) -> Self {
        let parts = || {
            let (first, last) = header?.strip_prefix("bytes=")?.split_once('-')?;
            let number = |text: &str| if text.is_empty() { Some(None) } else { text.trim().parse().ok().map(Some) };
            Some((number(first)?, number(last)?))
        };
        let (first, last) = match parts() {
            None | Some((None, None)) => return Self::Whole,
            Some((Some(first), Some(last))) if last < first => return Self::Whole,
            Some((Some(first), last)) => (first, last.unwrap_or(u64::MAX)),
            Some((None, Some(0))) => return Self::Impossible,
            Some((None, Some(suffix))) => (size.saturating_sub(suffix), u64::MAX),
        };
        if first >= size {
            return Self::Impossible;
        }
        Self::Part { first, last: last.min(size - 1).min(first + (most - 1)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read() {
        let part = |first, last| Range::Part { first, last };
        for (header, expected) in [
            ("bytes=0-", part(0, 9)),
            ("bytes=0-0", part(0, 0)),
            ("bytes=90-", part(90, 99)),
            ("bytes=95-1000", part(95, 99)),
            ("bytes=-5", part(95, 99)),
            ("bytes=-1000", part(0, 9)),
            ("bytes=50-99", part(50, 59)),
            ("bytes=100-", Range::Impossible),
            ("bytes=-0", Range::Impossible),
            ("bytes=5-4", Range::Whole),
            ("bytes=-", Range::Whole),
            ("bytes=0-1,4-5", Range::Whole),
            ("bytes=x-", Range::Whole),
            ("items=0-1", Range::Whole),
            ("bytes=99999999999999999999-", Range::Whole),
        ] {
            assert_eq!(Range::of(Some(header), 100, 10), expected, "{header}");
        }
        assert_eq!(Range::of(None, 100, 10), Range::Whole);
    }
}
