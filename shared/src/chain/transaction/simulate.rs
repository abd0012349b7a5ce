//! Simulation of an account's calls without its Safe in between, which would hide the contracts' revert data.

use alloy::{
    hex,
    primitives::{Address, Bytes, U256},
    rpc::types::{
        TransactionRequest,
        simulate::SimCallResult,
        state::{AccountOverride, StateOverride},
    },
};

use super::revert;
use crate::chain::{
    node::{Node, NodeError, NodeFault},
    wallet::{Call, FALLBACK_HANDLER},
};

/// Reason why calls would fail.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// A contract reverts; the reason in words.
    #[error("{0}")]
    Reverts(String),
    /// A contract denies a call to this account; the reason in words.
    #[error("{0}")]
    Forbidden(String),
    /// Another token took the id that the calls are made for; the reason in words.
    #[error("{0}")]
    Overtaken(String),
    /// The account can't pay the value that the calls send.
    #[error("the account can't pay")]
    CannotPay,
    /// No node answers.
    #[error(transparent)]
    Node(#[from] NodeError),
}

pub(super) async fn simulate(node: &Node, account: Address, calls: &[Call]) -> Result<(), SimulationError> {
    try_calls(node, account, calls, None).await
}

pub(super) async fn simulate_wealthy(node: &Node, account: Address, calls: &[Call]) -> Result<(), SimulationError> {
    const PLENTY: U256 = U256::from_limbs([0, 1 << 32, 0, 0]);
    try_calls(node, account, calls, Some(PLENTY)).await
}

/// Gas of consecutive calls as separate transactions; `None` if no node answers `eth_simulateV1`.
pub async fn simulate_with_gas(node: &Node, account: Address, calls: &[Call]) -> Result<Option<u64>, SimulationError> {
    match node.simulate(calls.iter().map(|call| request(account, call)).collect()).await {
        Ok(results) if results.len() == calls.len() => total_gas(&results).map(Some),
        // Nodes without the method answer in different ways. A call that reverts does so again here.
        _ => try_calls(node, account, calls, None).await.map(|()| None),
    }
}

fn total_gas(results: &[SimCallResult]) -> Result<u64, SimulationError> {
    match results.iter().find(|result| !result.status) {
        Some(failed) => Err(refusal(&failed.return_data)),
        None => Ok(results.iter().fold(0, |sum: u64, result| sum.saturating_add(result.gas_used))),
    }
}

async fn try_calls(
    node: &Node,
    account: Address,
    calls: &[Call],
    balance: Option<U256>,
) -> Result<(), SimulationError> {
    let (call, mut overrides) = attempt(account, calls);
    if balance.is_some() {
        overrides.entry(account).or_default().balance = balance;
    }
    node.call(&call, &overrides).await.map(drop).map_err(SimulationError::of)
}

impl SimulationError {
    /// The reason why a node couldn't make an account's calls.
    pub(super) fn of(error: NodeError) -> Self {
        match (error.halt(), error.revert_data(), error.fault()) {
            (Some(words), ..) => Self::Reverts(words.to_owned()),
            (None, Some(data), _) => refusal(&data),
            (None, None, NodeFault::InsufficientFunds) => Self::CannotPay,
            _ => error.into(),
        }
    }
}

/// The calls as one call from the account, and what the account's code must be for it.
pub(super) fn attempt(account: Address, calls: &[Call]) -> (TransactionRequest, StateOverride) {
    match calls {
        [call] => (request(account, call), StateOverride::default()),
        _ => {
            let batch = Call { target: account, value: U256::ZERO, data: packed(calls) };
            (request(account, &batch), with_stand_in(account))
        }
    }
}

/// The account with [`stand_in`] for its code, deployed or not.
pub(super) fn with_stand_in(account: Address) -> StateOverride {
    let stand_in = AccountOverride { code: Some(stand_in()), ..AccountOverride::default() };
    StateOverride::from_iter([(account, stand_in)])
}

fn request(account: Address, call: &Call) -> TransactionRequest {
    TransactionRequest::default().from(account).to(call.target).value(call.value).input(call.data.clone().into())
}

fn refusal(data: &[u8]) -> SimulationError {
    let reason = revert::explain(data);
    if revert::is_forbidden(data) {
        SimulationError::Forbidden(reason)
    } else if revert::is_overtaken(data) {
        SimulationError::Overtaken(reason)
    } else {
        SimulationError::Reverts(reason)
    }
}

/// Input of [`stand_in`]: per call the target, the value, the length of the data, and the data.
fn packed(calls: &[Call]) -> Bytes {
    let mut packed = Vec::new();
    for Call { target, value, data } in calls {
        packed.extend_from_slice(target.as_slice());
        packed.extend_from_slice(&value.to_be_bytes::<32>());
        packed.extend_from_slice(&U256::from(data.len()).to_be_bytes::<32>());
        packed.extend_from_slice(data);
    }
    packed.into()
}

/// Code in place of an account's own: makes the calls in order and reverts with the first error, which
/// `MultiSendCallOnly` would hide. Others' payments are taken, their calls go to the fallback handler.
fn stand_in() -> Bytes {
    [
        // Called by the account itself, or with a plain payment, which has no data: jump to 0x36.
        hex!("333014 3615 17 603657").as_slice(),
        // Called by another: delegate to the fallback handler, as in EIP-1167.
        &hex!("363d3d373d3d3d363d73"),
        FALLBACK_HANDLER.as_slice(),
        &hex!("5af43d82803e903d91603457fd5bf3"),
        // 0x36: from offset 0 (0x39) to the end of the packed calls.
        &hex!("5b6000 5b 368110604157 00"),
        // 0x41: copy the data (at 84, length at 52).
        &hex!("5b 80603401 35 80 82605401 6000 37"),
        // Call the target (at 0) with the value (at 20).
        &hex!("6000 6000 82 6000 85601401 35 86 35 6060 1c 5a f1 606f57"),
        // On a revert, revert with the same data.
        &hex!("3d600060003e 3d6000fd"),
        // 0x6f: continue after the data.
        &hex!("5b 01 605401 603956"),
    ]
    .concat()
    .into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn gas_that_a_node_invents_is_the_most_that_there_is() {
        let call = json!({"returnData": "0x", "gasUsed": "0xffffffffffffffff", "status": "0x1"});
        let results: Vec<SimCallResult> = serde_json::from_value(json!([call, call])).unwrap();
        assert_eq!(total_gas(&results).ok(), Some(u64::MAX));
    }
}
