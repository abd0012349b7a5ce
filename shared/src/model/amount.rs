use std::{fmt, str::FromStr};

use alloy::primitives::U256;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ObjectBuilder, RefOr, Schema, Type, schema::SchemaType},
};

use super::{
    invalid::Invalid,
    moment::parse_digits,
    schema::{DIGITS_256, text_schema},
    text::serde_as_text,
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

impl fmt::Display for Amount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

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
        Self::described()
            .description(Some("A 64-bit whole number: a JSON number, or decimal digits in a string."))
            .minimum(Some(0))
            .pattern(Some("^([0-9]{1,19}|1[0-7][0-9]{18}|18446744073709551615)$"))
            .examples([0])
            .into()
    }
}

impl Whole {
    pub(crate) fn positive() -> ObjectBuilder {
        let pattern = "^0*([1-9][0-9]{0,18}|1[0-7][0-9]{18}|18446744073709551615)$";
        Self::described().minimum(Some(1)).pattern(Some(pattern)).examples([100])
    }

    fn described() -> ObjectBuilder {
        let types = SchemaType::from_iter([Type::Integer, Type::String]);
        ObjectBuilder::new().schema_type(types).maximum(Some(usize::MAX))
    }
}

impl FromStr for Whole {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        parse_digits(text).map(Self).ok_or(Invalid("must be a whole number from 0 to 18446744073709551615"))
    }
}

/// A share in millionths, parsed from a percentage with at most four decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share(u32);

impl Share {
    /// 100 percent.
    pub const WHOLE: u32 = 1_000_000;

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
