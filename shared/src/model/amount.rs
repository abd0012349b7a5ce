use std::str::FromStr;

use alloy::primitives::U256;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ObjectBuilder, RefOr, Schema, Type, schema::OneOfBuilder},
};

use super::{
    invalid::Invalid,
    schema::{DIGITS_256, text_schema},
    text::{display_as_field, parse_digits, serde_as_text},
};

/// An amount in a currency's smallest unit, such as wei: a 256-bit whole number, printed in decimal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount(pub U256);

impl FromStr for Amount {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        parse_digits(text).map(Self).ok_or(Invalid("must be an amount in the smallest unit: a whole number, 0 or more"))
    }
}

impl Amount {
    /// The amount in the currency's main unit, which has `places` decimals: exact, without trailing zeros.
    pub fn decimal(self, places: usize) -> String {
        let digits = format!("{:0>width$}", self.0, width = places + 1);
        let (whole, decimals) = digits.split_at(digits.len() - places);
        match decimals.trim_end_matches('0') {
            "" => whole.to_owned(),
            decimals => format!("{whole}.{decimals}"),
        }
    }
}

display_as_field!(Amount);

serde_as_text!(Amount);

text_schema!(
    Amount,
    "An amount in a currency's smallest unit, such as wei, in decimal digits.",
    "1000000000000000",
    pattern = DIGITS_256,
);

/// A 64-bit whole number, such as a Unix time or a number of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Whole(pub u64);

impl ToSchema for Whole {}

impl PartialSchema for Whole {
    fn schema() -> RefOr<Schema> {
        Self::number_or_text(0, 0, "^([0-9]{1,19}|1[0-7][0-9]{18}|18446744073709551615)$")
            .description(Some(
                "A 64-bit whole number: a JSON number up to 2^53 - 1, or decimal digits in a string. The largest, \
                 18446744073709551615, is also read as a number, even one that went through a double.",
            ))
            .into()
    }
}

impl Whole {
    /// Largest integer that every JSON parser reads exactly (RFC 8259, section 6).
    pub const MOST_SAFE: u64 = (1 << 53) - 1;

    pub(crate) fn positive() -> OneOfBuilder {
        Self::number_or_text(1, 100, "^0*([1-9][0-9]{0,18}|1[0-7][0-9]{18}|18446744073709551615)$")
    }

    fn number_or_text(least: usize, example: u64, pattern: &str) -> OneOfBuilder {
        let number = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(least));
        let number = number.maximum(usize::try_from(Self::MOST_SAFE).ok());
        let text = ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern));
        OneOfBuilder::new().item(number).item(text).examples([example])
    }
}

impl FromStr for Whole {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        parse_digits(text).map(Self).ok_or(Invalid("must be a whole number from 0 to 18446744073709551615"))
    }
}

/// A 64-bit whole number in an answer: text, since a double rounds the largest ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WholeText(pub u64);

impl FromStr for WholeText {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        text.parse().map(|Whole(number)| Self(number))
    }
}

display_as_field!(WholeText);

serde_as_text!(WholeText);

text_schema!(
    WholeText,
    "A 64-bit whole number in decimal digits.",
    "18446744073709551615",
    pattern = "^(0|[1-9][0-9]{0,19})$",
);

/// A share in millionths, parsed from a percentage with at most four decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share(u32);

impl Share {
    /// 100 percent.
    pub const WHOLE: u32 = 1_000_000;

    /// A share of so many millionths; `None` outside of 1 to [`Share::WHOLE`].
    pub fn of_millionths(millionths: u32) -> Option<Self> {
        (1..=Self::WHOLE).contains(&millionths).then_some(Self(millionths))
    }

    /// The share in millionths, from 1 to [`Share::WHOLE`].
    pub fn millionths(self) -> u32 {
        self.0
    }
}

impl FromStr for Share {
    type Err = Invalid;

    fn from_str(percent: &str) -> Result<Self, Invalid> {
        const REFUSED: Invalid = Invalid("must be a percentage over 0 and up to 100, with at most 4 decimals");
        let (whole, decimals) = percent.split_once('.').unwrap_or((percent, "0"));
        let significant = decimals.trim_end_matches('0');
        if decimals.is_empty() || significant.len() > 4 || whole.len() > 3 {
            return Err(REFUSED);
        }
        let digits: u32 = parse_digits(&format!("{whole}{significant:0<4}")).ok_or(REFUSED)?;
        if whole.is_empty() || digits == 0 || digits > Self::WHOLE { Err(REFUSED) } else { Ok(Self(digits)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn main_units_are_exact_without_trailing_zeros() {
        let wei = |text: &str| text.parse::<Amount>().unwrap();
        for (amount, places, text) in [
            ("0", 18, "0"),
            ("1", 18, "0.000000000000000001"),
            ("10000000000000000", 18, "0.01"),
            ("10000000000000000000", 18, "10"),
            ("1500000", 6, "1.5"),
            ("1234567", 6, "1.234567"),
            ("120", 0, "120"),
        ] {
            assert_eq!(wei(amount).decimal(places), text);
        }
        assert_eq!(Amount(U256::MAX).decimal(18).len(), 79);
    }

    #[test]
    fn percentages_are_exact_to_four_decimals() {
        for (text, millionths) in [
            ("100", 1_000_000),
            ("50", 500_000),
            ("33.33", 333_300),
            ("0.0001", 1),
            ("12.5000000", 125_000),
            ("7.0", 70_000),
        ] {
            assert_eq!(text.parse::<Share>().unwrap().millionths(), millionths, "{text}");
        }
        for text in ["", "0", "0.00001", "100.0001", "100.0000001", "-1", "1e2", ".5", "5.", "1.2.3", "33,3", "1000"] {
            assert!(text.parse::<Share>().is_err(), "{text:?} was accepted");
        }
    }
}
