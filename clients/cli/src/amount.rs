//! Amounts of money as people write them, exactly: whole numbers of the smallest unit, never a float.

use std::{fmt, str::FromStr};

/// A currency of sales.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Currency {
    /// The chain's own.
    Eth,
    Usdc,
}

impl Currency {
    /// Decimals of an amount in the main unit.
    fn decimals(self) -> u32 {
        match self {
            Self::Eth => 18,
            Self::Usdc => 6,
        }
    }

    /// Its symbol, as `GET /chains` names it.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Eth => "ETH",
            Self::Usdc => "USDC",
        }
    }

    /// An amount of the smallest unit, in decimal digits, as people read it.
    pub fn shown(self, amount: &str) -> String {
        shown(amount, self.decimals(), self.symbol())
    }
}

/// An amount of a currency: `0.01eth`, `5 USDC`, or `free`, which is no ETH.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// In the currency's smallest unit: wei, or millionths of a USDC.
    pub amount: u128,
    pub currency: Currency,
}

/// Why a text is no price.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPrice {
    #[error("must be an amount and its currency, such as 0.01eth or 5usdc, or free")]
    Form,
    #[error("must be digits with at most one point, without commas, signs or spaces in between, such as 1000.5usdc")]
    Digits,
    #[error("has too many decimals: {symbol} has {decimals}", symbol = .0.symbol(), decimals = .0.decimals())]
    Decimals(Currency),
    #[error("is too much")]
    TooMuch,
}

impl FromStr for Price {
    type Err = NoPrice;

    fn from_str(text: &str) -> Result<Self, NoPrice> {
        let text = text.trim().to_ascii_lowercase();
        if text == "free" {
            return Ok(Self { amount: 0, currency: Currency::Eth });
        }
        let (number, currency) = if let Some(number) = text.strip_suffix("eth") {
            (number, Currency::Eth)
        } else if let Some(number) = text.strip_suffix("usdc") {
            (number, Currency::Usdc)
        } else {
            return Err(NoPrice::Form);
        };
        let amount = smallest_units(number.trim_end(), currency)?;
        Ok(Self { amount, currency })
    }
}

/// A decimal number of the main unit, in the smallest one.
fn smallest_units(number: &str, currency: Currency) -> Result<u128, NoPrice> {
    let (whole, fraction) = match number.split_once('.') {
        Some((_, "")) => return Err(NoPrice::Digits),
        Some(parts) => parts,
        None => (number, ""),
    };
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !are_digits(whole) || !are_digits(fraction) {
        return Err(NoPrice::Digits);
    }
    let given = u32::try_from(fraction.len()).unwrap_or(u32::MAX);
    let missing = currency.decimals().checked_sub(given).ok_or(NoPrice::Decimals(currency))?;
    let digits: u128 = format!("{whole}{fraction}").parse().map_err(|_| NoPrice::TooMuch)?;
    digits.checked_mul(10_u128.pow(missing)).ok_or(NoPrice::TooMuch)
}

impl fmt::Display for Price {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.currency.shown(&self.amount.to_string()))
    }
}

/// An amount of the smallest unit, in decimal digits, in the main unit: `10000` with 6 decimals is `0.01`.
pub fn shown(amount: &str, decimals: u32, symbol: &str) -> String {
    let decimals = decimals as usize;
    let digits = format!("{amount:0>width$}", width = decimals.saturating_add(1));
    let (whole, fraction) = digits.split_at_checked(digits.len() - decimals).unwrap_or((&digits, ""));
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{whole}{point}{fraction} {symbol}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<(u128, Currency), NoPrice> {
        text.parse::<Price>().map(|price| (price.amount, price.currency))
    }

    #[test]
    fn amounts_are_exact() {
        assert_eq!(parsed("0.01eth"), Ok((10_000_000_000_000_000, Currency::Eth)));
        assert_eq!(parsed("0.000000000000000001 ETH"), Ok((1, Currency::Eth)));
        assert_eq!(parsed("123456789.123456789123456789eth"), Ok((123_456_789_123_456_789_123_456_789, Currency::Eth)));
        assert_eq!(parsed("5usdc"), Ok((5_000_000, Currency::Usdc)));
        assert_eq!(parsed("0.10 USDC"), Ok((100_000, Currency::Usdc)));
        assert_eq!(parsed("free"), Ok((0, Currency::Eth)));
        assert_eq!(parsed("0eth"), Ok((0, Currency::Eth)));
    }

    #[test]
    fn what_could_mean_something_else_is_refused() {
        for text in ["1,000eth", "1,5usdc", "1 000eth", "1_000eth", "-1eth", "+1eth", ".5eth", "5.eth", "eth", "1e3eth"]
        {
            assert_eq!(parsed(text), Err(NoPrice::Digits), "{text}");
        }
        for text in ["1.2.3eth", "0x1eth", "٣eth"] {
            assert_eq!(parsed(text), Err(NoPrice::Digits), "{text}");
        }
        for text in ["", "5", "0.01", "5usd", "5 wei", "5€"] {
            assert_eq!(parsed(text), Err(NoPrice::Form), "{text}");
        }
        assert_eq!(parsed("0.0000001usdc"), Err(NoPrice::Decimals(Currency::Usdc)));
        assert_eq!(parsed(&format!("{}eth", u128::MAX)), Err(NoPrice::TooMuch));
        assert_eq!(parsed(&format!("{}0eth", u128::MAX)), Err(NoPrice::TooMuch));
        assert_eq!(NoPrice::Decimals(Currency::Usdc).to_string(), "has too many decimals: USDC has 6");
    }

    #[test]
    fn amounts_are_shown_as_they_are_given() {
        for text in ["0.01 ETH", "5 USDC", "0 ETH", "1000.5 USDC", "0.000000000000000001 ETH"] {
            assert_eq!(text.parse::<Price>().expect("a price").to_string(), text);
        }
        assert_eq!(Currency::Usdc.shown("10000"), "0.01 USDC");
        assert_eq!(shown("1", 0, "X"), "1 X");
        assert_eq!(shown("", 6, "X"), "0 X");
        assert_eq!(shown("10000000000000000000000000000000000000000", 18, "X"), "10000000000000000000000 X");
    }
}
