use std::{fmt, str::FromStr};

use alloy::primitives::{U256, uint};

use super::{Address, Amount, Invalid, schema::text_schema, serde_as_text};

/// How a moment is sold at first hand. Holds only what its strategy's contract can express and would sell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sale {
    /// For the chain's own currency; a price of 0 is free but for the protocol's mint fee.
    FixedPrice {
        /// When, and how many to one address.
        terms: SaleTerms,
        /// Wei for one token.
        price: Amount,
    },
    /// For an ERC-20 currency.
    Erc20 {
        /// When, and how many to one address.
        terms: SaleTerms,
        /// Price of one token, in the currency's smallest unit.
        price: Amount,
        /// The currency's contract.
        currency: Address,
    },
    /// For the protocol's fee alone, until enough were collected to open a market.
    Timed {
        /// Unix time in seconds.
        start: u64,
    },
}

/// When a sale is open, and how many tokens one address can get from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SaleTerms {
    /// Unix time in seconds.
    pub start: u64,
    /// Unix time in seconds; the largest value means for ever.
    pub end: u64,
    /// 0 means as many as one likes.
    pub max_per_address: u64,
}

/// What a request calls a strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaleType {
    /// `fixedPrice`
    FixedPrice,
    /// `erc20Mint`
    Erc20,
    /// `timed`, and the contract's name for it
    Timed,
}

text_schema!(
    SaleType,
    "How a sale goes; `PartnerTimedSaleStrategy` is another word for `timed`.",
    "fixedPrice",
    enum_values = ["fixedPrice", "erc20Mint", "timed", "PartnerTimedSaleStrategy"],
);

impl FromStr for SaleType {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text {
            "fixedPrice" => Ok(Self::FixedPrice),
            "erc20Mint" => Ok(Self::Erc20),
            "timed" | "PartnerTimedSaleStrategy" => Ok(Self::Timed),
            _ => Err(Invalid("must be fixedPrice, erc20Mint, timed or PartnerTimedSaleStrategy")),
        }
    }
}

impl fmt::Display for SaleType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::FixedPrice => "fixedPrice",
            Self::Erc20 => "erc20Mint",
            Self::Timed => "timed",
        })
    }
}

serde_as_text!(SaleType);

/// The fixed-price contract keeps a price in 96 bits.
const MAX_FIXED_PRICE: U256 = uint!(0xffffffffffffffffffffffff_U256);

/// The ERC-20 contract refuses less, since its rewards would round to nothing.
const MIN_ERC20_PRICE: U256 = uint!(10000_U256);

impl SaleTerms {
    /// Whether a contract that sells between two times ever sells.
    ///
    /// # Errors
    /// When `saleEnd` is 0, which it takes for the past, or lies before `saleStart`.
    pub fn check(&self) -> Result<(), Invalid> {
        if self.end == 0 {
            return Err(Invalid(
                "must not be 0: the contract takes it for a sale that is over; give 18446744073709551615 for no end",
            ));
        }
        if self.end < self.start { Err(Invalid("must not be before saleStart")) } else { Ok(()) }
    }
}

impl Sale {
    /// Whether the fixed-price contract can keep this price.
    ///
    /// # Errors
    /// Over 96 bits.
    pub fn check_fixed_price(price: Amount) -> Result<(), Invalid> {
        if price.0 > MAX_FIXED_PRICE { Err(Invalid("must be less than 2^96 wei")) } else { Ok(()) }
    }

    /// Whether the ERC-20 contract takes this price.
    ///
    /// # Errors
    /// Under its minimum.
    pub fn check_erc20_price(price: Amount) -> Result<(), Invalid> {
        if price.0 < MIN_ERC20_PRICE {
            return Err(Invalid("must be at least 10000 for a sale in an ERC-20 currency; use fixedPrice for free"));
        }
        Ok(())
    }
}
