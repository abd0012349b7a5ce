//! Lanes and their batches. Each change holds only for the leader of the chain's relay, and only from the statuses that
//! [`BatchStatus::may_become`] names. `false` means that one of both is not so any more.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::{
    primitives::Blob,
    types::{AttributeValue, TransactWriteItem, Update, builders::UpdateBuilder},
};
use serde::{Deserialize, Serialize};

use super::{
    batch::{Attempt, Batch, BatchStatus, MinedIn, Slot, batch_key, lane_key, lanes_key},
    lease::Lease,
    transaction::Transactions,
};
use crate::{
    model::{Address, ChainId, DAY, Event},
    store::{
        artist::service_events::ServiceEvents,
        engine::table::{StoreError, number, status_in, text, updating},
    },
};

const KEPT: u64 = 30 * DAY;

/// State of a lane on a chain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneState {
    /// Next nonce to use.
    pub next_nonce: u64,
    /// Nonces of open batches.
    #[serde(default, with = "serde_dynamo::number_set", skip_serializing_if = "BTreeSet::is_empty")]
    pub open: BTreeSet<u64>,
    /// Nonces that are used in blocks which aren't final.
    #[serde(default, with = "serde_dynamo::number_set", skip_serializing_if = "BTreeSet::is_empty")]
    pub unfinalized: BTreeSet<u64>,
}

#[derive(Deserialize)]
struct KnownLanes {
    #[serde(with = "serde_dynamo::string_set")]
    addresses: BTreeSet<Address>,
}

impl Transactions {
    /// Returns a lane's state; `None` before its first batch on the chain. One read.
    pub async fn lane(&self, chain: ChainId, lane: Address) -> Result<Option<LaneState>, StoreError> {
        self.table.get(&lane_key(chain, lane)).await
    }

    /// Returns a batch. One read.
    pub async fn batch(&self, slot: &Slot) -> Result<Option<Batch>, StoreError> {
        self.table.get(&batch_key(slot)).await
    }

    /// Returns the batches with these nonces, in their order; missing ones are left out. One read for every 20.
    pub async fn batches(
        &self,
        chain: ChainId,
        lane: Address,
        nonces: &BTreeSet<u64>,
    ) -> Result<Vec<Batch>, StoreError> {
        let mut batches: Vec<Batch> = Vec::new();
        for nonces in Vec::from_iter(nonces).chunks(20) {
            let keys = nonces.iter().map(|&&nonce| batch_key(&Slot { chain, lane, nonce }));
            batches.extend(self.table.get_many(keys).await?);
        }
        batches.sort_by_key(|batch| batch.slot.nonce);
        Ok(batches)
    }

    /// All lanes that were ever opened on a chain, those that are no longer configured included. One read.
    pub async fn lanes(&self, chain: ChainId) -> Result<BTreeSet<Address>, StoreError> {
        let known: Option<KnownLanes> = self.table.get(&lanes_key(chain)).await?;
        Ok(known.map(|known| known.addresses).unwrap_or_default())
    }

    /// Opens a lane at `next_nonce`; an existing one is left alone. One write.
    pub async fn open_lane(&self, lease: &Lease, lane: Address, next_nonce: u64) -> Result<bool, StoreError> {
        let state = LaneState { next_nonce, ..LaneState::default() };
        let known = Update::builder()
            .table_name(&self.table.name)
            .set_key(Some(lanes_key(lease.chain).item()))
            .update_expression("ADD addresses :lane")
            .expression_attribute_values(":lane", AttributeValue::Ss(vec![lane.to_string()]));
        let writes =
            vec![self.condition(lease)?, self.table.insertion(&lane_key(lease.chain, lane), &state)?, updating(known)?];
        self.table.write_together(writes).await
    }

    /// Moves the lane's next nonce from `from` up to `to`, past nonces that were used elsewhere. One write.
    pub async fn skip(&self, lease: &Lease, lane: Address, from: u64, to: u64) -> Result<bool, StoreError> {
        let update = self
            .lane_update(lease.chain, lane)
            .update_expression("SET next_nonce = :to")
            .condition_expression("next_nonce = :from")
            .expression_attribute_values(":from", number(from))
            .expression_attribute_values(":to", number(to));
        self.table.write_together(vec![self.condition(lease)?, updating(update)?]).await
    }

    /// Stores a new batch with its signed bytes, which takes its nonce: the lane's next one, or one below it that no batch
    /// has. Before it returns `true`, the bytes must not be sent. One write.
    pub async fn open_batch(&self, lease: &Lease, batch: &Batch, next_nonce: u64) -> Result<bool, StoreError> {
        let Slot { chain, lane, nonce } = batch.slot;
        let update = self
            .lane_update(chain, lane)
            .update_expression("SET next_nonce = :next ADD #open :nonce")
            .condition_expression("next_nonce = :before")
            .expression_attribute_names("#open", "open")
            .expression_attribute_values(":before", number(next_nonce))
            .expression_attribute_values(":next", number(next_nonce.max(nonce.saturating_add(1))))
            .expression_attribute_values(":nonce", set(nonce));
        let insertion = self.table.insertion(&batch_key(&batch.slot), batch)?;
        self.table.write_together(vec![self.condition(lease)?, updating(update)?, insertion]).await
    }

    /// Stores a further version of an open batch. Before it returns `true`, the bytes must not be sent. One write.
    pub async fn add_attempt(
        &self,
        lease: &Lease,
        batch: &Batch,
        attempt: &Attempt,
        signed: &[u8],
    ) -> Result<bool, StoreError> {
        let update = self
            .transition(batch, BatchStatus::Open)
            .update_expression("SET #status = :status, #bytes = :bytes, attempts = list_append(attempts, :attempt)")
            .expression_attribute_names("#bytes", if attempt.fills { "filler" } else { "signed" })
            .expression_attribute_values(":bytes", AttributeValue::B(Blob::new(signed)))
            .expression_attribute_values(":attempt", serde_dynamo::to_attribute_value([attempt])?);
        self.table.write_together(vec![self.condition(lease)?, updating(update)?]).await
    }

    /// Records that a nonce is used: by the batch (`Mined`), by its filler (`Filled`), or by another program
    /// (`Displaced`), with the endings that wait until the block is settled, and publishes the events of its transactions
    /// whose outcomes are stored before. One write, and a read.
    pub async fn close_batch(
        &self,
        lease: &Lease,
        batch: &Batch,
        status: BatchStatus,
        mined: Option<MinedIn>,
        (events, now): (&[Event], u64),
    ) -> Result<bool, StoreError> {
        let update = self.transition(batch, status);
        let update = match mined {
            Some(mined) if batch.pending.is_empty() => update
                .update_expression("SET #status = :status, mined = :mined REMOVE pending")
                .expression_attribute_values(":mined", serde_dynamo::to_attribute_value(mined)?),
            Some(mined) => update
                .update_expression("SET #status = :status, mined = :mined, pending = :pending")
                .expression_attribute_values(":mined", serde_dynamo::to_attribute_value(mined)?)
                .expression_attribute_values(":pending", serde_dynamo::to_attribute_value(&batch.pending)?),
            None => update
                .update_expression("SET #status = :status, expires_at = :expiry REMOVE mined, pending")
                .expression_attribute_values(":expiry", number(now + KEPT)),
        };
        let change = if mined.is_some() { "ADD unfinalized :nonce DELETE #open :nonce" } else { "DELETE #open :nonce" };
        let writes = self.moving_nonce(lease, batch, update, change)?;
        ServiceEvents::new(self.table.clone()).write_with_events(writes, events, now).await
    }

    /// Records that the endings which waited for a batch's block are stored, and publishes their events. One write, and a
    /// read.
    pub async fn settle_batch(
        &self,
        lease: &Lease,
        batch: &Batch,
        (events, now): (&[Event], u64),
    ) -> Result<bool, StoreError> {
        let update = self.transition(batch, batch.status).update_expression("SET #status = :status REMOVE pending");
        let writes = vec![self.condition(lease)?, updating(update)?];
        ServiceEvents::new(self.table.clone()).write_with_events(writes, events, now).await
    }

    /// Stores the reasons of endings that wait, which were found later. One write.
    pub async fn explain_batch(&self, lease: &Lease, batch: &Batch) -> Result<bool, StoreError> {
        let update = self
            .transition(batch, batch.status)
            .update_expression("SET #status = :status, pending = :pending")
            .expression_attribute_values(":pending", serde_dynamo::to_attribute_value(&batch.pending)?);
        self.table.write_together(vec![self.condition(lease)?, updating(update)?]).await
    }

    /// Opens a batch again whose block the chain has dropped. What waited for that is decided by another one. One write.
    pub async fn reopen_batch(&self, lease: &Lease, batch: &Batch) -> Result<bool, StoreError> {
        let update = self.transition(batch, BatchStatus::Open);
        let update = update.update_expression("SET #status = :status REMOVE mined, pending");
        self.table
            .write_together(self.moving_nonce(lease, batch, update, "ADD #open :nonce DELETE unfinalized :nonce")?)
            .await
    }

    /// Records that a batch's block is final, unless an ending still waits for it. One write.
    pub async fn finish_batch(&self, lease: &Lease, batch: &Batch, now: u64) -> Result<bool, StoreError> {
        let update = self.transition(batch, BatchStatus::Final);
        let condition = update.get_condition_expression().clone().unwrap_or_default();
        let update = update
            .condition_expression(format!("{condition} AND attribute_not_exists(pending)"))
            .update_expression("SET #status = :status, expires_at = :expiry")
            .expression_attribute_values(":expiry", number(now + KEPT));
        self.table
            .write_together(self.moving_nonce(lease, batch, update, "DELETE unfinalized :nonce, #open :nonce")?)
            .await
    }

    fn moving_nonce(
        &self,
        lease: &Lease,
        batch: &Batch,
        update: UpdateBuilder,
        change: &str,
    ) -> Result<Vec<TransactWriteItem>, StoreError> {
        let Slot { chain, lane, nonce } = batch.slot;
        let lane = self
            .lane_update(chain, lane)
            .update_expression(change)
            .expression_attribute_names("#open", "open")
            .expression_attribute_values(":nonce", set(nonce));
        Ok(vec![self.condition(lease)?, updating(update)?, updating(lane)?])
    }

    /// An update of a batch whose versions are still those of `batch`, and whose status may become `next`.
    fn transition(&self, batch: &Batch, next: BatchStatus) -> UpdateBuilder {
        let update = Update::builder()
            .table_name(&self.table.name)
            .set_key(Some(batch_key(&batch.slot).item()))
            .expression_attribute_values(":status", text(next.word()))
            .expression_attribute_values(":versions", number(batch.attempts.len()));
        let before = BatchStatus::ALL.into_iter().filter(|status| status.may_become(next)).map(BatchStatus::word);
        let (update, condition) = status_in(update, before);
        update.condition_expression(format!("size(attempts) = :versions AND {condition}"))
    }

    fn lane_update(&self, chain: ChainId, lane: Address) -> UpdateBuilder {
        Update::builder().table_name(&self.table.name).set_key(Some(lane_key(chain, lane).item()))
    }
}

fn set(nonce: u64) -> AttributeValue {
    AttributeValue::Ns(vec![nonce.to_string()])
}
