//! What a receipt says was created.

use alloy::{primitives::Address, rpc::types::TransactionReceipt, sol_types::SolEvent};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{
    chain::{
        Chain,
        contracts::native::{Creator1155, CreatorFactory::SetupNewContract},
    },
    model::{self, TokenId},
};

/// The created collection, beside hash and chain.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedCollection {
    /// The collection.
    contract_address: model::Address,
}

/// The created moment, beside hash and chain.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedMoment {
    /// Its collection.
    contract_address: model::Address,
    /// Its token.
    token_id: TokenId,
}

/// The created moments, beside hash and chain.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedMoments {
    /// Their collection.
    contract_address: model::Address,
    /// Their tokens, in the order of the request.
    token_ids: Vec<TokenId>,
}

impl CreatedCollection {
    /// Reads [`CreatedCollection`] from a receipt.
    pub fn find(chain: &Chain, receipt: &TransactionReceipt) -> Option<Map<String, Value>> {
        let mut created = logs::<SetupNewContract>(receipt).filter(|(emitter, _)| *emitter == chain.addresses.factory);
        fields(&Self { contract_address: created.next()?.1.newContract.into() })
    }
}

impl CreatedMoment {
    /// Reads [`CreatedMoment`] from a receipt.
    pub fn find(_: &Chain, receipt: &TransactionReceipt) -> Option<Map<String, Value>> {
        let (contract_address, ids) = created_tokens(receipt)?;
        fields(&Self { contract_address, token_id: *ids.first()? })
    }
}

impl CreatedMoments {
    /// Reads [`CreatedMoments`] from a receipt.
    pub fn find(_: &Chain, receipt: &TransactionReceipt) -> Option<Map<String, Value>> {
        let (contract_address, token_ids) = created_tokens(receipt)?;
        fields(&Self { contract_address, token_ids })
    }
}

fn fields(created: &impl Serialize) -> Option<Map<String, Value>> {
    match serde_json::to_value(created) {
        Ok(Value::Object(fields)) => Some(fields),
        _ => None,
    }
}

/// The collection and ids of the created tokens: all of a transaction are in one collection, in order.
fn created_tokens(receipt: &TransactionReceipt) -> Option<(model::Address, Vec<TokenId>)> {
    let created: Vec<_> =
        logs::<Creator1155::SetupNewToken>(receipt).filter(|(_, token)| !token.tokenId.is_zero()).collect();
    let collection = created.first()?.0;
    Some((collection.into(), created.into_iter().map(|(_, token)| token.tokenId.into()).collect()))
}

fn logs<E: SolEvent>(receipt: &TransactionReceipt) -> impl Iterator<Item = (Address, E)> {
    let logs = receipt.logs().iter().filter(|log| log.topic0() == Some(&E::SIGNATURE_HASH));
    logs.filter_map(|log| Some((log.address(), E::decode_log(&log.inner).ok()?.data)))
}
