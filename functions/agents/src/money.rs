//! Sums as people write them: `0.01 ETH`, `5 USDC`, `free`.

use std::str::FromStr;

use serde_json::Value;
use shared::{http::Scalar, model::Invalid};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ObjectBuilder, RefOr, Schema, Type},
};

/// A sum in a currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Money {
    /// Digits before and behind the point.
    whole: String,
    fraction: String,
    /// In capitals; empty for nothing.
    symbol: String,
}

/// A sum in a chain's currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sum {
    /// In the currency's smallest unit.
    pub units: String,
    /// The currency's contract; `None` for the chain's own.
    pub currency: Option<String>,
}

const WRONG: Invalid = Invalid("must be a sum such as 0.01 ETH or 5 USDC, or free");

impl FromStr for Money {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let text = text.trim();
        if text.eq_ignore_ascii_case("free") {
            return Ok(Self { whole: "0".to_owned(), fraction: String::new(), symbol: String::new() });
        }
        let (number, symbol) = text.split_once(' ').ok_or(WRONG)?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let is_number = |digits: &str| digits.len() <= 30 && digits.bytes().all(|digit| digit.is_ascii_digit());
        let symbol = symbol.trim().to_ascii_uppercase();
        let is_symbol = (2..=8).contains(&symbol.len()) && symbol.bytes().all(|letter| letter.is_ascii_alphanumeric());
        if whole.is_empty() || !is_number(whole) || !is_number(fraction) || number.ends_with('.') || !is_symbol {
            return Err(WRONG);
        }
        Ok(Self { whole: whole.to_owned(), fraction: fraction.to_owned(), symbol })
    }
}

impl Scalar for Money {}

impl ToSchema for Money {}

impl PartialSchema for Money {
    fn schema() -> RefOr<Schema> {
        let schema = ObjectBuilder::new().schema_type(Type::String).examples(["0.01 ETH"]);
        schema.description(Some("A sum with its currency, such as `0.01 ETH` or `5 USDC`; `free` for nothing.")).into()
    }
}

impl Money {
    /// The sum in one of a chain's currencies, as `GET /chains` lists them.
    pub fn on(&self, chain: &Value) -> Result<Sum, Invalid> {
        let currencies = chain["currencies"].as_array().map(Vec::as_slice).unwrap_or_default();
        if self.symbol.is_empty() {
            return Ok(Sum { units: "0".to_owned(), currency: None });
        }
        let (place, currency) = (currencies.iter().enumerate())
            .find(|(_, currency)| currency["symbol"].as_str() == Some(&self.symbol))
            .ok_or(Invalid("must be in a currency of the chain: list_chains names them"))?;
        let decimals = currency["decimals"].as_u64().and_then(|it| usize::try_from(it).ok()).unwrap_or_default();
        if self.fraction.len() > decimals {
            return Err(Invalid("has more decimals than its currency"));
        }
        let units = format!("{}{:0<decimals$}", self.whole, self.fraction);
        let units = units.trim_start_matches('0');
        Ok(Sum {
            units: if units.is_empty() { "0" } else { units }.to_owned(),
            currency: (place > 0).then(|| currency["address"].as_str().unwrap_or_default().to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn on_base(text: &str) -> Result<Sum, Invalid> {
        let chain = json!({"currencies": [
            {"symbol": "ETH", "decimals": 18, "address": "0x0"}, {"symbol": "USDC", "decimals": 6, "address": "0xusdc"},
        ]});
        text.parse::<Money>()?.on(&chain)
    }

    #[test]
    fn sums_are_read_to_the_last_unit() {
        for (text, units, currency) in [
            ("free", "0", None),
            ("0 ETH", "0", None),
            ("0.01 ETH", "10000000000000000", None),
            (" 1 eth ", "1000000000000000000", None),
            ("0.000000000000000001 ETH", "1", None),
            ("5 USDC", "5000000", Some("0xusdc")),
            ("1000.5 usdc", "1000500000", Some("0xusdc")),
        ] {
            let expected = Sum { units: units.to_owned(), currency: currency.map(str::to_owned) };
            assert_eq!(on_base(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_refused() {
        for text in [
            "",
            "5",
            "ETH",
            "1,000 USDC",
            "0,5 ETH",
            "1. ETH",
            ".5 ETH",
            "-1 ETH",
            "1e3 ETH",
            "5 DAI",
            "0.0000001 USDC",
        ] {
            assert!(on_base(text).is_err(), "{text}");
        }
    }
}
