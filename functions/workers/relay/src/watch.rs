//! Open batches: is one mined, must it be sent again, or with higher fees, or given up? And younger ones: is the block
//! still the chain's?

use std::time::{Duration, Instant};

use shared::{
    chain::node::{NodeFault, Receipt},
    model::Event,
    store::artist::{Batch, BatchStatus},
    telemetry::{self, Metric},
};

use crate::{
    ChainRelay, RelayError, Report,
    fleet::{Lane, Tracked},
    leader::{Leader, if_node},
    outcome::mined_in,
    still_leads,
    submit::gas_limit,
};

/// Pause between two sendings of the same bytes, in case nodes have lost them.
const RESEND: Duration = Duration::from_secs(3);

/// Time for which nodes must refuse a batch, or lack it after they had it, before it is replaced.
const DOUBT: Duration = Duration::from_secs(6);

/// Time for which nodes must claim a batch's nonce used before it is looked who used it. That is decided by a block, so it
/// may be short.
const SHORT_DOUBT: Duration = Duration::from_secs(2);

/// The same where no node finds out which transaction used the nonce.
const LONG_DOUBT: Duration = Duration::from_secs(60);

/// Blocks that may pass over a lane's lowest nonce, although its fees cover the base fee, until it gets higher ones: pools
/// may keep it for too cheap, or have forgotten to offer it.
const MOST_BLOCKS: u64 = 10;

/// What to do about a batch that isn't mined.
enum Remedy {
    Wait,
    Raise,
    Fill,
    LookWhoUsedIt,
}

impl Leader<'_> {
    /// Closes the batches that are mined. `true` if there were any. One node call each, one more for each earlier version.
    pub(crate) async fn watch(&mut self, now: u64, report: &mut Report) -> Result<bool, RelayError> {
        let (relay, lease) = (self.relay, self.lease);
        let mut closed = false;
        for lane in &mut self.lanes {
            let mut index = 0;
            while index < lane.open.len() {
                let Some((receipt, events)) = relay.decide(lane, index, now, report).await? else {
                    index += 1;
                    continue;
                };
                let tracked = lane.open.remove(index);
                let fills = tracked.batch.fills(receipt.transaction_hash);
                let status = if fills { BatchStatus::Filled } else { BatchStatus::Mined };
                lane.young.push(relay.close(lease, tracked.batch, status, &receipt, (&events, now)).await?);
                let nonce = lane.young.last().map(|tracked| tracked.batch.slot.nonce).unwrap_or_default();
                lane.on_chain = lane.on_chain.max(nonce + 1);
                lane.is_well();
                closed = true;
            }
        }
        Ok(closed)
    }

    /// Sends what isn't mined again, as it is or with higher fees, and gives up what can't be mined.
    pub(crate) async fn push(&mut self, now: u64, report: &mut Report) -> Result<(), RelayError> {
        for lane in 0..self.lanes.len() {
            let can_fill = self.lanes[lane].signer.is_some() && !self.lanes[lane].is_resting();
            if let Some(nonce) = self.lanes[lane].gap().filter(|_| can_fill) {
                // A node that lags names a nonce that is used already.
                if self.relay.transactions.batch(&self.slot(lane, nonce)).await?.is_none() {
                    let market = self.market().await?;
                    let (relay, lease) = (self.relay, self.lease);
                    relay.fill_gap(lease, &mut self.lanes[lane], nonce, market, now).await?;
                    report.signatures += 1;
                }
            }
            for index in 0..self.lanes[lane].open.len() {
                self.push_one(lane, index, now, report).await?;
            }
            self.lanes[lane].open.retain(|tracked| tracked.batch.status == BatchStatus::Open);
        }
        Ok(())
    }

    async fn push_one(&mut self, lane: usize, index: usize, now: u64, report: &mut Report) -> Result<(), RelayError> {
        let tracked = &mut self.lanes[lane].open[index];
        let is_due = !tracked.is_taken || tracked.sent_at.is_none_or(|at| at.elapsed() >= RESEND);
        let too_soon = tracked.sent_at.is_some_and(|at| at.elapsed() < RESEND / 6);
        if !is_due || too_soon {
            return Ok(());
        }
        let fault = self.relay.send(tracked).await;
        if tracked.is_taken {
            tracked.suspect_since = None;
            if !tracked.is_marked {
                self.relay.mark_sent(tracked, now).await?;
            }
        }
        match self.remedy(lane, index, fault).await? {
            Remedy::Wait => Ok(()),
            Remedy::Raise => self.raise(lane, index, now, report).await,
            Remedy::Fill => self.fill(lane, index, now, report).await,
            Remedy::LookWhoUsedIt => self.look_who_used(lane, index, now, report).await,
        }
    }

    async fn remedy(
        &mut self,
        lane: usize,
        index: usize,
        fault: Option<(NodeFault, bool)>,
    ) -> Result<Remedy, RelayError> {
        let market = self.market().await?;
        let lane = &mut self.lanes[lane];
        let (on_chain, signs) = (lane.on_chain, lane.signer.is_some());
        let tracked = &mut lane.open[index];
        let Some(newest) = tracked.batch.attempts.last().copied() else { return Ok(Remedy::Wait) };
        let doubted =
            |tracked: &mut Tracked, time| tracked.suspect_since.get_or_insert_with(Instant::now).elapsed() >= time;
        Ok(match fault {
            Some((NodeFault::NonceTooLow, _)) if doubted(tracked, SHORT_DOUBT) => Remedy::LookWhoUsedIt,
            _ if !signs => Remedy::Wait,
            Some((NodeFault::Refused, false)) if !newest.fills && doubted(tracked, DOUBT) => Remedy::Fill,
            _ if tracked.replaced_at.is_some_and(|at| at.elapsed() < RESEND) => Remedy::Wait,
            Some((NodeFault::FeeTooLow | NodeFault::ReplacementUnderpriced, _)) => Remedy::Raise,
            // Higher fees would take the lane only further from being able to pay.
            Some((NodeFault::InsufficientFunds, _)) => {
                lane.rest();
                Remedy::Wait
            }
            Some(_) => Remedy::Wait,
            None if !market.admits(newest.fees) => Remedy::Raise,
            None if tracked.batch.slot.nonce != on_chain => Remedy::Wait,
            None if tracked.lowest_since.get_or_insert(market.block).saturating_add(MOST_BLOCKS) <= market.block => {
                Remedy::Raise
            }
            None => Remedy::Wait,
        })
    }

    /// Replaces a batch by itself with higher fees, if the cap and the lane's balance allow it.
    async fn raise(&mut self, lane: usize, index: usize, now: u64, report: &mut Report) -> Result<(), RelayError> {
        let market = self.market().await?;
        let (relay, lease) = (self.relay, self.lease);
        let batch = &self.lanes[lane].open[index].batch;
        let Some(newest) = batch.attempts.last() else { return Ok(()) };
        let Some(fees) = newest.fees.bump(market, relay.chain.spending.max_fee_per_gas) else { return Ok(()) };
        let more =
            u128::from(gas_limit(batch)) * u128::from(fees.max_fee_per_gas.saturating_sub(newest.fees.max_fee_per_gas));
        if self.lanes[lane].spendable() < alloy::primitives::U256::from(more) {
            return Ok(());
        }
        let replaced = relay.replace(lease, &self.lanes[lane], batch, fees, newest.fills, now).await?;
        report.bumped += 1;
        telemetry::record(&[("Chain", &relay.chain.id.to_string())], &[(Metric::Bumps, 1)]);
        self.send_replaced(lane, index, replaced, now, report).await
    }

    /// Replaces a batch that nodes refuse by one that does nothing, so that the nonce is used and the lane goes on.
    async fn fill(&mut self, lane: usize, index: usize, now: u64, report: &mut Report) -> Result<(), RelayError> {
        let market = self.market().await?;
        let (relay, lease) = (self.relay, self.lease);
        let batch = &self.lanes[lane].open[index].batch;
        let Some(newest) = batch.attempts.last() else { return Ok(()) };
        let fees = newest.fees.bump(market, relay.chain.spending.max_fee_per_gas).unwrap_or(newest.fees);
        let replaced = relay.replace(lease, &self.lanes[lane], batch, fees, true, now).await?;
        self.send_replaced(lane, index, replaced, now, report).await
    }

    async fn send_replaced(
        &mut self,
        lane: usize,
        index: usize,
        replaced: Batch,
        now: u64,
        report: &mut Report,
    ) -> Result<(), RelayError> {
        report.signatures += 1;
        let tracked = &mut self.lanes[lane].open[index];
        *tracked = Tracked { replaced_at: Some(Instant::now()), ..Tracked::new(replaced) };
        self.relay.send(tracked).await;
        if tracked.is_taken {
            self.relay.mark_sent(tracked, now).await?;
        }
        Ok(())
    }

    /// Releases a batch's transactions if another program has used its nonce. Every node must say that the nonce is used and
    /// none may have a receipt; and since backends behind one URL may differ in that, the block with the other transaction
    /// is looked for. A node that can't be asked proves nothing.
    async fn look_who_used(
        &mut self,
        lane: usize,
        index: usize,
        now: u64,
        report: &mut Report,
    ) -> Result<(), RelayError> {
        let (relay, lease) = (self.relay, self.lease);
        let batch = self.lanes[lane].open[index].batch.clone();
        let (hashes, confirmations) = (batch.hashes(), relay.chain.confirmations);
        let since = self.lanes[lane].open[index].suspect_since;
        for node in relay.node.each() {
            let facts = node.nonce_facts(batch.slot.lane.into(), batch.slot.nonce, &hashes, confirmations).await?;
            if facts.receipt.is_some() || !facts.is_used_for_good {
                return Ok(());
            }
        }
        match relay.node.user_of_nonce(batch.slot.lane.into(), batch.slot.nonce, confirmations).await {
            Ok(Some(hash)) if !hashes.contains(&hash) => {}
            // Nodes without the state of that block can't tell.
            Err(error) if since.is_some_and(|since| since.elapsed() >= LONG_DOUBT) => {
                tracing::warn!(error = telemetry::chain(&error), "the nonce's user wasn't found");
            }
            _ => return Ok(()),
        }
        tracing::error!(chain.id = relay.chain.id.0, lane = %batch.slot.lane, nonce = batch.slot.nonce, "the lane's key was used elsewhere");
        telemetry::count(Metric::ForeignNonces);
        let events = relay.release(&batch, now, report).await?;
        let closed = relay.transactions.close_batch(lease, &batch, BatchStatus::Displaced, None, (&events, now));
        still_leads(closed.await?)?;
        self.lanes[lane].open[index].batch.status = BatchStatus::Displaced;
        Ok(())
    }

    /// Looks after batches whose blocks may still be dropped. One node call, and one more for each that is due.
    pub(crate) async fn mature(&mut self, report: &mut Report) -> Result<(), RelayError> {
        if self.lanes.iter().all(|lane| lane.young.is_empty()) {
            return Ok(());
        }
        let head = self.relay.node.newest_block().await?;
        for lane in &mut self.lanes {
            mature(self.relay, self.lease, lane, head, report).await?;
        }
        Ok(())
    }

    fn slot(&self, lane: usize, nonce: u64) -> shared::store::artist::Slot {
        shared::store::artist::Slot { chain: self.relay.chain.id, lane: self.lanes[lane].address, nonce }
    }
}

async fn mature(
    relay: &ChainRelay,
    lease: &shared::store::artist::Lease,
    lane: &mut Lane<'_>,
    head: u64,
    report: &mut Report,
) -> Result<(), RelayError> {
    let now = shared::clock::now()?.as_secs();
    let mut index = 0;
    while index < lane.young.len() {
        let tracked = &mut lane.young[index];
        let is_dropped = lane.on_chain <= tracked.batch.slot.nonce;
        let block = tracked.batch.mined.map_or(0, |mined| mined.block);
        let is_old = block + relay.chain.reorg_depth <= head;
        let is_due = !tracked.is_confirmed && block + relay.chain.confirmations <= head;
        if is_dropped {
            // A node that lags looks the same, and takes what it is sent.
            relay.send(tracked).await;
        }
        let is_lost = is_dropped && tracked.suspect_since.get_or_insert_with(Instant::now).elapsed() >= DOUBT;
        if !is_dropped {
            tracked.suspect_since = None;
        }
        if !is_old && !is_lost && !is_due {
            index += 1;
            continue;
        }
        let receipt = relay.receipt(&lane.young[index].batch).await?;
        let mut events = Vec::new();
        if let Some(receipt) = receipt.as_ref().filter(|receipt| {
            // Another block has it now, where it may have gone another way.
            receipt.block_hash != lane.young[index].batch.mined.map(|mined| mined.block_hash)
        }) {
            events = relay.conclude(&lane.young[index].batch, receipt, now, report).await?;
        }
        let mut tracked = lane.young.remove(index);
        match receipt {
            Some(receipt) if receipt.block_hash == tracked.batch.mined.map(|mined| mined.block_hash) => {
                if is_old && !is_lost {
                    still_leads(relay.transactions.finish_batch(lease, &tracked.batch, now).await?)?;
                } else {
                    tracked.is_confirmed |= is_due;
                    lane.young.insert(index, tracked);
                    index += 1;
                }
            }
            // A node that lags.
            None if !is_old && !is_lost => {
                lane.young.insert(index, tracked);
                index += 1;
            }
            Some(receipt) => {
                let status = tracked.batch.status;
                lane.young.insert(index, relay.close(lease, tracked.batch, status, &receipt, (&events, now)).await?);
                index += 1;
            }
            None => {
                tracing::warn!(chain.id = relay.chain.id.0, lane = %lane.address, nonce = tracked.batch.slot.nonce, "the chain has dropped a batch");
                still_leads(relay.transactions.reopen_batch(lease, &tracked.batch).await?)?;
                (tracked.batch.status, tracked.batch.mined) = (BatchStatus::Open, None);
                lane.track(tracked.batch);
            }
        }
    }
    Ok(())
}

impl ChainRelay {
    /// The receipt of an open batch, after what it says of the transactions is stored; `None` without one, or if the nodes
    /// failed.
    async fn decide(
        &self,
        lane: &Lane<'_>,
        index: usize,
        now: u64,
        report: &mut Report,
    ) -> Result<Option<(Receipt, Vec<Event>)>, RelayError> {
        let batch = &lane.open[index].batch;
        let decided = async {
            let Some(receipt) = self.receipt(batch).await? else { return Ok(None) };
            let events = self.conclude(batch, &receipt, now, report).await?;
            Ok(Some((receipt, events)))
        };
        decided.await.or_else(if_node)
    }

    /// The receipt of one of a batch's versions.
    async fn receipt(&self, batch: &Batch) -> Result<Option<Receipt>, RelayError> {
        for attempt in batch.attempts.iter().rev() {
            if let Some(receipt) = self.node.receipt(attempt.hash).await? {
                return Ok(Some(receipt));
            }
        }
        Ok(None)
    }

    async fn close(
        &self,
        lease: &shared::store::artist::Lease,
        mut batch: Batch,
        status: BatchStatus,
        receipt: &Receipt,
        told: (&[Event], u64),
    ) -> Result<Tracked, RelayError> {
        let mined = mined_in(receipt, receipt.gas_used);
        still_leads(self.transactions.close_batch(lease, &batch, status, Some(mined), told).await?)?;
        (batch.status, batch.mined) = (status, Some(mined));
        Ok(Tracked::new(batch))
    }
}
