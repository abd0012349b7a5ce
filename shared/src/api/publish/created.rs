//! The schemas of what a transaction's answer names beside hash and chain; `chain::protocol::created` makes the fields.

use serde::Serialize;
use utoipa::ToSchema;

use crate::model::{Address, TokenId};

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
