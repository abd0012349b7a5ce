//! Progress of a transaction after its claim. Writes are conditional; `false` and `None` mean that the state changed.

use aws_sdk_dynamodb::types::{AttributeValue, Delete, Put, TransactWriteItem, Update, builders::UpdateBuilder};

use super::{
    caller::Transactions,
    rows::{
        Answer, Attempt, LaneState, MinedIn, ReplayKey, Slot, Status, Transaction, account_key, lane_key, lease_key,
        replay_key, transaction_key,
    },
};
use crate::{
    model::{Address, ChainId},
    store::table::{PrimaryKey, StoreError, number, text},
};

impl Transactions {
    /// Stores signed bytes before they are sent. On `false` or an error they must not be sent. One write.
    pub async fn store_attempt(&self, transaction: &Transaction, attempt: &Attempt) -> Result<bool, StoreError> {
        let is_filler = transaction.status == Status::Abandoned;
        let (status, list) = if is_filler { (Status::Abandoned, "filler_hashes") } else { (Status::Signed, "hashes") };
        let update = self
            .transaction_update(&transaction.slot)
            .update_expression("SET #status = :status, attempt = :attempt, #list = list_append(#list, :hashes)")
            .expression_attribute_names("#status", "status")
            .expression_attribute_names("#list", list)
            .expression_attribute_values(":status", text(status.word()))
            .expression_attribute_values(":attempt", serde_dynamo::to_attribute_value(attempt)?)
            .expression_attribute_values(":hashes", serde_dynamo::to_attribute_value([attempt.hash])?)
            .expression_attribute_values(":before", text(transaction.status.word()));
        let update = match &transaction.attempt {
            None => update.condition_expression("#status = :before AND attribute_not_exists(attempt)"),
            Some(previous) => update
                .condition_expression("#status = :before AND attempt.#hash = :previous")
                .expression_attribute_names("#hash", "hash")
                .expression_attribute_values(":previous", serde_dynamo::to_attribute_value(previous.hash)?),
        };
        self.table.write_together(vec![write(update)?]).await
    }

    /// Records that a node accepted the signed bytes, and the client's answer. One write.
    pub async fn mark_broadcast(&self, transaction: &Transaction, answer: Option<&Answer>) -> Result<(), StoreError> {
        let Some(attempt) = &transaction.attempt else { return Ok(()) };
        let update = self
            .transaction_update(&transaction.slot)
            .update_expression("SET #status = :broadcast")
            .condition_expression("#status = :signed AND attempt.#hash = :hash")
            .expression_attribute_names("#status", "status")
            .expression_attribute_names("#hash", "hash")
            .expression_attribute_values(":broadcast", text(Status::Broadcast.word()))
            .expression_attribute_values(":signed", text(Status::Signed.word()))
            .expression_attribute_values(":hash", serde_dynamo::to_attribute_value(attempt.hash)?);
        let mut writes = vec![write(update)?];
        let answer = self.answer_write(transaction.replay.as_ref(), answer)?;
        writes.extend(answer.clone());
        if !self.table.write_together(writes).await?
            && let Some(answer) = answer
        {
            // The transaction is already further along; its answer is stored all the same.
            self.table.write_together(vec![answer]).await?;
        }
        Ok(())
    }

    /// Closes a slot with its final `status`. Stores the client's answer if there is none yet. One write.
    pub async fn close(
        &self,
        transaction: &Transaction,
        status: Status,
        mined: Option<MinedIn>,
        answer: Option<&Answer>,
    ) -> Result<bool, StoreError> {
        let Slot { chain, lane, nonce } = transaction.slot;
        let update = self
            .transaction_update(&transaction.slot)
            .condition_expression("#status IN (:signed, :broadcast, :abandoned)")
            .expression_attribute_names("#status", "status")
            .expression_attribute_values(":status", text(status.word()))
            .expression_attribute_values(":signed", text(Status::Signed.word()))
            .expression_attribute_values(":broadcast", text(Status::Broadcast.word()))
            .expression_attribute_values(":abandoned", text(Status::Abandoned.word()));
        let update = match mined {
            Some(mined) => update
                .update_expression("SET #status = :status, mined = :mined")
                .expression_attribute_values(":mined", serde_dynamo::to_attribute_value(mined)?),
            None => update.update_expression("SET #status = :status"),
        };
        let free = Update::builder()
            .table_name(&self.table.name)
            .set_key(Some(lane_key(chain, lane).item()))
            .update_expression("DELETE #open :slot")
            .condition_expression("contains(#open, :nonce)")
            .expression_attribute_names("#open", "open")
            .expression_attribute_values(":slot", AttributeValue::Ns(vec![nonce.to_string()]))
            .expression_attribute_values(":nonce", number(nonce));
        let mut writes = vec![write(update)?, write(free)?];
        if transaction.deploys_account {
            writes.push(match status {
                Status::Mined => self.account_deployed(transaction)?,
                _ => self.deletion(&account_key(transaction.artist_id, chain))?,
            });
        }
        writes.extend(self.answer_write(transaction.replay.as_ref(), answer)?);
        self.table.write_together(writes).await
    }

    /// Abandons a transaction; its slot is filled later. With `never_left` (no signed bytes, or refused by every
    /// node) its idempotency key and its account are released. One write.
    pub async fn abandon(&self, transaction: &Transaction, never_left: bool) -> Result<bool, StoreError> {
        let update = self
            .transaction_update(&transaction.slot)
            .update_expression("SET #status = :abandoned REMOVE attempt")
            .expression_attribute_names("#status", "status")
            .expression_attribute_values(":abandoned", text(Status::Abandoned.word()))
            .expression_attribute_values(":before", text(transaction.status.word()));
        let update = match &transaction.attempt {
            None => update.condition_expression("#status = :before AND attribute_not_exists(attempt)"),
            Some(refused) => update
                .condition_expression("#status = :before AND attempt.#hash = :refused")
                .expression_attribute_names("#hash", "hash")
                .expression_attribute_values(":refused", serde_dynamo::to_attribute_value(refused.hash)?),
        };
        let mut writes = vec![write(update)?];
        if let Some(replay) = transaction.replay.as_ref().filter(|_| never_left) {
            writes.push(self.deletion(&replay_key(replay))?);
        }
        if transaction.deploys_account && never_left {
            writes.push(self.deletion(&account_key(transaction.artist_id, transaction.slot.chain))?);
        }
        self.table.write_together(writes).await
    }

    /// Moves a transaction whose nonce was used elsewhere to the lane's next nonce, at least `least`. One write.
    pub async fn displace(
        &self,
        transaction: &Transaction,
        state: &LaneState,
        least: u64,
        now: u64,
    ) -> Result<Option<Transaction>, StoreError> {
        let Slot { chain, lane, nonce } = transaction.slot;
        let slot = Slot { nonce: state.next_nonce.max(least), ..transaction.slot };
        let mut open = state.open.clone();
        open.remove(&nonce);
        open.insert(slot.nonce);
        let set =
            |open: &std::collections::BTreeSet<u64>| AttributeValue::Ns(open.iter().map(u64::to_string).collect());
        let moved = Transaction {
            slot,
            status: Status::Claimed,
            attempt: None,
            hashes: Vec::new(),
            filler_hashes: Vec::new(),
            is_moved: true,
            claimed_at: now,
            ..transaction.clone()
        };
        let old = self
            .transaction_update(&transaction.slot)
            .update_expression("SET #status = :displaced")
            .condition_expression("#status IN (:signed, :broadcast)")
            .expression_attribute_names("#status", "status")
            .expression_attribute_values(":displaced", text(Status::Displaced.word()))
            .expression_attribute_values(":signed", text(Status::Signed.word()))
            .expression_attribute_values(":broadcast", text(Status::Broadcast.word()));
        let lane = Update::builder()
            .table_name(&self.table.name)
            .set_key(Some(lane_key(chain, lane).item()))
            .update_expression("SET next_nonce = :next, #open = :open")
            .condition_expression("next_nonce = :nonce AND #open = :before")
            .expression_attribute_names("#open", "open")
            .expression_attribute_values(":nonce", number(state.next_nonce))
            .expression_attribute_values(":next", number(slot.nonce + 1))
            .expression_attribute_values(":open", set(&open))
            .expression_attribute_values(":before", set(&state.open));
        let mut writes = vec![write(old)?, write(lane)?, self.table.insertion(&transaction_key(&slot), &moved)?];
        let mut point = |key: PrimaryKey, expression: &str| {
            let update = Update::builder().table_name(&self.table.name).set_key(Some(key.item()));
            let update = update.update_expression(expression).expression_attribute_values(":nonce", number(slot.nonce));
            writes.push(write(update)?);
            Ok::<_, StoreError>(())
        };
        if let Some(replay) = &transaction.replay {
            point(replay_key(replay), "SET nonce = :nonce")?;
        }
        if transaction.deploys_account {
            point(account_key(transaction.artist_id, chain), "SET deployed_by = :nonce")?;
        }
        Ok(self.table.write_together(writes).await?.then_some(moved))
    }

    /// Advances the lane's next nonce to `next`, past nonces used elsewhere. One write.
    pub async fn skip_to(
        &self,
        chain: ChainId,
        lane: Address,
        state: &LaneState,
        next: u64,
    ) -> Result<bool, StoreError> {
        let update = Update::builder()
            .table_name(&self.table.name)
            .set_key(Some(lane_key(chain, lane).item()))
            .update_expression("SET next_nonce = :next")
            .condition_expression("next_nonce = :nonce")
            .expression_attribute_values(":nonce", number(state.next_nonce))
            .expression_attribute_values(":next", number(next));
        self.table.write_together(vec![write(update)?]).await
    }

    /// Stores the answer of a request, if there is none yet. One write.
    pub async fn answer(&self, replay: &ReplayKey, answer: &Answer) -> Result<(), StoreError> {
        let write = self.answer_write(Some(replay), Some(answer))?;
        self.table.write_together(write.into_iter().collect()).await.map(drop)
    }

    /// Releases the idempotency key of an incomplete request. One write.
    pub async fn forget(&self, replay: &ReplayKey) -> Result<(), StoreError> {
        self.table.write_together(vec![self.deletion(&replay_key(replay))?]).await.map(drop)
    }

    /// Leases the lane to `holder` until `expiry`, if it is free at `now` (both in Unix seconds). One write.
    pub async fn take_lease(
        &self,
        chain: ChainId,
        lane: Address,
        holder: &str,
        now: u64,
        expiry: u64,
    ) -> Result<bool, StoreError> {
        let mut item = lease_key(chain, lane).item();
        item.insert("holder".to_owned(), text(holder));
        item.insert("leased_until".to_owned(), number(expiry));
        let put = Put::builder()
            .table_name(&self.table.name)
            .set_item(Some(item))
            .condition_expression("attribute_not_exists(pk) OR leased_until <= :now OR holder = :holder")
            .expression_attribute_values(":holder", text(holder))
            .expression_attribute_values(":now", number(now));
        self.table.write_together(vec![TransactWriteItem::builder().put(put.build()?).build()]).await
    }

    /// Returns the lease, if `holder` still has it. One write.
    pub async fn give_lease_back(&self, chain: ChainId, lane: Address, holder: &str) -> Result<(), StoreError> {
        let delete = Delete::builder()
            .table_name(&self.table.name)
            .set_key(Some(lease_key(chain, lane).item()))
            .condition_expression("holder = :holder")
            .expression_attribute_values(":holder", text(holder));
        self.table.write_together(vec![TransactWriteItem::builder().delete(delete.build()?).build()]).await.map(drop)
    }

    fn transaction_update(&self, slot: &Slot) -> UpdateBuilder {
        Update::builder().table_name(&self.table.name).set_key(Some(transaction_key(slot).item()))
    }

    fn account_deployed(&self, transaction: &Transaction) -> Result<TransactWriteItem, StoreError> {
        let key = account_key(transaction.artist_id, transaction.slot.chain);
        let update = Update::builder().table_name(&self.table.name).set_key(Some(key.item()));
        write(
            update
                .update_expression("SET deployed = :yes")
                .expression_attribute_values(":yes", AttributeValue::Bool(true)),
        )
    }

    fn answer_write(
        &self,
        replay: Option<&ReplayKey>,
        answer: Option<&Answer>,
    ) -> Result<Option<TransactWriteItem>, StoreError> {
        let Some((replay, answer)) = replay.zip(answer) else { return Ok(None) };
        let update = Update::builder()
            .table_name(&self.table.name)
            .set_key(Some(replay_key(replay).item()))
            .update_expression("SET answer = if_not_exists(answer, :answer)")
            .expression_attribute_values(":answer", serde_dynamo::to_attribute_value(answer)?);
        write(update).map(Some)
    }

    fn deletion(&self, key: &PrimaryKey) -> Result<TransactWriteItem, StoreError> {
        let delete = Delete::builder().table_name(&self.table.name).set_key(Some(key.item()));
        Ok(TransactWriteItem::builder().delete(delete.build()?).build())
    }
}

fn write(update: UpdateBuilder) -> Result<TransactWriteItem, StoreError> {
    Ok(TransactWriteItem::builder().update(update.build()?).build())
}
