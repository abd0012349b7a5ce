//! Revenue splits (0xSplits v2). Without an owner they can't change, and their address follows from the recipients.

use alloy::primitives::{Address, B256, U256};

use crate::{
    chain::{
        contracts::native::SplitFactory::{SplitParams, createSplitDeterministicCall, isDeployedCall},
        node::{Node, NodeError},
    },
    model::{Share, Split},
};

/// A split with its address on a chain.
#[derive(Clone)]
pub struct LocatedSplit {
    /// Address of the split, deployed or not.
    pub address: Address,
    /// The factory call that creates the split; `None` if it is deployed.
    pub creation: Option<createSplitDeterministicCall>,
}

/// Finds a split's address; `None` on a chain without the factory. `creator` is the creator of a new split. One call.
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

fn parameters(split: &Split) -> SplitParams {
    let recipients = split.recipients();
    SplitParams {
        recipients: recipients.iter().map(|(address, _)| (*address).into()).collect(),
        allocations: recipients.iter().map(|(_, share)| U256::from(share.millionths())).collect(),
        totalAllocation: U256::from(Share::WHOLE),
        distributionIncentive: 0,
    }
}
