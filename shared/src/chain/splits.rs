//! Revenue splits (0xSplits v2). Nobody owns one, so nobody can change it, and its address follows from its recipients:
//! the same split is never made twice on a chain.

use alloy::primitives::{Address, B256, U256};

use super::{
    contracts::SplitFactory::{SplitParams, createSplitDeterministicCall, isDeployedCall},
    node::{Node, NodeError},
};
use crate::model::{Share, Split};

/// A split of a chain.
#[derive(Clone)]
pub struct LocatedSplit {
    /// Where it is, or will be.
    pub address: Address,
    /// The call to the factory that makes it; `None` where it is there already.
    pub creation: Option<createSplitDeterministicCall>,
}

/// Finds a split's place. `creator` is who is said to make it, if it isn't there. `None` on a chain without the factory.
/// One RPC call.
///
/// # Errors
/// When no node answers.
pub async fn locate(
    node: &Node,
    factory: Address,
    split: &Split,
    creator: Address,
) -> Result<Option<LocatedSplit>, NodeError> {
    let creation =
        createSplitDeterministicCall { split: parameters(split), owner: Address::ZERO, creator, salt: B256::ZERO };
    let question = isDeployedCall { split: creation.split.clone(), owner: creation.owner, salt: creation.salt };
    let answer = node.read(factory, &question).await?;
    Ok(answer.map(|place| LocatedSplit { address: place._0, creation: (!place._1).then_some(creation) }))
}

/// A split as the factory takes it.
fn parameters(split: &Split) -> SplitParams {
    let recipients = split.recipients();
    SplitParams {
        recipients: recipients.iter().map(|(address, _)| (*address).into()).collect(),
        allocations: recipients.iter().map(|(_, share)| U256::from(share.millionths())).collect(),
        totalAllocation: U256::from(Share::WHOLE),
        distributionIncentive: 0,
    }
}
