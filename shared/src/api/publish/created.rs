//! The schemas of what a transaction's answer names beside hash and chain; `chain::protocol::created` makes the fields.

use alloy::primitives::B256;
use serde::Serialize;
use utoipa::ToSchema;

use crate::model::{Address, ChainId, TokenId};

/// The created collection, beside hash and chain.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedCollection {
    /// The collection.
    contract_address: Address,
}

/// The created moment, beside hash and chain.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedMoment {
    /// Its collection.
    contract_address: Address,
    /// Its token.
    token_id: TokenId,
}

/// The created moments, beside hash and chain.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedMoments {
    /// Their collection.
    contract_address: Address,
    /// Their tokens, in the order of the request.
    token_ids: Vec<TokenId>,
}

/// A split, with the transaction that created it if it wasn't there.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedSplit {
    /// Its address, which follows from its recipients.
    pub split_address: Address,
    /// Its chain.
    pub chain_id: ChainId,
    /// The transaction; absent if the split was there.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(
        value_type = Option<String>,
        nullable = false,
        pattern = "^0x[0-9a-f]{64}$",
        examples("0x7c1d2f0e5b9a4c3d8e6f7a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f")
    )]
    pub hash: Option<B256>,
}
