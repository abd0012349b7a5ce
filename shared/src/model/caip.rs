use std::str::FromStr;

use super::{address::Address, invalid::Invalid, moment::ChainId, schema::text_schema};

/// A chain, as `eip155:<chain id>` (<https://chainagnostic.org/CAIPs/caip-2>).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaipNetwork(pub ChainId);

/// A collection's contract, as `erc1155:<address>` (<https://chainagnostic.org/CAIPs/caip-19>).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaipContract(pub Address);

text_schema!(CaipNetwork, "A chain in CAIP-2 notation.", "eip155:8453", pattern = "^eip155:[0-9]{1,19}$");
text_schema!(
    CaipContract,
    "A collection's contract in CAIP-19 notation.",
    "erc1155:0x540c18b7f99b3b599c6feb99964498931c211858",
    pattern = "^erc1155:0x[0-9a-fA-F]{40}$",
);

impl FromStr for CaipNetwork {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let id = text.strip_prefix("eip155:").and_then(|id| id.parse().ok());
        id.map(Self).ok_or(Invalid("must be eip155: and a chain id, such as eip155:8453"))
    }
}

impl FromStr for CaipContract {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let address = text.strip_prefix("erc1155:").and_then(|address| address.parse().ok());
        address.map(Self).ok_or(Invalid("must be erc1155: and the collection's address"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_namespaces_are_refused() {
        assert_eq!("eip155:8453".parse(), Ok(CaipNetwork(ChainId(8453))));
        for text in ["", "eip155", "eip155:", "eip155:base", "EIP155:1", "8453", "solana:1", "eip155:1:1"] {
            assert!(text.parse::<CaipNetwork>().is_err(), "{text:?} was accepted");
        }
        let address = "0x540c18b7f99b3b599c6feb99964498931c211858";
        let contract: CaipContract = format!("erc1155:{address}").parse().unwrap();
        assert_eq!(contract.0.to_string(), address);
        for text in ["", address, "erc1155:", "erc1155:0x1", &format!("erc721:{address}"), &format!("{address}/1")] {
            assert!(text.parse::<CaipContract>().is_err(), "{text:?} was accepted");
        }
    }
}
