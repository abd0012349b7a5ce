//! Signatures of contract wallets: only the contract itself can tell whether one is its own (ERC-1271).

use alloy::{
    primitives::{Address, B256, Bytes, FixedBytes, fixed_bytes},
    rpc::types::{TransactionRequest, state::StateOverride},
    sol_types::SolCall,
};

use super::{
    contracts::ContractWallet,
    node::{Node, NodeError},
    node_error::NodeFault,
};

/// What a contract answers for a signature that is its own.
const IS_VALID: FixedBytes<4> = fixed_bytes!("1626ba7e");

/// Gas that a contract may use to judge: more than any wallet needs, and little for a node.
const MAX_GAS: u64 = 5_000_000;

/// Whether the contract at `wallet` says that `signature` of `hash` is its own. Where no contract is, nobody says so. One
/// RPC call.
///
/// # Errors
/// When no node answers.
pub async fn is_accepted(node: &Node, wallet: Address, hash: B256, signature: &Bytes) -> Result<bool, NodeError> {
    let question = ContractWallet::isValidSignatureCall { hash, signature: signature.clone() };
    let call = TransactionRequest::default().to(wallet).input(question.abi_encode().into()).gas_limit(MAX_GAS);
    match node.call(&call, &StateOverride::default()).await {
        Ok(answer) => {
            Ok(ContractWallet::isValidSignatureCall::abi_decode_returns(&answer).is_ok_and(|it| it == IS_VALID))
        }
        Err(error) if error.fault() == NodeFault::Reverted => Ok(false),
        Err(error) => Err(error),
    }
}
