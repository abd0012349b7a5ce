//! Signatures of contract wallets, which only the wallet's contract can verify: ERC-1271, and ERC-6492 for wallets that
//! aren't deployed yet.

use alloy::{
    primitives::{Address, B256, Bytes, FixedBytes, b256, fixed_bytes},
    rpc::types::{TransactionRequest, state::StateOverride},
    sol_types::{SolCall, SolValue},
};

use crate::chain::{
    contracts::native::ContractWallet,
    node::{Node, NodeError, NodeFault},
};

const IS_VALID: FixedBytes<4> = fixed_bytes!("1626ba7e");

/// End of a signature that brings its wallet's deployment along (ERC-6492).
const NOT_DEPLOYED: B256 = b256!("6492649264926492649264926492649264926492649264926492649264926492");

/// Gas limit of the verification: more than any wallet needs, and little for a node.
const MAX_GAS: u64 = 5_000_000;

/// Whether the contract at `wallet` accepts `signature` of `hash`; `false` without a contract, unless the signature brings
/// its deployment along. One RPC call.
pub async fn is_accepted(node: &Node, wallet: Address, hash: B256, signature: &Bytes) -> Result<bool, NodeError> {
    let question =
        |signature: Bytes| Bytes::from(ContractWallet::isValidSignatureCall { hash, signature }.abi_encode());
    let call = match undeployed(signature) {
        None => TransactionRequest::default().to(wallet).input(question(signature.clone()).into()),
        Some((factory, deployment, inner)) => {
            let code = after_another(factory, &deployment, wallet, &question(inner));
            TransactionRequest { input: code.into(), ..TransactionRequest::default() }
        }
    };
    match node.call(&call.gas_limit(MAX_GAS), &StateOverride::default()).await {
        Ok(answer) => {
            Ok(ContractWallet::isValidSignatureCall::abi_decode_returns(&answer).is_ok_and(|it| it == IS_VALID))
        }
        Err(error) if error.fault() == NodeFault::Reverted => Ok(false),
        Err(error) => Err(error),
    }
}

/// Factory, its calldata and the wallet's own signature, of a signature that ends with ERC-6492's mark.
fn undeployed(signature: &Bytes) -> Option<(Address, Bytes, Bytes)> {
    let wrapped = signature.strip_suffix(NOT_DEPLOYED.as_slice())?;
    <(Address, Bytes, Bytes)>::abi_decode_params(wrapped).ok()
}

/// Init code that calls `first`, whatever becomes of it, then asks `second`, and returns what that answers: a node runs it
/// in an `eth_call` without a recipient, and nothing of it stays. A revert of `second` is one of the whole.
fn after_another(first: Address, first_input: &[u8], second: Address, second_input: &[u8]) -> Bytes {
    const CODE: usize = 117;
    let size = |input: &[u8]| u32::try_from(input.len()).unwrap_or(u32::MAX).to_be_bytes();
    let place = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX).to_be_bytes();
    let mut code = Vec::with_capacity(CODE + first_input.len() + second_input.len());
    // CODECOPY(0, place, size): PUSH4 size, PUSH4 place, PUSH1 0, CODECOPY.
    let copy = |code: &mut Vec<u8>, at: usize, input: &[u8]| {
        code.push(0x63);
        code.extend(size(input));
        code.push(0x63);
        code.extend(place(at));
        code.extend([0x60, 0x00, 0x39]);
    };
    copy(&mut code, CODE, first_input);
    // CALL(gas, first, 0, 0, size, 0, 0), POP.
    code.extend([0x60, 0x00, 0x60, 0x00, 0x63]);
    code.extend(size(first_input));
    code.extend([0x60, 0x00, 0x60, 0x00, 0x73]);
    code.extend(first);
    code.extend([0x5a, 0xf1, 0x50]);
    copy(&mut code, CODE + first_input.len(), second_input);
    // STATICCALL(gas, second, 0, size, 0, 0).
    code.extend([0x60, 0x00, 0x60, 0x00, 0x63]);
    code.extend(size(second_input));
    code.extend([0x60, 0x00, 0x73]);
    code.extend(second);
    code.extend([0x5a, 0xfa]);
    // ISZERO, PUSH1 revert, JUMPI; RETURNDATACOPY(0, 0, RETURNDATASIZE), RETURN; revert: JUMPDEST, REVERT(0, 0).
    let revert = u8::try_from(CODE - 6).unwrap_or(u8::MAX);
    code.extend([0x15, 0x60, revert, 0x57, 0x3d, 0x60, 0x00, 0x60, 0x00, 0x3e, 0x3d, 0x60, 0x00, 0xf3]);
    code.extend([0x5b, 0x60, 0x00, 0x60, 0x00, 0xfd]);
    debug_assert_eq!(code.len(), CODE);
    code.extend(first_input);
    code.extend(second_input);
    code.into()
}
