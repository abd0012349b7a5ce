use std::{fmt, str::FromStr};

use super::{invalid::Invalid, schema::text_schema};

/// A place among the rows of a person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportCursor {
    /// Number of the partition.
    pub partition: u8,
    /// Sort key after which it goes on; empty for the partition's beginning.
    pub key: String,
}

text_schema!(
    ExportCursor,
    "Where a page begins: the `Link` of the page before names it.",
    "6:01934b2e-7c1a-7f3e-9d2b-5a6c7d8e9f10",
    pattern = "^[0-9]{1,2}:[!-~]{0,200}$",
);

impl FromStr for ExportCursor {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let (partition, key) = text.split_once(':').unwrap_or_default();
        let is_number = (1..=2).contains(&partition.len()) && partition.bytes().all(|byte| byte.is_ascii_digit());
        let is_key = key.len() <= 200 && key.bytes().all(|byte| byte.is_ascii_graphic());
        match partition.parse() {
            Ok(partition) if is_number && is_key => Ok(Self { partition, key: key.to_owned() }),
            _ => Err(Invalid("must be the after of a next page")),
        }
    }
}

impl fmt::Display for ExportCursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.partition, self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_is_written() {
        for text in ["0:", "6:KEY#1", "12:a:b"] {
            assert_eq!(text.parse::<ExportCursor>().unwrap().to_string(), text);
        }
        for text in ["", "1", ":a", "123:a", "+1:a", "1:a b", "1:é"] {
            assert!(text.parse::<ExportCursor>().is_err(), "{text:?} was accepted");
        }
    }
}
