//! What chains of the OP stack take for a transaction's data, beside its gas.

use alloy::primitives::U256;

use crate::chain::{
    chains::Chain,
    contracts::third_party::GasPriceOracle,
    node::{Node, NodeError},
};

/// Most wei for the data of a transaction with so many bytes; 0 on a chain without an oracle. At most two calls.
pub async fn data_fee(node: &Node, chain: &Chain, bytes: usize) -> Result<U256, NodeError> {
    let Some(oracle) = chain.spending.l1_fee_oracle else { return Ok(U256::ZERO) };
    let bound = GasPriceOracle::getL1FeeUpperBoundCall { unsignedTxSize: U256::from(bytes) };
    if let Some(fee) = node.read(oracle, &bound).await? {
        return Ok(fee);
    }
    let fee = GasPriceOracle::getL1FeeCall { data: vec![0xff; bytes].into() };
    Ok(node.read(oracle, &fee).await?.unwrap_or_default())
}
