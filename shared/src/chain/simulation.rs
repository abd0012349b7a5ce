//! Calls that are tried without being made.

use alloy::{
    hex,
    primitives::{Address, Bytes},
    rpc::types::{
        TransactionRequest,
        simulate::SimCallResult,
        state::{AccountOverride, StateOverride},
    },
};

use super::{
    account::{self, Call},
    node::{Node, NodeError},
    node_error::NodeFault,
    revert,
};

/// Why calls wouldn't work.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// One of them reverts, for this reason: a sentence without a full stop.
    #[error("reverts: {0}")]
    Reverts(String),
    /// The account hasn't what they send along.
    #[error("the account can't pay")]
    CannotPay,
    /// No node answered.
    #[error(transparent)]
    Node(#[from] NodeError),
}

/// Tries calls of an account, which needn't be deployed. Each sees what those before it did. What a contract reverts
/// with is its own error, since nothing stands in between. One RPC call if they work.
///
/// # Errors
/// When one reverts, the account can't pay, or no node answers.
pub async fn simulate(node: &Node, account: Address, calls: &[Call]) -> Result<(), SimulationError> {
    let [call] = calls else { return simulate_batch(node, account, calls).await };
    simulate_one(node, account, call, &StateOverride::default()).await
}

/// The same, and what the calls take as transactions of their own: the sum of their gas. `None` where the nodes don't
/// know how to tell.
///
/// # Errors
/// Those of [`simulate`].
pub async fn simulate_with_gas(node: &Node, account: Address, calls: &[Call]) -> Result<Option<u64>, SimulationError> {
    match node.simulate(calls.iter().map(|call| request(account, call)).collect()).await {
        Ok(results) if results.len() == calls.len() => total_gas(&results).map(Some),
        // Not every node knows the method, and each says so in its own way. One that fails will do so again.
        _ => simulate(node, account, calls).await.map(|()| None),
    }
}

fn total_gas(results: &[SimCallResult]) -> Result<u64, SimulationError> {
    match results.iter().find(|result| !result.status) {
        Some(failed) => Err(SimulationError::Reverts(revert::explain(&failed.return_data))),
        None => Ok(results.iter().map(|result| result.gas_used).sum()),
    }
}

/// The account, with the code of a proxy of `MultiSendCallOnly` put in its place, makes all calls.
async fn simulate_batch(node: &Node, account: Address, calls: &[Call]) -> Result<(), SimulationError> {
    let code = Bytes::from(
        [
            hex!("363d3d373d3d3d363d73").as_slice(),
            account::MULTI_SEND_CALL_ONLY.as_slice(),
            &hex!("5af43d82803e903d91602b57fd5bf3"),
        ]
        .concat(),
    );
    let overrides = StateOverride::from_iter([(account, AccountOverride { code: Some(code), ..Default::default() })]);
    let batch = Call { target: account, ..account::batch(calls) };
    let Err(failure) = simulate_one(node, account, &batch, &overrides).await else { return Ok(()) };
    // The batch hides which call failed and why; most say it on their own too.
    for call in calls {
        simulate_one(node, account, call, &StateOverride::default()).await?;
    }
    Err(failure)
}

async fn simulate_one(
    node: &Node,
    account: Address,
    call: &Call,
    overrides: &StateOverride,
) -> Result<(), SimulationError> {
    match node.call(&request(account, call), overrides).await {
        Ok(_) => Ok(()),
        Err(error) => Err(match (error.revert_data(), error.fault()) {
            (Some(data), _) => SimulationError::Reverts(revert::explain(&data)),
            (None, NodeFault::InsufficientFunds) => SimulationError::CannotPay,
            _ => error.into(),
        }),
    }
}

fn request(account: Address, call: &Call) -> TransactionRequest {
    TransactionRequest::default().from(account).to(call.target).value(call.value).input(call.data.clone().into())
}
