//! The protocol's fee of purchases in a chain's own currency, and who sent their buyers. The contract that keeps the fee
//! names no token and serves very many other collections, so it is only asked about blocks with such purchases.

use std::collections::BTreeSet;

use alloy::{
    primitives::{Address, B256, U256},
    rpc::types::{Filter, Log},
    sol_types::SolEvent,
};
use futures::{StreamExt, TryStreamExt, stream};
use shared::{
    chain::{
        PROTOCOL_REWARDS,
        contracts::native::ProtocolRewards::RewardsDeposit,
        node::{Node, NodeError},
    },
    model::{Protocol, Referral},
};

use super::logs::PARALLEL;
use crate::{
    event::{ChainEvent, Fact},
    protocol::referral,
};

/// A reward that isn't paired yet.
struct Deposit {
    block: B256,
    log: u64,
    transaction: B256,
    collection: Address,
    fee: U256,
    referral: Option<Referral>,
}

/// Finds the fees and referrals of purchases among `events`, in the order of the chain. Returns how often the node was asked: once
/// for each block that has any.
pub async fn find(node: &Node, events: &mut [ChainEvent]) -> Result<u64, NodeError> {
    let blocks: BTreeSet<B256> =
        events.iter().filter(|event| is_rewarded(event)).map(|event| event.at.block_hash).collect();
    let calls = blocks.len() as u64;
    let ask = |block: B256| async move {
        let filter = Filter::new().at_block_hash(block).address(PROTOCOL_REWARDS);
        node.logs(&filter.event_signature(RewardsDeposit::SIGNATURE_HASH)).await
    };
    let logs: Vec<Vec<Log>> =
        stream::iter(blocks.into_iter().map(ask)).buffer_unordered(PARALLEL).try_collect().await?;
    let mut deposits: Vec<Deposit> = logs.iter().flatten().filter_map(Deposit::of).collect();
    deposits.sort_unstable_by_key(|deposit| (deposit.block, deposit.log));
    for event in events.iter_mut().filter(|event| is_rewarded(event)) {
        let (emitter, at) = (event.emitter, event.at);
        // The nearest one before: a buyer that is a contract may buy again while it gets its token.
        let is_its = |deposit: &Deposit| {
            (deposit.block, deposit.transaction) == (at.block_hash, at.transaction)
                && deposit.collection == emitter
                && deposit.log < at.log_index
        };
        let Some(place) = deposits.iter().rposition(is_its) else { continue };
        let deposit = deposits.remove(place);
        if let Fact::Purchased(purchase) = &mut event.fact {
            (purchase.fee, purchase.referral) = (Some(deposit.fee), deposit.referral);
        }
    }
    Ok(calls)
}

/// Purchases whose own event says who sent the buyer have no quantity.
fn is_rewarded(event: &ChainEvent) -> bool {
    event.protocol == Protocol::Native && matches!(&event.fact, Fact::Purchased(it) if it.quantity.is_some())
}

impl Deposit {
    fn of(log: &Log) -> Option<Self> {
        let deposit = RewardsDeposit::decode_log(&log.inner).ok().filter(|_| log.address() == PROTOCOL_REWARDS)?;
        let shares = [
            deposit.creatorReward,
            deposit.createReferralReward,
            deposit.mintReferralReward,
            deposit.firstMinterReward,
            deposit.zoraReward,
        ];
        Some(Self {
            block: log.block_hash?,
            log: log.log_index?,
            transaction: log.transaction_hash?,
            collection: deposit.from,
            fee: shares.into_iter().fold(U256::ZERO, U256::saturating_add),
            referral: referral(deposit.mintReferral, deposit.zora, deposit.mintReferralReward),
        })
    }
}
