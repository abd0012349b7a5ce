//! Why an operation failed: its account's event doesn't say.

use std::collections::BTreeMap;

use alloy::{
    primitives::Address,
    rpc::types::{
        TransactionRequest,
        simulate::{SimBlock, SimCallResult},
        state::StateOverride,
    },
};

use super::{
    cap::intrinsic,
    packing::{Operation, Packed, pack, tokens},
    revert,
    simulate::{SimulationError, attempt},
};
use crate::chain::{
    node::{Node, NodeError, halt_in_words},
    wallet::{CallKind, unbatch},
};

/// Why operations of a batch in `block` failed, each in a sentence without a full stop, as far as one simulation of all
/// of it tells (`eth_simulateV1`): their calls are made from their accounts, each after the operations before it. One
/// RPC call.
pub async fn failures(
    node: &Node,
    operator_safe: Address,
    lane: Address,
    operations: &[Operation],
    failed: &[usize],
    block: u64,
) -> BTreeMap<usize, String> {
    let Some(parent) = block.checked_sub(1) else { return BTreeMap::new() };
    let (mut blocks, mut positions, mut next) = (Vec::new(), Vec::new(), 0);
    for &index in failed {
        let Some((operation, (call, overrides))) = operations.get(index).and_then(|one| Some((one, again(one)?)))
        else {
            continue;
        };
        // An account whose code is replaced can't do what follows.
        let returns = operations[index + 1..].iter().any(|later| later.account == operation.account);
        if !overrides.is_empty() && returns {
            continue;
        }
        let succeeded: Vec<_> = (next..index)
            .filter(|earlier| !failed.contains(earlier))
            .map(|earlier| operations[earlier].clone())
            .collect();
        if !succeeded.is_empty() {
            blocks.push(SimBlock::default().call(request(lane, &pack(operator_safe, lane, &succeeded))));
        }
        positions.push((index, blocks.len()));
        blocks.push(SimBlock::default().with_state_overrides(overrides).call(call));
        next = index + 1;
    }
    let expected = blocks.len();
    let results = match node.simulate_on(parent, blocks).await {
        Ok(results) if results.len() == expected => results,
        // Nodes without the method answer in different ways.
        _ => return BTreeMap::new(),
    };
    let words = positions.into_iter().filter_map(|(index, at)| match replay_of(results.get(at)?) {
        Replay::Words(reason) => Some((index, reason)),
        _ => None,
    });
    words.collect()
}

/// Why the operation at `index` failed in `block`, where its call used `gas`: a sentence without a full stop. Up to
/// three RPC calls.
///
/// It is made again on the block before, after the earlier operations (`eth_simulateV1`) or, where the node can't,
/// without them. `debug_traceTransaction` isn't used: a hostile contract can make a trace of gigabytes.
pub async fn failure(
    node: &Node,
    operator_safe: Address,
    lane: Address,
    operations: &[Operation],
    index: usize,
    (block, gas): (u64, u64),
) -> Result<String, NodeError> {
    let Some((operation, parent)) = operations.get(index).zip(block.checked_sub(1)) else {
        return Ok(unknown());
    };
    let Some((call, overrides)) = again(operation) else { return Ok(unknown()) };
    let before = pack(operator_safe, lane, &operations[..index]);
    let blocks = vec![
        SimBlock::default().call(request(lane, &before)),
        SimBlock::default().with_state_overrides(overrides.clone()).call(call.clone()),
    ];
    let simulated = match node.simulate_on(parent, blocks).await {
        Ok(results) if results.len() == 2 => results.last().map_or(Replay::Nothing, replay_of),
        // Nodes without the method answer in different ways.
        _ => Replay::Nothing,
    };
    if let Replay::Words(reason) = simulated {
        return Ok(reason);
    }
    let silence = revert::explain(&[]);
    let alone = match simulated {
        Replay::Success => None,
        _ => refused_at(node, parent, &call, &overrides).await?,
    };
    if alone.is_none() && !is_used_up(operation.gas, gas) {
        // Another transaction of the same block came before it.
        let after = refused_at(node, block, &call, &overrides).await?;
        if let Some(reason) = after.filter(|reason| *reason != silence) {
            return Ok(reason);
        }
    }
    Ok(match (alone, simulated) {
        (Some(reason), _) if reason != silence => reason,
        // A contract that calls another which runs out of gas often reverts without a reason.
        (None, Replay::Silence) | (Some(_), _) if !is_used_up(operation.gas, gas) => silence,
        _ => reason_by_gas(operation.gas, gas),
    })
}

/// Why the call fails on top of a block, as far as there are words; `None` if it doesn't.
async fn refused_at(
    node: &Node,
    block: u64,
    call: &TransactionRequest,
    overrides: &StateOverride,
) -> Result<Option<String>, NodeError> {
    let Err(error) = node.call_at(block, call, overrides).await else { return Ok(None) };
    match SimulationError::of(error) {
        // A hostile contract can make nodes fail in ways that have no words.
        SimulationError::Node(error) if !error.fault().is_temporary() => Ok(None),
        SimulationError::Node(error) => Err(error),
        error => Ok(Some(error.to_string())),
    }
}

/// Outcome of a failed operation that is simulated again.
#[derive(Debug, PartialEq, Eq)]
enum Replay {
    Words(String),
    /// It fails, and the node doesn't say how.
    Silence,
    /// It doesn't fail.
    Success,
    /// There is no simulation.
    Nothing,
}

/// Why the whole transaction would revert, as one operation on an account of another owner makes it. One RPC call.
pub async fn refusal(node: &Node, lane: Address, packed: &Packed) -> Result<Option<String>, NodeError> {
    match node.call(&request(lane, packed), &StateOverride::default()).await.map_err(SimulationError::of) {
        Ok(_) => Ok(None),
        Err(SimulationError::Node(error)) => Err(error),
        Err(error) => Ok(Some(error.to_string())),
    }
}

fn request(lane: Address, packed: &Packed) -> TransactionRequest {
    let call = TransactionRequest::default().from(lane).to(packed.to).input(packed.data.clone().into());
    call.gas_limit(packed.gas_limit)
}

/// The operation's call from the account itself, with the gas that it had.
fn again(operation: &Operation) -> Option<(TransactionRequest, StateOverride)> {
    let calls = match operation.kind {
        CallKind::Call => vec![operation.call.clone()],
        CallKind::DelegateCall => unbatch(&operation.call.data)?,
    };
    let (call, overrides) = attempt(operation.account, &calls);
    let data = call.input.input().cloned().unwrap_or_default();
    let least = 21_000 + 10 * tokens(&data);
    let gas = operation.gas.saturating_add(intrinsic(&data)).max(least);
    Some((call.gas_limit(gas), overrides))
}

fn replay_of(result: &SimCallResult) -> Replay {
    let halt = result.error.as_ref().and_then(|error| halt_in_words(&error.message));
    match halt {
        _ if result.status => Replay::Success,
        _ if !result.return_data.is_empty() => Replay::Words(revert::explain(&result.return_data)),
        Some(words) => Replay::Words(words.to_owned()),
        None => Replay::Silence,
    }
}

/// The reason when the failure doesn't happen again.
fn reason_by_gas(cap: u64, used: u64) -> String {
    if is_used_up(cap, used) { "The call used up its gas".to_owned() } else { unknown() }
}

fn is_used_up(cap: u64, used: u64) -> bool {
    used >= cap - cap / 32
}

fn unknown() -> String {
    "The call failed on the chain".to_owned()
}

#[cfg(test)]
mod tests {
    use alloy::{
        primitives::Bytes,
        rpc::types::simulate::SimulateError,
        sol_types::{Revert, SolError},
    };

    use super::*;

    fn result(message: &str, data: Bytes) -> SimCallResult {
        let error = SimulateError { code: -32_015, message: message.to_owned(), data: None };
        SimCallResult {
            return_data: data,
            logs: Vec::new(),
            gas_used: 0,
            max_used_gas: None,
            status: message.is_empty(),
            error: Some(error),
        }
    }

    #[test]
    fn simulation_results_become_reasons() {
        let no = Bytes::from(Revert { reason: "no".to_owned() }.abi_encode());
        for (message, data, words) in [
            ("", Bytes::new(), Replay::Success),
            ("execution reverted", no, Replay::Words("The contract refuses: no".to_owned())),
            ("execution reverted", Bytes::new(), Replay::Silence),
            ("out of gas", Bytes::new(), Replay::Words("The call ran out of gas".to_owned())),
        ] {
            assert_eq!(replay_of(&result(message, data)), words, "{message}");
        }
    }

    #[test]
    fn used_up_gas_has_its_own_reason() {
        assert_eq!(reason_by_gas(150_000, 149_000), "The call used up its gas");
        assert_eq!(reason_by_gas(150_000, 100_000), unknown());
        assert_eq!(reason_by_gas(0, 0), "The call used up its gas");
    }
}
