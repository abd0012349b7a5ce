use std::str::FromStr;

use super::invalid::Invalid;

/// `true` or `false`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag(pub bool);

impl FromStr for Flag {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        text.parse().map(Self).map_err(|_| Invalid("must be true or false"))
    }
}
