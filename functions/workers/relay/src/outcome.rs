//! Outcomes of a batch's transactions, by the receipt's logs.

use std::collections::HashMap;

use alloy::rpc::types::Log;
use futures::{StreamExt, stream};
use serde_json::Map;
use shared::{
    chain::{
        node::Receipt,
        protocol::created::created,
        transaction::{Execution, Operation, attribute, unpack},
    },
    model::{Creation, Event, TransactionId, TransactionStatus},
    store::artist::{Batch, BatchReference, Ending, Lease, Member, MinedIn, PendingEnding, Requeue, Transaction},
};

use crate::{
    batch::own,
    chain::{ChainRelay, Leadership, SIDE_BY_SIDE},
    error::{RelayError, ensure_unchanged},
    overtaken::overtaken,
    signed::transaction,
    words::{Failed, Question, UNEXPLAINED, Words},
};

/// Gas of a transaction in a batch beside its calls: what its share of the batch's cost is weighed with.
const OVERHEAD: u64 = 40_000;
/// The same of an account's deployment.
const DEPLOYMENT: u64 = 250_000;
/// Bytes of an account's transaction beside its call's data.
const OVERHEAD_BYTES: u64 = 500;

/// Most attempts: halving the largest batch down to one takes seven, and others' tokens may come in between.
const MAX_ATTEMPTS: u32 = 20;

/// Most doublings of the pause after somebody else's token came first.
const MAX_DOUBLINGS: u32 = 6;

/// Most characters of a reason that waits: contracts write them, and a batch's row holds all of its transactions'.
const LONGEST_REASON: usize = 200;

/// What happens to a transaction after its batch.
enum Verdict {
    Over(Ending),
    GiveUp(&'static str),
    Requeue(Retry),
}

/// Return to the queue.
#[derive(Clone, Copy, Debug, Default)]
struct Retry {
    /// Most transactions of the next batch.
    max_batch_len: Option<usize>,
    /// The block in which somebody else's token came first.
    overtaken_in: Option<u64>,
}

/// A transaction's share of what its batch cost, in wei.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    gas: u64,
    /// What the chain takes beside.
    fees: u64,
}

impl Cost {
    /// With no more fees than were reserved: no block commits to those.
    pub(crate) fn within(self, reserved: u64) -> u64 {
        self.gas.saturating_add(self.fees.min(reserved))
    }
}

/// What a batch's operations did in a block.
pub(crate) struct Effects {
    pub(crate) operations: Vec<Operation>,
    pub(crate) executions: Vec<Execution>,
    /// The members' shares of the batch, in their order.
    pub(crate) shares: Vec<(MinedIn, Cost)>,
}

impl Effects {
    pub(crate) fn of(relay: &ChainRelay, batch: &Batch, receipt: &Receipt) -> Result<Self, RelayError> {
        let data = transaction(batch)?.input;
        let operations = unpack(relay.operator.safe, batch.slot.lane.into(), &data);
        let operations = operations.ok_or(RelayError::Bytes(receipt.hash))?;
        let executions = attribute(&receipt.logs, &operations);
        let weights = batch.members.iter().zip(own(batch)).map(|(member, index)| weight(member, &executions[index]));
        let weights: Vec<_> = weights.collect();
        let sizes: Vec<_> = own(batch).map(|index| size(&operations[index])).collect();
        let fees = shares(receipt.operator_fee(), &weights).into_iter().zip(shares(receipt.l1_fee(), &sizes));
        let fees = fees.map(|(one, other)| one.saturating_add(other));
        let gas = shares(receipt.gas_used.into(), &weights);
        let parts = gas.into_iter().zip(fees).map(|(gas, fees)| (mined_in(receipt, gas), cost(gas, fees, receipt)));
        Ok(Self { shares: parts.collect(), operations, executions })
    }
}

/// Rows of a batch's transactions.
type Rows = HashMap<TransactionId, Transaction>;

async fn read_rows(relay: &ChainRelay, batch: &Batch) -> Result<Rows, RelayError> {
    Ok(relay.members(batch).await?.into_iter().map(|row| (row.id, row)).collect())
}

/// Outcomes that are stored.
#[derive(Debug, Default)]
pub(crate) struct Conclusion {
    /// To be published when the batch is closed or settled.
    pub(crate) events: Vec<Event>,
    /// Transactions that ended.
    pub(crate) ended: usize,
    /// Endings that wait until the batch's block is settled.
    pub(crate) pending: Vec<PendingEnding>,
    /// Whether others wait for words: all is concluded once more then.
    pub(crate) waits_for_words: bool,
}

/// Which endings are stored now.
#[derive(Clone, Copy)]
enum Stage<'a> {
    /// Of what was done: the chain may drop the block, and what failed there may succeed in another one.
    Unsettled,
    /// All.
    Settled,
    /// Those that have waited, by the leader alone: another one may have stored another ending, or sent them again.
    Waited(&'a Lease),
}

impl Conclusion {
    fn add(&mut self, other: Self) {
        self.events.extend(other.events);
        self.ended += other.ended;
        self.pending.extend(other.pending);
        self.waits_for_words |= other.waits_for_words;
    }
}

/// Stores how each transaction of a mined batch ended: what wasn't done only if the block is settled. May be repeated.
/// One write each, and one read per 100, and the call of [`overtaken`] if some failed.
pub(crate) async fn conclude(
    relay: &ChainRelay,
    words: &mut Words<'_>,
    batch: &Batch,
    receipt: &Receipt,
    is_settled: bool,
) -> Result<Conclusion, RelayError> {
    let stage = if is_settled { Stage::Settled } else { Stage::Unsettled };
    if batch.fills(receipt.hash) {
        return return_to_queue(relay, batch, stage).await;
    }
    match receipt.succeeded {
        true => conclude_each(relay, words, batch, receipt, stage).await,
        // That isn't the transactions' fault.
        false if !relay.owners().await?.contains(&batch.slot.lane.into()) => put_back(relay, batch, stage).await,
        false => store(relay, batch, reverted_as_a_whole(batch, receipt), stage).await,
    }
}

/// Stores the endings that waited for a batch's block, which is settled. May be repeated. One write each, and one read per
/// 100.
pub(crate) async fn settle(leadership: Leadership<'_>, batch: &Batch) -> Result<Conclusion, RelayError> {
    let pending: HashMap<_, _> = batch.pending.iter().map(|pending| (pending.transaction_id, pending)).collect();
    let members = batch.members.iter().filter(|member| pending.contains_key(&member.transaction_id));
    let ids: Vec<_> = members.map(|member| (member.artist_id, member.transaction_id)).collect();
    let rows: Rows = leadership.transactions.get_many(&ids).await?.into_iter().map(|row| (row.id, row)).collect();
    let verdict = |member: &Member| {
        let PendingEnding { reason, gas_used, wei, .. } = pending.get(&member.transaction_id)?;
        let mined = batch.mined.zip(*gas_used).map(|(mined, gas_used)| MinedIn { gas_used, ..mined });
        let ending = Ending { mined, ..undone(batch, reason) };
        Some((Verdict::Over(ending), Cost { gas: *wei, fees: 0 }))
    };
    let verdicts = batch.members.iter().map(verdict).collect();
    store_in(leadership.relay, batch, &rows, verdicts, Stage::Waited(leadership.lease)).await
}

/// Puts all of a batch's transactions back as they were, after another program has used its nonce for good.
pub(crate) async fn release(relay: &ChainRelay, batch: &Batch) -> Result<Conclusion, RelayError> {
    put_back(relay, batch, Stage::Settled).await
}

async fn put_back(relay: &ChainRelay, batch: &Batch, stage: Stage<'_>) -> Result<Conclusion, RelayError> {
    let verdict = |_| Some((Verdict::Requeue(Retry::default()), Cost::default()));
    let verdicts = batch.members.iter().map(verdict).collect();
    store(relay, batch, verdicts, stage).await
}

/// Puts the transactions of a batch that nodes refuse back into the queue, in two halves if there are several; one that
/// is alone has failed.
async fn return_to_queue(relay: &ChainRelay, batch: &Batch, stage: Stage<'_>) -> Result<Conclusion, RelayError> {
    let verdict = |_| match batch.members.len() {
        0 | 1 => Verdict::GiveUp("The chain's nodes refuse the transaction"),
        several => Verdict::Requeue(Retry { max_batch_len: Some(several.div_ceil(2)), ..Retry::default() }),
    };
    let verdicts = batch.members.iter().map(verdict).map(|verdict| Some((verdict, Cost::default())));
    store(relay, batch, verdicts.collect(), stage).await
}

/// Stores verdicts of a batch's members, in their order, as far as there are any.
async fn store(
    relay: &ChainRelay,
    batch: &Batch,
    verdicts: Vec<Option<(Verdict, Cost)>>,
    stage: Stage<'_>,
) -> Result<Conclusion, RelayError> {
    store_in(relay, batch, &read_rows(relay, batch).await?, verdicts, stage).await
}

/// The same, given their rows.
async fn store_in(
    relay: &ChainRelay,
    batch: &Batch,
    rows: &Rows,
    verdicts: Vec<Option<(Verdict, Cost)>>,
    stage: Stage<'_>,
) -> Result<Conclusion, RelayError> {
    let now = relay.now()?;
    let mut steps = stream::iter(batch.members.iter().zip(verdicts))
        .filter_map(|(member, verdict)| std::future::ready(rows.get(&member.transaction_id).zip(verdict)))
        .map(|(row, verdict)| store_one(relay, batch, row, verdict, stage, now))
        .buffered(SIDE_BY_SIDE);
    let mut conclusion = Conclusion::default();
    while let Some(step) = steps.next().await {
        conclusion.add(step?);
    }
    Ok(conclusion)
}

/// An earlier run may have ended the transaction without publishing the event.
async fn store_one(
    relay: &ChainRelay,
    batch: &Batch,
    row: &Transaction,
    (verdict, cost): (Verdict, Cost),
    stage: Stage<'_>,
    now: u64,
) -> Result<Conclusion, RelayError> {
    let (was_over, reference) = (row.status.is_final(), BatchReference::from(batch.slot));
    let wei = cost.within(row.charge.wei);
    let is_done = matches!(&verdict, Verdict::Over(ending) if ending.status == TransactionStatus::Mined);
    if !is_done && row.batch.is_some_and(|last| last != reference) {
        // Another batch decided it, or may still do so.
        relay.transactions.correct_try(row, reference, wei).await?;
        return Ok(Conclusion::default());
    }
    let mut ending = match verdict {
        Verdict::Over(ending) => ending,
        Verdict::GiveUp(reason) => undone(batch, reason),
        Verdict::Requeue(_) if was_over => undone(batch, "The chain dropped the block that had it: try again"),
        Verdict::Requeue(_) if row.attempts_before(reference) >= MAX_ATTEMPTS => {
            undone(batch, "It was tried often and never got through: try again")
        }
        Verdict::Requeue(_) if row.cost_with(reference, wei) > row.charge.wei => {
            undone(batch, "Its attempts cost what was reserved for it, and none got through: try again")
        }
        Verdict::Requeue(Retry { max_batch_len, overtaken_in }) => {
            // Whoever creates a token in each block makes no more than a few tries fail.
            let pause = 1 << row.attempts_before(reference).min(MAX_DOUBLINGS);
            let not_before = overtaken_in.map(|block| block.saturating_add(pause));
            let hashes = batch.hashes();
            let requeue = Requeue { max_batch_len, not_before, attempt: Some((reference, wei)), hashes: &hashes };
            ensure_unchanged(relay.transactions.requeue(row, requeue, now).await?)?;
            return Ok(Conclusion::default());
        }
    };
    if matches!(stage, Stage::Unsettled) && !is_done {
        let gas_used = ending.mined.map(|mined| mined.gas_used);
        let reason = ending.reason.as_deref().map(shortened).unwrap_or_default();
        let pending = PendingEnding { transaction_id: row.id, reason, gas_used, wei };
        return Ok(Conclusion { pending: vec![pending], ..Conclusion::default() });
    }
    (ending.batch, ending.wei) = (Some(reference), wei);
    let is_same = row.status == ending.status && row.mined == ending.mined;
    let costs_the_same = row.mined.is_some() || row.charge.wei == row.cost_with(reference, wei);
    let is_known = was_over && is_same && costs_the_same;
    let is_stored = match stage {
        _ if is_known => false,
        Stage::Waited(lease) => relay.transactions.end_led(lease, row, &ending, now).await?,
        _ => relay.transactions.end(row, &ending, now).await?,
    };
    let event = (is_stored || row.status == ending.status).then(|| row.outcome_event(&ending, now));
    let ended = usize::from(is_stored && !was_over);
    Ok(Conclusion { events: event.into_iter().collect(), ended, ..Conclusion::default() })
}

/// Reads the outcomes from the logs of a successful batch. Those that need no words are stored first.
async fn conclude_each(
    relay: &ChainRelay,
    words: &mut Words<'_>,
    batch: &Batch,
    receipt: &Receipt,
    stage: Stage<'_>,
) -> Result<Conclusion, RelayError> {
    let Effects { operations, executions, shares } = Effects::of(relay, batch, receipt)?;
    let rows = read_rows(relay, batch).await?;
    let members = || batch.members.iter().zip(own(batch)).zip(shares.iter().copied());
    let clear = |((member, index), (mined, cost)): ((&Member, usize), (MinedIn, Cost))| {
        let verdict = match &executions[index] {
            Execution::Executed { succeeded: true, logs, .. } => {
                let creation = rows.get(&member.transaction_id).map(|row| row.creation).unwrap_or_default();
                Verdict::Over(done(relay, batch, creation, mined, logs))
            }
            Execution::Executed { succeeded: false, .. } => return None,
            // Its account wasn't there: the deployment before it failed.
            Execution::Absent => Verdict::Requeue(Retry { max_batch_len: Some(1), overtaken_in: None }),
        };
        Some((verdict, cost))
    };
    // Known before anybody is told of them.
    relay.provenance.note(&relay.chain, &receipt.logs).await?;
    let mut conclusion = store_in(relay, batch, &rows, members().map(clear).collect(), stage).await?;
    let failed = batch.members.iter().zip(own(batch)).filter_map(|(member, index)| match executions[index] {
        Execution::Executed { succeeded: false, gas, .. } => Some(Failed { member: *member, index, gas }),
        _ => None,
    });
    let failed: Vec<_> = failed.collect();
    if failed.is_empty() {
        return Ok(conclusion);
    }
    let place = (batch.slot, receipt.block_hash);
    let overtaken = match words.overtaken(place) {
        Some(known) => known,
        None => overtaken(relay, (batch, receipt), &operations, &executions, &rows).await?,
    };
    let unknown: Vec<_> = failed.iter().copied().filter(|failed| !overtaken.contains(&failed.index)).collect();
    let failed: Vec<_> = failed.into_iter().map(|failed| failed.index).collect();
    let mut found = HashMap::new();
    if !unknown.is_empty() {
        let question = || Question {
            operations,
            block: receipt.block,
            failed: failed.clone(),
            overtaken: overtaken.clone(),
            unknown,
        };
        let Some(words) = words.of(place, question) else {
            return Ok(Conclusion { waits_for_words: true, ..conclusion });
        };
        found = words;
    }
    let unclear = |((_, index), (mined, cost)): ((&Member, usize), (MinedIn, Cost))| {
        let verdict = match (failed.contains(&index), overtaken.contains(&index)) {
            (false, _) => return None,
            (true, true) => Verdict::Requeue(Retry { max_batch_len: None, overtaken_in: Some(mined.block) }),
            (true, false) => {
                let reason = found.remove(&index).unwrap_or_else(|| UNEXPLAINED.to_owned());
                Verdict::Over(Ending { mined: Some(mined), ..undone(batch, &reason) })
            }
        };
        Some((verdict, cost))
    };
    conclusion.add(store_in(relay, batch, &rows, members().map(unclear).collect(), stage).await?);
    Ok(conclusion)
}

/// A reason that waits.
pub(crate) fn shortened(reason: &str) -> String {
    reason.chars().take(LONGEST_REASON).collect()
}

/// A batch that reverted as a whole did nothing.
fn reverted_as_a_whole(batch: &Batch, receipt: &Receipt) -> Vec<Option<(Verdict, Cost)>> {
    let (chain, lane, hash) = (batch.slot.chain, batch.slot.lane, receipt.hash);
    tracing::error!(chain.id = chain.0, %lane, tx.hash = %hash, "batch {hash} of chain {chain} reverted as a whole");
    let (reason, mined) = ("The transaction failed on the chain", mined_in(receipt, receipt.gas_used));
    let verdict = |_| match batch.members.len() {
        1 => {
            let fees = limited(receipt.l1_fee().saturating_add(receipt.operator_fee()));
            let ending = Ending { mined: Some(mined), ..undone(batch, reason) };
            (Verdict::Over(ending), cost(receipt.gas_used, fees, receipt))
        }
        // One lost account takes all along: no artist is charged for that.
        several => {
            let retry = Retry { max_batch_len: Some(several.div_ceil(2)), ..Retry::default() };
            (Verdict::Requeue(retry), Cost::default())
        }
    };
    batch.members.iter().map(verdict).map(Some).collect()
}

/// The ending of a transaction of a batch that was done, given its share of the block and its logs.
pub(crate) fn done(relay: &ChainRelay, batch: &Batch, creation: Creation, mined: MinedIn, logs: &[Log]) -> Ending {
    Ending {
        status: TransactionStatus::Mined,
        batch: None,
        mined: Some(mined),
        hashes: batch.hashes(),
        reason: None,
        result: created(&relay.chain, creation, logs),
        wei: 0,
        deployed: true,
    }
}

/// The ending of a transaction of a batch that wasn't done, or was done in a block which the chain has dropped.
pub(crate) fn undone(batch: &Batch, reason: &str) -> Ending {
    let (status, hashes) = (TransactionStatus::Reverted, batch.hashes());
    let reason = Some(reason.to_owned());
    Ending { status, batch: None, mined: None, hashes, reason, result: Map::new(), wei: 0, deployed: false }
}

fn weight(member: &Member, execution: &Execution) -> u64 {
    let gas = match execution {
        Execution::Executed { gas, .. } => *gas,
        Execution::Absent => 0,
    };
    gas.saturating_add(OVERHEAD + if member.deploys { DEPLOYMENT } else { 0 })
}

/// Bytes of an operation, which its part of the fee for data follows.
fn size(operation: &Operation) -> u64 {
    OVERHEAD_BYTES + operation.call.data.len() as u64
}

/// Cost of some gas of a block, with other fees.
fn cost(gas: u64, fees: u64, receipt: &Receipt) -> Cost {
    Cost { gas: limited(u128::from(gas).saturating_mul(receipt.gas_price)), fees }
}

fn limited(amount: u128) -> u64 {
    u64::try_from(amount).unwrap_or(u64::MAX)
}

/// The parts of `whole` that follow weights. Together they are the whole, so that what is spent is charged.
fn shares(whole: u128, weights: &[u64]) -> Vec<u64> {
    let all = weights.iter().map(|weight| u128::from(*weight)).sum::<u128>().max(1);
    let until = weights.iter().scan(0_u128, |sum, weight| {
        *sum += u128::from(*weight);
        Some(whole.saturating_mul(*sum) / all)
    });
    let share = |before: &mut u128, until: u128| {
        let share = until - *before;
        *before = until;
        Some(limited(share))
    };
    until.scan(0, share).collect()
}

pub(crate) fn mined_in(receipt: &Receipt, gas_used: u64) -> MinedIn {
    MinedIn { hash: receipt.hash, block: receipt.block, block_hash: receipt.block_hash, gas_used }
}

#[cfg(test)]
mod tests {
    use shared::model::{Address, ArtistId};

    use super::*;

    #[test]
    fn gas_that_a_block_invents_weighs_the_most_that_there_is() {
        let member = Member {
            artist_id: ArtistId::random(),
            transaction_id: TransactionId::new(),
            account: Address::ZERO,
            deploys: true,
            concurrency_key: None,
        };
        let invented = Execution::Executed { succeeded: true, gas: u64::MAX, logs: Vec::new() };
        assert_eq!(weight(&member, &invented), u64::MAX);
    }

    #[test]
    fn shares_add_up_to_the_whole() {
        for whole in [0, 1, 300_001, u128::from(u64::MAX)] {
            let shares = shares(whole, &[45_000, 112_000, 61_500, 0, 1]);
            assert_eq!(shares.iter().map(|share| u128::from(*share)).sum::<u128>(), whole);
        }
        assert_eq!(shares(10, &[3, 1, 1]), [6, 2, 2]);
        assert_eq!(shares(10, &[]), [0; 0]);
    }
}
