use serde::{Deserialize, Serialize};

use super::{
    address::Address,
    caip::{CaipContract, CaipNetwork},
    collection::Royalty,
    moment::{ChainId, MomentRef, TokenId},
};

/// What the URI of a moment that was moved has at its end, before the copy in CAIP-19 notation. A fragment, since no
/// reader of the document sends it along: who holds tokens keeps their picture.
const MOVED: &str = "#moved=";

/// A moment on its way into another collection. Sale and supply are those that it has when the transaction is signed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovingMoment {
    /// The chain.
    pub chain: ChainId,
    /// The collection that it leaves.
    pub collection: Address,
    /// Its token there.
    pub token: TokenId,
    /// Metadata URI that it has there; with another one, somebody else was faster.
    pub uri: String,
    /// The collection that it goes to.
    pub to: Address,
    /// That collection's name, which names the market of a timed sale.
    pub to_name: String,
    /// Metadata URI of the copy.
    pub copy_uri: String,
    /// Admins of the token that the copy gets besides the artist's account.
    pub admins: Vec<Address>,
    /// Royalty of the copy.
    pub royalty: Royalty,
    /// Recipient of the protocol's create referral reward; the zero address for nobody.
    pub create_referral: Address,
    /// When the sale of the old one ends, as Unix time in seconds.
    pub ends: u64,
}

impl MovingMoment {
    /// The old one's URI, once it points to its copy.
    pub fn pointing_to(&self, token: TokenId) -> String {
        pointing(&self.uri, &MomentRef { chain: self.chain, collection: self.to, token })
    }
}

/// A metadata URI that points to the moment's copy.
pub fn pointing(uri: &str, copy: &MomentRef) -> String {
    let MomentRef { chain, collection, token } = copy;
    format!("{uri}{MOVED}eip155:{chain}/erc1155:{collection}/{token}")
}

/// The document's own URI, and the copy that it points to, if any.
pub fn split_pointer(uri: &str) -> (&str, Option<MomentRef>) {
    let found = uri.rsplit_once(MOVED).and_then(|(document, place)| Some((document, copy(place)?)));
    found.map_or((uri, None), |(document, copy)| (document, Some(copy)))
}

fn copy(place: &str) -> Option<MomentRef> {
    let mut parts = place.split('/');
    let CaipNetwork(chain) = parts.next()?.parse().ok()?;
    let CaipContract(collection) = parts.next()?.parse().ok()?;
    let token = parts.next()?.parse().ok()?;
    let copy = MomentRef { chain, collection, token };
    parts.next().is_none().then_some(copy).filter(|copy| !copy.is_whole_collection())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointer_is_read_as_it_is_written_and_nothing_else_is_one() {
        let copy = MomentRef {
            chain: ChainId(8453),
            collection: "0x540c18b7f99b3b599c6feb99964498931c211858".parse().unwrap(),
            token: "7".parse().unwrap(),
        };
        for uri in ["ipfs://bafy/1.json", "data:application/json,{}", "https://a.example/x#y", ""] {
            assert_eq!(split_pointer(&pointing(uri, &copy)), (uri, Some(copy)));
        }
        let address = copy.collection;
        for place in [
            "",
            "eip155:8453",
            &format!("eip155:8453/erc1155:{address}"),
            &format!("eip155:8453/erc1155:{address}/0"),
            &format!("eip155:8453/erc1155:{address}/x"),
            &format!("eip155:8453/erc1155:{address}/1/2"),
            &format!("eip155:8453/erc721:{address}/1"),
            &format!("solana:8453/erc1155:{address}/1"),
        ] {
            let uri = format!("ipfs://bafy{MOVED}{place}");
            assert_eq!(split_pointer(&uri), (uri.as_str(), None));
        }
    }
}
