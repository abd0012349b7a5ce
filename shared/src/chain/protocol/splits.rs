//! Revenue splits (0xSplits v2). Without an owner they can't change, and their address follows from the recipients.

use alloy::{
    primitives::{Address, B256, U256, address},
    sol_types::SolCall,
};

use crate::{
    chain::{
        contracts::native::{
            PushSplit::distributeCall,
            SplitFactory::{SplitParams, createSplitDeterministicCall, isDeployedCall},
        },
        node::{Node, NodeError},
        protocol::currency::Currency,
    },
    model::{Call, Share, Split},
};

/// Stands for the chain's own currency in calls of splits.
pub const NATIVE_TOKEN: Address = address!("EeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE");

/// What is said of a write that would create nothing but a split which is there.
pub const IS_THERE: &str = "The split is there already: ask again for its address";

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
    let answer = node.read(factory, &question(&creation)).await?;
    Ok(answer.map(|place| LocatedSplit { address: place._0, creation: (!place._1).then_some(creation) }))
}

/// The call that pays out all that a split has of a currency; `distributor` sends it.
pub fn distribution(split: &Split, address: Address, currency: &Currency, distributor: Address) -> Call {
    let token = currency.contract.unwrap_or(NATIVE_TOKEN);
    Call::new(address, &distributeCall { split: parameters(split), token, distributor })
}

/// The split that the first of an account's calls creates. All its calls fail if the chain has it before.
pub fn creation(factory: Address, calls: &[Call]) -> Option<createSplitDeterministicCall> {
    let first = calls.first().filter(|call| call.target == factory)?;
    createSplitDeterministicCall::abi_decode(&first.data).ok()
}

/// Address of a split that is to be created, and whether the chain has it, as of the block with this hash or the newest
/// one. One call.
pub async fn find(
    node: &Node,
    factory: Address,
    creation: &createSplitDeterministicCall,
    block: Option<B256>,
) -> Result<(Address, bool), NodeError> {
    let place = node.read_at(block, factory, &question(creation)).await?;
    Ok(place.map_or((Address::ZERO, false), |place| (place._0, place._1)))
}

/// Whether the chain had the split after the block with this hash. One call.
pub async fn was_there(
    node: &Node,
    factory: Address,
    creation: &createSplitDeterministicCall,
    block: B256,
) -> Result<bool, NodeError> {
    Ok(node.read_at(Some(block), factory, &question(creation)).await?.is_some_and(|place| place._1))
}

fn question(creation: &createSplitDeterministicCall) -> isDeployedCall {
    isDeployedCall { split: creation.split.clone(), owner: creation.owner, salt: creation.salt }
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
