use std::fmt;

use crate::model::{
    address::Address,
    moment::{ChainId, MomentRef},
    transaction::TransactionId,
};

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// A collection.
    Collection(ChainId, Address),
    /// A moment, or with token 0 a whole collection.
    Moment(MomentRef),
    /// An artist's transaction.
    Transaction(TransactionId),
    /// An artist, by the embedded wallet.
    Artist(Address),
}

/// An event's data.
pub(super) trait Concerns {
    /// What it is about.
    fn about(&self) -> About;
    /// The accounts that it concerns; the zero address is nobody's.
    fn accounts(&self) -> Vec<Address>;
}

impl About {
    /// The collection.
    pub fn collection(&self) -> Option<Address> {
        match self {
            Self::Collection(_, collection) => Some(*collection),
            Self::Moment(place) => Some(place.collection),
            Self::Transaction(_) | Self::Artist(_) => None,
        }
    }
}

/// CAIP-19 for what is on a chain (<https://chainagnostic.org/CAIPs/caip-19>), else a path of the service.
impl fmt::Display for About {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Collection(chain, collection) => write!(formatter, "eip155:{chain}/erc1155:{collection}"),
            Self::Moment(place) if place.is_whole_collection() => {
                Self::Collection(place.chain, place.collection).fmt(formatter)
            }
            Self::Moment(MomentRef { chain, collection, token }) => {
                write!(formatter, "eip155:{chain}/erc1155:{collection}/{token}")
            }
            Self::Transaction(id) => write!(formatter, "/transactions/{id}"),
            Self::Artist(address) => write!(formatter, "/artists/{address}"),
        }
    }
}
