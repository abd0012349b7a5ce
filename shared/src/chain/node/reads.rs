//! Reads of contracts that are asked for in the same moment: one call of Multicall3 for all of them.

use std::sync::Arc;

use alloy::{
    eips::BlockId,
    primitives::{Address, Bytes, address},
    providers::{DynProvider, Provider},
    rpc::types::{TransactionRequest, state::StateOverride},
    sol,
    sol_types::SolCall,
};
use tokio::sync::oneshot;

use super::{
    client::{Node, NodeError},
    fault::NodeFault,
    gathering::{Gathering, Read},
    health::Health,
};

/// The same on every chain: <https://www.multicall3.com/deployments>
pub const MULTICALL: Address = address!("cA11bde05977b3631167028862bE2a173976CA11");

sol! {
    struct Call3 {
        address target;
        bool allowFailure;
        bytes callData;
    }

    struct Result3 {
        bool success;
        bytes returnData;
    }

    function getCurrentBlockTimestamp() external view returns (uint256 timestamp);
    function aggregate3(Call3[] calldata calls) external payable returns (Result3[] memory results);
}

impl Node {
    /// Answer of a contract, by one call with the other reads of the same moment and block; `None` if it has to be asked
    /// alone.
    pub(super) async fn read_together(
        &self,
        at: BlockId,
        target: Address,
        data: Vec<u8>,
    ) -> Result<Option<Bytes>, NodeError> {
        let (answer, answered) = oneshot::channel();
        if self.reads.add(Read { at, target, data: data.into(), answer }) {
            let gathering = Gathering(&self.reads);
            tokio::task::yield_now().await;
            self.aggregate(gathering.finish()).await;
        }
        match answered.await {
            Ok(Ok(data)) => Ok(Some(data)),
            Ok(Err(error)) => Err(NodeError::Shared(error)),
            Err(_) => Ok(None),
        }
    }

    /// Makes reads, one call for each block. Those that it doesn't answer have to be made alone.
    async fn aggregate(&self, mut reads: Vec<Read<NodeError>>) {
        while let Some(at) = reads.first().map(|read| read.at) {
            let (same, rest): (Vec<_>, Vec<_>) = reads.into_iter().partition(|read| read.at == at);
            reads = rest;
            if same.len() == 1 {
                continue;
            }
            let call =
                |read: &Read<NodeError>| Call3 { target: read.target, allowFailure: true, callData: read.data.clone() };
            // What shows whether a node stands still costs no trip here.
            let clock = getCurrentBlockTimestampCall {}.abi_encode().into();
            let clock = Call3 { target: MULTICALL, allowFailure: true, callData: clock };
            let calls = aggregate3Call { calls: same.iter().map(call).chain([clock]).collect() };
            let call = TransactionRequest::default().to(MULTICALL).input(calls.abi_encode().into());
            let call = &call.gas_limit(Self::CALL_GAS);
            let question = |node: DynProvider| async move {
                node.call(call.clone()).overrides(StateOverride::default()).block(at).await
            };
            let note = |health: &Health, data: &Bytes| {
                if let Some(time) = time_of(data).filter(|_| at == BlockId::latest()) {
                    Self::saw_time(health, time);
                }
            };
            let answer = self.ask_noting(question, note).await;
            match answer {
                Ok(data) => {
                    let results = aggregate3Call::abi_decode_returns(&data).unwrap_or_default();
                    for (read, result) in same.into_iter().zip(results).filter(|(_, result)| result.success) {
                        // The asker may have given up.
                        let _ = read.answer.send(Ok(result.returnData));
                    }
                }
                Err(error) if error.fault() == NodeFault::Reverted || error.halt().is_some() => {}
                Err(error) => {
                    let error = Arc::new(error);
                    for read in same {
                        let _ = read.answer.send(Err(Arc::clone(&error)));
                    }
                }
            }
        }
    }
}

/// The time of the block that reads were made at, which is read with them.
fn time_of(data: &[u8]) -> Option<u64> {
    let results = aggregate3Call::abi_decode_returns(data).ok()?;
    let clock = results.last().filter(|clock| clock.success)?;
    getCurrentBlockTimestampCall::abi_decode_returns(&clock.returnData).ok()?.try_into().ok()
}
