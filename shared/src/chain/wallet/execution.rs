use alloy::primitives::{Address, Bytes, U256, address};

use super::call::{Call, CallKind};
use crate::chain::contracts::safe::Safe::execTransactionCall;

/// The sha256 precompile: as a token it accepts every transfer, for about 200 gas.
const METER: Address = address!("0000000000000000000000000000000000000002");

/// The approval "the owner is the sender": r is the owner, s is empty, v is 1.
pub fn approved_by_sender(owner: Address) -> Bytes {
    let mut signature = [0; 65];
    signature[12..32].copy_from_slice(owner.as_slice());
    signature[64] = 1;
    signature.into()
}

/// A transaction of an account, approved by its owner as the sender. A call that reverts makes it revert.
pub fn execution(call: &Call, kind: CallKind, owner: Address) -> execTransactionCall {
    execTransactionCall {
        to: call.target,
        value: call.value,
        data: call.data.clone(),
        operation: kind as u8,
        safeTxGas: U256::ZERO,
        baseGas: U256::ZERO,
        gasPrice: U256::ZERO,
        gasToken: Address::ZERO,
        refundReceiver: Address::ZERO,
        signatures: approved_by_sender(owner),
    }
}

/// The same, with at most `gas` for the call, which may revert without the transaction doing so: with a gas price of 1
/// Safe gives exactly `safeTxGas` and logs what was used, with 0 that would be the least.
pub fn capped_execution(call: &Call, kind: CallKind, owner: Address, gas: u64) -> execTransactionCall {
    let (safe_tx_gas, gas_price) = (U256::from(gas), U256::ONE);
    execTransactionCall { safeTxGas: safe_tx_gas, gasPrice: gas_price, gasToken: METER, ..execution(call, kind, owner) }
}
