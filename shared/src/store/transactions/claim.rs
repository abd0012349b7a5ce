use aws_sdk_dynamodb::types::{AttributeValue, Put, TransactWriteItem, Update};

use super::{
    caller::{DAY, Transactions},
    rows::{
        AccountState, Intent, LaneState, MAX_OPEN, ReplayKey, ReplayedRequest, Slot, Status, Transaction, account_key,
        gas_key, lane_key, replay_key, transaction_key,
    },
};
use crate::{
    model::{Address, ArtistId, ChainId},
    store::table::{StoreError, number, row},
};

const REPLAY_LIFETIME: u64 = DAY;

/// A transaction to send.
#[derive(Clone, Debug)]
pub struct NewTransaction {
    /// The artist.
    pub artist_id: ArtistId,
    /// The call to make.
    pub intent: Intent,
    /// Whether it also deploys the artist's account.
    pub deploys_account: bool,
    /// Idempotency key and hash of the request.
    pub replay: Option<(ReplayKey, String)>,
}

/// Daily gas budgets per chain.
#[derive(Clone, Copy, Debug)]
pub struct GasLimits {
    /// Of one artist.
    pub artist: u64,
    /// Of one lane.
    pub lane: u64,
}

/// Result of a claim.
#[derive(Debug)]
pub enum Claim {
    /// The transaction has its nonce.
    Taken(Box<Transaction>),
    /// The lane has changed: read it again.
    Moved,
    /// Nothing was claimed.
    Refused(ClaimRefusal),
}

/// Reason to refuse a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimRefusal {
    /// The lane has [`MAX_OPEN`] open transactions.
    LaneFull,
    /// The artist's gas budget is spent.
    ArtistGasSpent,
    /// The lane's gas budget is spent.
    LaneGasSpent,
    /// Another request with the same idempotency key was faster.
    KeyInUse,
    /// Another transaction is deploying the artist's account.
    AccountUnderWay,
}

impl Transactions {
    /// Creates a lane at `next_nonce`, the chain's; an existing lane is left alone.
    pub async fn open_lane(&self, chain: ChainId, lane: Address, next_nonce: u64) -> Result<(), StoreError> {
        let state = LaneState { next_nonce, ..LaneState::default() };
        self.table.write_together(vec![self.table.insertion(&lane_key(chain, lane), &state)?]).await.map(drop)
    }

    /// Claims the lane's next nonce with everything that depends on it, if the lane is still as in `state`. `now` is in
    /// Unix seconds. One write. After an error the claim may have been made; its slot is filled later.
    pub async fn claim(
        &self,
        chain: ChainId,
        lane: Address,
        state: &LaneState,
        new: &NewTransaction,
        limits: GasLimits,
        now: u64,
    ) -> Result<Claim, StoreError> {
        let (gas, day) = (new.intent.gas_limit, now / DAY);
        let spent = if state.gas_day == day { state.gas_spent } else { 0 }.saturating_add(gas);
        if state.open.len() >= MAX_OPEN {
            return Ok(Claim::Refused(ClaimRefusal::LaneFull));
        }
        if spent > limits.lane {
            return Ok(Claim::Refused(ClaimRefusal::LaneGasSpent));
        }
        if gas > limits.artist {
            return Ok(Claim::Refused(ClaimRefusal::ArtistGasSpent));
        }
        let slot = Slot { chain, lane, nonce: state.next_nonce };
        let transaction = Transaction {
            slot,
            artist_id: new.artist_id,
            intent: new.intent.clone(),
            deploys_account: new.deploys_account,
            replay: new.replay.as_ref().map(|(key, _)| key.clone()),
            status: Status::Claimed,
            attempt: None,
            hashes: Vec::new(),
            filler_hashes: Vec::new(),
            mined: None,
            is_moved: false,
            claimed_at: now,
        };
        let mut writes = vec![
            (self.take_nonce(&slot, day, spent)?, None),
            (self.table.insertion(&transaction_key(&slot), &transaction)?, None),
            (self.spend(new.artist_id, chain, day, gas, limits.artist)?, Some(ClaimRefusal::ArtistGasSpent)),
        ];
        if let Some((key, fingerprint)) = &new.replay {
            writes.push((self.remember(key, fingerprint, slot, now)?, Some(ClaimRefusal::KeyInUse)));
        }
        if new.deploys_account {
            let state = AccountState { deployed: false, deployed_by: Some(slot.nonce) };
            let insertion = self.table.insertion(&account_key(new.artist_id, chain), &state)?;
            writes.push((insertion, Some(ClaimRefusal::AccountUnderWay)));
        }
        let (writes, refusals): (Vec<_>, Vec<_>) = writes.into_iter().unzip();
        let Err(reasons) = self.table.write_or_reasons(writes).await? else {
            return Ok(Claim::Taken(Box::new(transaction)));
        };
        let failed = reasons.into_iter().zip(refusals).filter(|(reason, _)| reason.is_condition());
        // The same key in another request outranks a spent budget.
        let refusal = failed.filter_map(|(_, refusal)| refusal).next_back();
        Ok(refusal.map_or(Claim::Moved, Claim::Refused))
    }

    fn take_nonce(&self, slot: &Slot, day: u64, spent: u64) -> Result<TransactWriteItem, StoreError> {
        let update = Update::builder()
            .table_name(&self.table.name)
            .set_key(Some(lane_key(slot.chain, slot.lane).item()))
            .update_expression("SET next_nonce = :next, gas_day = :day, gas_spent = :spent ADD #open :slot")
            .condition_expression("next_nonce = :nonce AND (attribute_not_exists(#open) OR size(#open) < :max)")
            .expression_attribute_names("#open", "open")
            .expression_attribute_values(":nonce", number(slot.nonce))
            .expression_attribute_values(":next", number(slot.nonce + 1))
            .expression_attribute_values(":slot", AttributeValue::Ns(vec![slot.nonce.to_string()]))
            .expression_attribute_values(":max", number(MAX_OPEN))
            .expression_attribute_values(":day", number(day))
            .expression_attribute_values(":spent", number(spent));
        Ok(TransactWriteItem::builder().update(update.build()?).build())
    }

    fn spend(
        &self,
        artist: ArtistId,
        chain: ChainId,
        day: u64,
        gas: u64,
        max: u64,
    ) -> Result<TransactWriteItem, StoreError> {
        let update = Update::builder()
            .table_name(&self.table.name)
            .set_key(Some(gas_key(artist, chain, day).item()))
            .update_expression("SET expires_at = :expiry ADD spent :gas")
            .condition_expression("attribute_not_exists(spent) OR spent <= :rest")
            .expression_attribute_values(":expiry", number((day + 2) * DAY))
            .expression_attribute_values(":gas", number(gas))
            .expression_attribute_values(":rest", number(max - gas));
        Ok(TransactWriteItem::builder().update(update.build()?).build())
    }

    fn remember(
        &self,
        key: &ReplayKey,
        fingerprint: &str,
        slot: Slot,
        now: u64,
    ) -> Result<TransactWriteItem, StoreError> {
        let expires_at = now + REPLAY_LIFETIME;
        let request = ReplayedRequest { fingerprint: fingerprint.to_owned(), slot, answer: None, expires_at };
        let put = Put::builder()
            .table_name(&self.table.name)
            .set_item(Some(row(&replay_key(key), &request)?))
            .condition_expression("attribute_not_exists(fingerprint) OR expires_at <= :now")
            .expression_attribute_values(":now", number(now));
        Ok(TransactWriteItem::builder().put(put.build()?).build())
    }
}
