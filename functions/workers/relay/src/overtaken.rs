//! Which transactions failed because others came first: what their calls rest on was true when they were packed, and
//! wasn't in the block. The chain's state says so, whatever the contracts' reasons are, and where no node has any.

use std::collections::{HashMap, HashSet};

use alloy::primitives::{Address, B256, U256};
use futures::future::try_join_all;
use shared::{
    chain::{
        contracts::native::Creator1155,
        node::{NodeError, Receipt},
        protocol::{binding::Binding, publishing::expected_token, splits},
        transaction::{Execution, Operation},
    },
    model::{Call, MomentEdit, MomentUpdate, Plan, TransactionId},
    store::artist::{Batch, Transaction},
};

use crate::{batch::own, chain::ChainRelay, error::RelayError, words::is_patience_over};

/// An operation that failed.
struct Failed<'a> {
    index: usize,
    calls: Vec<Call>,
    /// The collection that it was to create tokens in, and the id of the last one before.
    expected: Option<(Address, U256)>,
    plan: Option<&'a Plan>,
}

/// Positions of a batch's failed operations that others came before. An earlier one of the batch was to create the
/// token before, and didn't; or the chain has another next token, the split, or another sale than the calls were made
/// for. One call for all of them.
pub(crate) async fn overtaken(
    relay: &ChainRelay,
    (batch, receipt): (&Batch, &Receipt),
    operations: &[Operation],
    executions: &[Execution],
    rows: &HashMap<TransactionId, Transaction>,
) -> Result<HashSet<usize>, RelayError> {
    let (mut undone, mut overtaken, mut failed) = (HashSet::new(), HashSet::new(), Vec::new());
    for (member, index) in batch.members.iter().zip(own(batch)) {
        let is_absent = match executions[index] {
            Execution::Executed { succeeded: true, .. } => continue,
            Execution::Executed { succeeded: false, .. } => false,
            Execution::Absent => true,
        };
        let calls = operations[index].calls();
        let plan = rows.get(&member.transaction_id).map(|row| &*row.plan);
        // Made anew, other calls would rest on the same.
        let is_bound = matches!(plan, Some(Plan::Tokens(_) | Plan::Moving(_)));
        let expected = expected_token(&calls).filter(|_| is_bound);
        let follows_undone = expected.is_some_and(|(collection, _)| !undone.insert(collection));
        if is_absent {
            continue;
        }
        if follows_undone {
            overtaken.insert(index);
        } else {
            failed.push(Failed { index, calls, expected, plan });
        }
    }
    let found = match overtaken_at(relay, receipt.block_hash, &failed).await {
        // Nodes keep the state of old blocks for minutes. By a later one's, more came first, which costs an attempt.
        Err(_) if is_patience_over(relay, batch)? => {
            let head = relay.node.head().await?;
            if head.number < receipt.block {
                return Err(NodeError::MissingBlock(receipt.block).into());
            }
            overtaken_at(relay, head.hash, &failed).await?
        }
        found => found?,
    };
    let found = failed.iter().zip(found).filter(|(_, is_overtaken)| *is_overtaken);
    overtaken.extend(found.map(|(failed, _)| failed.index));
    Ok(overtaken)
}

async fn overtaken_at(relay: &ChainRelay, block: B256, failed: &[Failed<'_>]) -> Result<Vec<bool>, NodeError> {
    try_join_all(failed.iter().map(|failed| failed.is_overtaken(relay, block))).await
}

impl Failed<'_> {
    async fn is_overtaken(&self, relay: &ChainRelay, block: B256) -> Result<bool, NodeError> {
        let (node, addresses) = (&relay.node, &relay.chain.addresses);
        let is_token_taken = async {
            let Some((collection, last)) = self.expected else { return Ok(false) };
            let next = node.read_at(Some(block), collection, &Creator1155::nextTokenIdCall {}).await?;
            Ok::<_, NodeError>(next.is_some_and(|next| next.saturating_sub(U256::ONE) != last))
        };
        let is_split_there = async {
            match splits::creation(addresses.split_factory, &self.calls) {
                Some(creation) => splits::was_there(node, addresses.split_factory, &creation, block).await,
                None => Ok(false),
            }
        };
        let is_sale_changed = async {
            let Some(plan @ Plan::Moment(MomentUpdate { edit: MomentEdit::Sale(_), .. })) = self.plan else {
                return Ok(false);
            };
            let binding = Binding::read(node, addresses, plan, Some(block)).await?;
            Ok::<_, NodeError>(plan.calls(addresses, &binding).ok().as_ref() != Some(&self.calls))
        };
        let (token, split, sale) = tokio::try_join!(is_token_taken, is_split_there, is_sale_changed)?;
        Ok(token || split || sale)
    }
}
