//! Signatures of contract wallets, which only the wallet's contract can verify (ERC-1271).

use alloy::{
    primitives::{Address, B256, Bytes, FixedBytes, fixed_bytes},
    rpc::types::{TransactionRequest, state::StateOverride},
    sol_types::SolCall,
};

use crate::chain::{
    contracts::native::ContractWallet,
    node::{Node, NodeError, NodeFault},
};

const IS_VALID: FixedBytes<4> = fixed_bytes!("1626ba7e");

/// Gas limit of the verification: more than any wallet needs, and little for a node.
const MAX_GAS: u64 = 5_000_000;

/// Whether the contract at `wallet` accepts `signature` of `hash`; `false` without a contract. One RPC call.
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
