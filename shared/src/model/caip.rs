//! A collection as paths name it, in the words of the Chain Agnostic Improvement Proposals: a network
//! (<https://chainagnostic.org/CAIPs/caip-2>) and an asset on it (<https://chainagnostic.org/CAIPs/caip-19>).

use std::str::FromStr;

use utoipa::IntoParams;

use super::{Address, ChainId, Invalid, schema::text_schema};

/// `eip155:<chain id>`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaipNetwork(pub ChainId);

/// `erc1155:<address>`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaipContract(pub Address);

text_schema!(CaipNetwork, "A chain, as CAIP-2 writes it.", "eip155:8453", pattern = "^eip155:[0-9]{1,19}$");
text_schema!(
    CaipContract,
    "A collection's contract, as CAIP-19 writes it.",
    "erc1155:0x540c18b7f99b3b599c6feb99964498931c211858",
    pattern = "^erc1155:0x[0-9a-fA-F]{40}$",
);

/// How a path names a collection.
#[derive(Clone, Copy, Debug, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct CollectionPath {
    /// The collection's chain.
    pub network: CaipNetwork,
    /// Its contract.
    pub contract: CaipContract,
}

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
    fn only_the_namespaces_of_the_service_are_read() {
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
