//! What lanes spent, and on what.

use std::fmt;

use alloy::{
    consensus::Transaction as _,
    primitives::U256,
    providers::{Provider, RootProvider},
};
use local::workshop::Workshop;
use shared::store::artist::Slot;

use super::{Error, lanes_receipts};

/// Most gas of a transaction that only fills a nonce: what any transaction costs.
const FILLER_GAS: u64 = 21_000;

/// Wei that lanes spent. Setting accounts up is their deployers' affair, and what one lane pays another stays with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// On artists' transactions, failed attempts included: charged to them.
    pub charged: u128,
    /// On no-ops in place of batches that can't be mined.
    pub noops: u128,
    /// On the gas of payments to other lanes.
    pub payments: u128,
    /// On batches of several transactions that reverted as a whole.
    pub reverted: u128,
    /// By another program that has a lane's key.
    pub foreign: u128,
}

impl Spent {
    /// What nobody is charged for.
    pub fn overhead(self) -> u128 {
        self.noops + self.payments + self.reverted + self.foreign
    }

    pub fn total(self) -> u128 {
        self.charged + self.overhead()
    }
}

impl fmt::Display for Spent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { charged, noops, payments, reverted, foreign } = self;
        write!(formatter, "{charged} wei charged and {} of overhead: {noops} on no-ops", self.overhead())?;
        write!(formatter, ", {payments} on payments among lanes, {reverted} on batches that reverted as a whole")?;
        write!(formatter, ", {foreign} by another program")
    }
}

/// What lanes spent, by the chain's receipts, each with this fee beside its gas in wei. Fails if one that only fills a
/// nonce cost more than [`FILLER_GAS`] at the price that it offers.
pub async fn spent(workshop: &Workshop, node: &RootProvider, fee: u64) -> Result<Spent, Error> {
    let (store, chain, mut spent) = (workshop.transactions(), workshop.chain.id, Spent::default());
    for receipt in lanes_receipts(workshop, node).await? {
        let hash = receipt.transaction_hash;
        let sent = node.get_transaction_by_hash(hash).await?.ok_or("a transaction is missing")?;
        let wei = u128::from(receipt.gas_used) * receipt.effective_gas_price + u128::from(fee);
        let batch = store.batch(&Slot { chain, lane: receipt.from.into(), nonce: sent.nonce() }).await?;
        let Some(batch) = batch.filter(|batch| batch.hashes().contains(&hash)) else {
            spent.foreign += wei;
            continue;
        };
        let fills = batch.fills(hash);
        let is_dear = receipt.gas_used > FILLER_GAS || receipt.effective_gas_price > sent.max_fee_per_gas();
        if fills && is_dear {
            return Err(format!("what fills nonce {} costs too much: {receipt:?}", sent.nonce()).into());
        }
        let part = match (fills, receipt.status()) {
            (true, _) if sent.value().is_zero() => &mut spent.noops,
            (true, _) => &mut spent.payments,
            (false, false) if batch.members.len() != 1 => &mut spent.reverted,
            (false, _) => &mut spent.charged,
        };
        *part += wei;
    }
    Ok(spent)
}

/// Wei that all lanes have now.
pub async fn lanes_wei(workshop: &Workshop, node: &RootProvider) -> Result<U256, Error> {
    let mut sum = U256::ZERO;
    for (lane, _) in workshop.lanes() {
        sum += node.get_balance(*lane).await?;
    }
    Ok(sum)
}
