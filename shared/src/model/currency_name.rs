use std::str::FromStr;

use super::invalid::Invalid;

/// A currency's symbol or contract, as a request names it: its chain knows which it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurrencyName(pub String);

impl FromStr for CurrencyName {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Ok(Self(text.to_owned()))
    }
}
