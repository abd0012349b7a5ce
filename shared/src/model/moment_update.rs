use serde::{Deserialize, Serialize};

use super::{
    address::Address,
    amount::Amount,
    moment::{MomentRef, TokenId},
    uri::MetadataUri,
};

/// An update of an existing moment. It holds only what the artist asked for: the rest of what its call writes is read
/// from the chain when the transaction is signed, so that updates made at the same time don't undo each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MomentUpdate {
    /// The collection.
    pub collection: Address,
    /// The token; 0 for the whole collection.
    pub token: TokenId,
    /// What changes.
    pub edit: MomentEdit,
}

/// What changes in a moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MomentEdit {
    /// Some fields of its sale. The contract takes a sale as a whole.
    Sale(SaleEdit),
    /// Its metadata URI, which is one value.
    Uri(MetadataUri),
    /// Makes an account an admin. The contract adds the permission's bit and leaves the others.
    GrantAdmin(Address),
    /// Makes an account no admin. The contract removes the permission's bit and leaves the others.
    RevokeAdmin(Address),
}

/// New values of a sale's fields; a field without one keeps the chain's value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SaleEdit {
    /// Price of one token, in the currency's smallest unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Amount>,
    /// Start, as Unix time in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<u64>,
    /// End, as Unix time in seconds; 2^64 - 1 for no end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<u64>,
    /// Most tokens per address; 0 for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_per_address: Option<u64>,
    /// Account that receives the price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub funds_recipient: Option<Address>,
}

impl MomentRef {
    /// An update of this moment.
    pub fn update(&self, edit: MomentEdit) -> MomentUpdate {
        MomentUpdate { collection: self.collection, token: self.token, edit }
    }
}
