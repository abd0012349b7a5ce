use std::{fmt, str::FromStr};

use super::{invalid::Invalid, schema::text_schema, text::serde_as_text};

/// An account or contract on an EVM chain, parsed in any letter case and printed in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address(alloy::primitives::Address);

impl Address {
    /// The zero address.
    pub const ZERO: Self = Self(alloy::primitives::Address::ZERO);
}

impl FromStr for Address {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        parse_fixed_hex(text)
            .map(|bytes: [u8; 20]| Self(bytes.into()))
            .ok_or(Invalid("must be an address: 0x and 40 hexadecimal digits"))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:#x}", self.0)
    }
}

serde_as_text!(Address);

text_schema!(
    Address,
    "An account or contract on an EVM chain: accepted in any letter case, answered in lower case.",
    "0x540c18b7f99b3b599c6feb99964498931c211858",
    pattern = "^0x[0-9a-fA-F]{40}$",
);

impl From<alloy::primitives::Address> for Address {
    fn from(address: alloy::primitives::Address) -> Self {
        Self(address)
    }
}

impl From<Address> for alloy::primitives::Address {
    fn from(address: Address) -> Self {
        address.0
    }
}

/// An address that receives money or authority. It isn't zero, and in mixed case it has its EIP-55 checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CheckedAddress(pub Address);

text_schema!(
    CheckedAddress,
    "An address that receives money or authority: not the zero address, and in mixed case with its EIP-55 checksum.",
    "0x540c18b7f99b3b599c6feb99964498931c211858",
    min_length = 42_usize,
    max_length = 42_usize,
    pattern = "^0x[0-9a-fA-F]*[1-9a-fA-F][0-9a-fA-F]*$",
);

impl FromStr for CheckedAddress {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let address: Address = text.parse()?;
        let is_mixed = text[2..].bytes().any(|byte| byte.is_ascii_lowercase())
            && text[2..].bytes().any(|byte| byte.is_ascii_uppercase());
        if is_mixed && address.0.to_checksum(None) != text {
            return Err(Invalid("has a wrong EIP-55 checksum: check the address, or write it in lower case"));
        }
        if address.0.is_zero() { Err(Invalid("must not be the zero address")) } else { Ok(Self(address)) }
    }
}

pub(super) fn parse_fixed_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.strip_prefix("0x")?;
    let mut bytes = [0; N];
    alloy::hex::decode_to_slice(digits, &mut bytes).ok()?;
    // The decoder skips a second `0x`, so the digits are counted.
    (digits.len() == 2 * N).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_letter_case_is_parsed_and_lower_case_printed() {
        for text in [
            "0x540C18B7F99B3B599C6FEB99964498931C211858",
            "0x540c18b7f99b3b599c6feb99964498931c211858",
            "0x540C18B7f99b3b599c6FeB99964498931c211858",
        ] {
            let address: Address = text.parse().unwrap();
            assert_eq!(address.to_string(), text.to_lowercase());
        }
    }

    #[test]
    fn mixed_case_needs_its_checksum_and_zero_is_refused() {
        let right = "0x540C18B7f99b3b599c6FeB99964498931c211858";
        for text in [right, &right.to_lowercase(), &format!("0x{}", right[2..].to_uppercase())] {
            assert!(text.parse::<CheckedAddress>().is_ok(), "{text} was refused");
        }
        let zero = format!("0x{}", "0".repeat(40));
        for text in ["0x540c18B7f99b3b599c6FeB99964498931c211858", &zero, "0x540c"] {
            assert!(text.parse::<CheckedAddress>().is_err(), "{text} was accepted");
        }
    }

    #[test]
    fn invalid_addresses_are_refused() {
        for text in [
            "",
            "0x",
            "540c18b7f99b3b599c6feb99964498931c211858",
            "0x540c18b7f99b3b599c6feb99964498931c21185",
            "0x540c18b7f99b3b599c6feb99964498931c2118588",
            "0x540c18b7f99b3b599c6feb99964498931c21185g",
            "0X540c18b7f99b3b599c6feb99964498931c211858",
            "0x0x40c18b7f99b3b599c6feb99964498931c21185",
            "0x0x540c18b7f99b3b599c6feb99964498931c211858",
            " 0x540c18b7f99b3b599c6feb99964498931c211858",
            "0x540c18b7f99b3b599c6feb99964498931c21185é",
        ] {
            assert!(text.parse::<Address>().is_err(), "{text:?} was accepted");
        }
    }
}
