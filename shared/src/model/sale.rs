use std::{fmt, str::FromStr};

use alloy::primitives::{U256, uint};
use serde::{Deserialize, Serialize};

use super::{
    address::Address,
    amount::{Amount, Whole},
    invalid::Invalid,
    schema::text_schema,
    text::serde_as_text,
};

/// A first-hand sale of a moment. Build one only from values that pass the checks below, which follow the contracts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "strategy", rename_all = "snake_case")]
pub enum Sale {
    /// In the chain's own currency; at a price of 0 only the protocol's mint fee is due.
    FixedPrice {
        /// Times, and limit per address.
        terms: SaleTerms,
        /// Price of one token, in wei.
        price: Amount,
    },
    /// In an ERC-20 currency.
    Erc20 {
        /// Times, and limit per address.
        terms: SaleTerms,
        /// Price of one token, in the currency's smallest unit.
        price: Amount,
        /// The currency's contract.
        currency: Address,
    },
    /// At the protocol's fee alone, until enough tokens are collected to open a market.
    Timed {
        /// Start, as Unix time in seconds.
        start: u64,
    },
}

/// Times of a sale, and its limit per address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SaleTerms {
    /// Start, as Unix time in seconds.
    pub start: u64,
    /// End, as Unix time in seconds; 2^64 - 1 for no end.
    pub end: u64,
    /// Most tokens per address; 0 for no limit.
    pub max_per_address: u64,
}

/// A sale strategy, as requests and answers name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaleType {
    /// `fixedPrice`
    FixedPrice,
    /// `erc20Mint`
    Erc20,
    /// `timed`; also parsed from the contract's name, `PartnerTimedSaleStrategy`
    Timed,
    /// `allowlistMint`: to the accounts of a list; of sales that are made, not of those that are asked for
    AllowList,
}

text_schema!(
    SaleType,
    "Sale strategy.",
    "fixedPrice",
    enum_values = ["fixedPrice", "erc20Mint", "timed", "PartnerTimedSaleStrategy", "allowlistMint"],
);

/// Schema of a [`SaleType`] that new moments take: a list needs a moment that is there.
pub struct NewSaleType;

text_schema!(
    NewSaleType,
    "Sale strategy; `PartnerTimedSaleStrategy` is an alias of `timed`.",
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
            "allowlistMint" => Ok(Self::AllowList),
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
            Self::AllowList => "allowlistMint",
        })
    }
}

serde_as_text!(SaleType);

/// A time of a sale, in Unix seconds: before the year 3000, or 2^64 - 1 for none. Later ones are milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SaleTime(pub u64);

impl SaleTime {
    const YEAR_3000: u64 = 32_503_680_000;

    /// Refuses a time that has passed at `now`, in Unix seconds: a new sale would be over.
    pub fn check_future(self, now: u64) -> Result<(), Invalid> {
        if self.0 <= now { Err(Invalid("must be in the future: a sale that has ended sells nothing")) } else { Ok(()) }
    }
}

impl FromStr for SaleTime {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text.parse()? {
            Whole(seconds) if (Self::YEAR_3000..u64::MAX).contains(&seconds) => {
                Err(Invalid("is after the year 3000: give Unix time in seconds, not in milliseconds"))
            }
            Whole(seconds) => Ok(Self(seconds)),
        }
    }
}

/// The fixed-price contract stores a price in 96 bits.
const MAX_FIXED_PRICE: U256 = uint!(0xffffffffffffffffffffffff_U256);

/// The ERC-20 contract refuses a lower price, whose rewards would round to 0.
const MIN_ERC20_PRICE: U256 = uint!(10000_U256);

impl SaleTerms {
    /// Refuses terms that never sell: an end of 0, which contracts take for the past, or one before the start.
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
    /// Refuses a price that the fixed-price contract can't store: 2^96 wei or more.
    pub fn check_fixed_price(price: Amount) -> Result<(), Invalid> {
        if price.0 > MAX_FIXED_PRICE { Err(Invalid("must be less than 2^96 wei")) } else { Ok(()) }
    }

    /// Refuses a price below the ERC-20 contract's minimum, 10000 units.
    pub fn check_erc20_price(price: Amount) -> Result<(), Invalid> {
        if price.0 < MIN_ERC20_PRICE {
            return Err(Invalid("must be at least 10000 for a sale in an ERC-20 currency; use fixedPrice for free"));
        }
        Ok(())
    }
}
