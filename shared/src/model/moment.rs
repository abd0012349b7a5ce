use std::{fmt, str::FromStr};

use alloy::primitives::U256;
use serde::{Deserialize, Serialize};

use super::{
    address::Address,
    amount::Whole,
    invalid::Invalid,
    schema::{DIGITS_256, number_schema, text_schema},
    text::{display_as_field, parse_digits, serde_as_text},
};

/// An EIP-155 chain id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChainId(pub u64);

number_schema!(ChainId, "EIP-155 id of a supported chain.", 8453);

impl ChainId {
    /// Base, for requests that name no chain.
    pub const DEFAULT: Self = Self(8453);
}

impl FromStr for ChainId {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let id = parse_digits(text).filter(|id| *id <= Whole::MOST_SAFE);
        id.map(Self).ok_or(Invalid("must be a chain id: a whole number of at most 9007199254740991"))
    }
}

display_as_field!(ChainId);

/// A token's id in its collection: a 256-bit whole number, printed in decimal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TokenId(U256);

impl FromStr for TokenId {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        parse_digits(text).map(Self).ok_or(Invalid("must be a token id: a whole number from 0 to 2^256 - 1"))
    }
}

display_as_field!(TokenId);

serde_as_text!(TokenId);

text_schema!(
    TokenId,
    "A token's id in its collection: a 256-bit whole number, in decimal digits.",
    "1",
    pattern = DIGITS_256,
);

impl From<U256> for TokenId {
    fn from(id: U256) -> Self {
        Self(id)
    }
}

impl From<TokenId> for U256 {
    fn from(id: TokenId) -> Self {
        id.0
    }
}

/// Identifies a moment: a token of a collection on a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MomentRef {
    /// Chain of the collection.
    pub chain: ChainId,
    /// Contract of the collection.
    pub collection: Address,
    /// Id of the token in the collection.
    pub token: TokenId,
}

impl MomentRef {
    /// All of a collection: permissions of its token 0 are those on every token.
    pub fn whole(chain: ChainId, collection: Address) -> Self {
        Self { chain, collection, token: TokenId::from(U256::ZERO) }
    }

    /// Whether it is all of a collection.
    pub fn is_whole_collection(&self) -> bool {
        self.token.0.is_zero()
    }
}

/// Prints `chain#collection#token`, as in storage keys.
impl fmt::Display for MomentRef {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}#{}#{}", self.chain, self.collection, self.token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_ids_cover_exactly_256_bits() {
        let max = U256::MAX.to_string();
        assert_eq!(max.parse::<TokenId>().unwrap().to_string(), max);
        assert_eq!("0".parse::<TokenId>().unwrap().to_string(), "0");
        assert_eq!("007".parse::<TokenId>().unwrap().to_string(), "7");

        let over = "115792089237316195423570985008687907853269984665640564039457584007913129639936";
        for text in ["", "-1", "+1", "1.5", "1e3", "0x10", "1_000", " 1", "one", over] {
            assert!(text.parse::<TokenId>().is_err(), "{text:?} was accepted");
        }
    }

    #[test]
    fn chain_ids_are_plain_whole_numbers() {
        assert_eq!("8453".parse::<ChainId>().unwrap(), ChainId::DEFAULT);
        for text in ["", "-1", "+8453", "8453.0", "0x2105", "base", "18446744073709551616"] {
            assert!(text.parse::<ChainId>().is_err(), "{text:?} was accepted");
        }
    }
}
