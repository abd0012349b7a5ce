//! Trying what an account is to do, with nothing sent: what a contract reverts with is seen as it is, since neither a Safe
//! nor a batch stands in between.

use alloy::{
    hex,
    primitives::{Address, Bytes, U256},
    rpc::types::{
        TransactionRequest,
        simulate::SimCallResult,
        state::{AccountOverride, StateOverride},
    },
};

use super::{
    account::{Call, EmbeddedWallet, FALLBACK_HANDLER},
    engine::{Engine, WriteError},
    node::{Node, NodeError},
    node_error::NodeFault,
    revert,
};
use crate::store::Artist;

/// Why calls wouldn't work.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// A contract refuses one of them: this is why, in words.
    #[error("{0}")]
    Reverts(String),
    /// A contract refuses one of them to this account: this is why, in words.
    #[error("{0}")]
    Forbidden(String),
    /// The account hasn't what they send along.
    #[error("the account can't pay")]
    CannotPay,
    /// No node answers.
    #[error(transparent)]
    Node(#[from] NodeError),
}

impl Engine {
    /// Does `calls` in the account's name without doing it. The account needn't be deployed.
    ///
    /// # Errors
    /// When it reverts, the account can't pay, or no node answers.
    pub async fn simulate(&self, wallet: &EmbeddedWallet, calls: &[Call]) -> Result<(), WriteError> {
        Ok(try_calls(&self.node, wallet.address(), calls, None).await?)
    }

    /// The same as if the account had all of the chain's own currency that it could want.
    ///
    /// # Errors
    /// When it reverts all the same, or no node answers.
    pub async fn simulate_wealthy(&self, artist: &Artist, calls: &[Call]) -> Result<(), WriteError> {
        const PLENTY: U256 = U256::from_limbs([0, 1 << 32, 0, 0]);
        Ok(try_calls(&self.node, artist.embedded_wallet.into(), calls, Some(PLENTY)).await?)
    }
}

/// Tries an account's calls, each of which sees what those before it did. Gives the sum of the gas that they would take as
/// transactions of their own; `None` where no node can tell.
///
/// # Errors
/// When one reverts, the account can't pay, or no node answers.
pub async fn simulate_with_gas(node: &Node, account: Address, calls: &[Call]) -> Result<Option<u64>, SimulationError> {
    match node.simulate(calls.iter().map(|call| request(account, call)).collect()).await {
        Ok(results) if results.len() == calls.len() => total_gas(&results).map(Some),
        // Not every node knows the method, and each says so in its own way. One that fails will do so again.
        _ => try_calls(node, account, calls, None).await.map(|()| None),
    }
}

fn total_gas(results: &[SimCallResult]) -> Result<u64, SimulationError> {
    match results.iter().find(|result| !result.status) {
        Some(failed) => Err(refusal(&failed.return_data)),
        None => Ok(results.iter().map(|result| result.gas_used).sum()),
    }
}

async fn try_calls(
    node: &Node,
    account: Address,
    calls: &[Call],
    balance: Option<U256>,
) -> Result<(), SimulationError> {
    let batch = Call { target: account, value: U256::ZERO, data: packed(calls) };
    let (call, code) = match calls {
        [call] => (call, None),
        _ => (&batch, Some(stand_in())),
    };
    let overrides = match (&code, balance) {
        (None, None) => StateOverride::default(),
        _ => StateOverride::from_iter([(account, AccountOverride { code, balance, ..Default::default() })]),
    };
    match node.call(&request(account, call), &overrides).await {
        Ok(_) => Ok(()),
        Err(error) => Err(match (error.revert_data(), error.fault()) {
            (Some(data), _) => refusal(&data),
            (None, NodeFault::InsufficientFunds) => SimulationError::CannotPay,
            _ => error.into(),
        }),
    }
}

fn request(account: Address, call: &Call) -> TransactionRequest {
    TransactionRequest::default().from(account).to(call.target).value(call.value).input(call.data.clone().into())
}

fn refusal(data: &[u8]) -> SimulationError {
    let reason = revert::explain(data);
    if revert::is_forbidden(data) { SimulationError::Forbidden(reason) } else { SimulationError::Reverts(reason) }
}

/// Calls as [`stand_in`] takes them, one after the other: target, value, length of the data, data.
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

/// Code that stands in for an account's own while a batch is tried. Each call sees what those before it did, and the first
/// that reverts reverts it all with its own error, which `MultiSendCallOnly` keeps to itself. To others it answers as the
/// account does, so that it can be sent tokens.
fn stand_in() -> Bytes {
    [
        // Called by the account itself: go on at 0x33.
        hex!("3330146033 57").as_slice(),
        // Called by another: delegate to the fallback handler, as EIP-1167 does.
        &hex!("363d3d373d3d3d363d73"),
        FALLBACK_HANDLER.as_slice(),
        &hex!("5af43d82803e903d91603157fd5bf3"),
        // 0x33: from offset 0 on (0x36), until the end of the packed calls.
        &hex!("5b6000 5b 368110603e57 00"),
        // 0x3e: copy the data, whose length is at 52, from 84 on.
        &hex!("5b 80603401 35 80 82605401 6000 37"),
        // Call the target, at 0, with the value, at 20.
        &hex!("6000 6000 82 6000 85601401 35 86 35 6060 1c 5a f1 606c57"),
        // It reverts: revert with what it reverts with.
        &hex!("3d600060003e 3d6000fd"),
        // 0x6c: go on behind the data.
        &hex!("5b 01 605401 603656"),
    ]
    .concat()
    .into()
}
