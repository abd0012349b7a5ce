//! Admission: transactions, queue, reserved budget, idempotency key and activity are written in one transaction of
//! DynamoDB.

use std::{collections::BTreeMap, ops::Range, time::Duration};

use aws_sdk_dynamodb::types::{Put, TransactWriteItem, Update};

use super::{
    account::{AccountState, account_key},
    budget::{fits, shards},
    charge::{Charge, PoolLimit},
    outlay::Outlay,
    queue::{next_turn, place},
    replay::{Replay, ReplayClaim, ReplayKey, replay_key},
    transaction::{Transaction, Transactions, transaction_key},
};
use crate::{
    model::{Address, ArtistId, ChainId, Creation, DAY, KeyId, Plan, TransactionId, TransactionStatus, WriteKind},
    store::{
        artist::{
            activities::{Activities, Activity},
            claims::{Claims, NewClaim},
        },
        engine::table::{StoreError, backoff, number, row, updating},
    },
};

/// Most transactions of one request; DynamoDB writes 100 rows together.
pub const MAX_SERIES: usize = 40;

/// Most transactions of one artist and chain that may wait.
pub const MAX_WAITING: u32 = 100;

/// How long a transaction is kept.
const LIFETIME: u64 = 90 * DAY;

const ATTEMPTS: u32 = 40;

/// A transaction to queue.
#[derive(Clone, Debug)]
pub struct NewTransaction {
    /// What to call.
    pub plan: Plan,
    /// What the calls may do.
    pub kind: WriteKind,
    /// Most gas that the calls may use.
    pub gas: u64,
    /// What its answer names.
    pub creation: Creation,
    /// Wei to reserve.
    pub reserve: u64,
    /// When it ends unsent, in Unix seconds.
    pub valid_until: Option<u64>,
}

/// A request's transactions.
#[derive(Clone, Debug)]
pub struct Admission {
    /// The artist.
    pub artist: ArtistId,
    /// The API key that asks; `None` for the artist in person.
    pub key: Option<KeyId>,
    /// What a key or an old token pays.
    pub outlay: Option<Outlay>,
    /// The chain.
    pub chain: ChainId,
    /// The artist's embedded wallet.
    pub wallet: Address,
    /// State of the account as it was read.
    pub account: Option<AccountState>,
    /// The transactions, in their order; [`MAX_SERIES`] at most.
    pub transactions: Vec<NewTransaction>,
    /// What tells a repeat of the request.
    pub replay: Option<ReplayClaim>,
    /// The place of a claim link that the first transaction is for.
    pub claim: Option<NewClaim>,
    /// What the artist's activity says of it.
    pub activity: Option<Activity>,
    /// The artist's daily budget, in wei.
    pub artist_limit: u64,
    /// The daily budget that the artist shares.
    pub pool: PoolLimit,
}

/// Result of an admission.
#[derive(Debug)]
pub enum Admitted {
    /// All transactions are queued.
    Queued(Vec<Transaction>),
    /// None is.
    Refused(AdmissionRefusal),
}

/// Reason to refuse an admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdmissionRefusal {
    /// Another request with the same idempotency key was faster.
    KeyInUse,
    /// The claim link has no place left, is over or deleted, or the person has taken one meanwhile.
    NoPlace,
    /// The API key, or the artist's old tokens, have spent what they may today.
    DailySpent,
    /// The artist's budget is spent.
    ArtistSpent,
    /// The pool's budget is spent.
    PoolSpent,
    /// The artist has [`MAX_WAITING`] transactions in the queue.
    TooManyWaiting,
}

/// One attempt, and where its conditions stand in the list of writes.
struct Attempt {
    transactions: Vec<Transaction>,
    writes: Vec<TransactWriteItem>,
    key_at: Option<usize>,
    outlay_at: Option<usize>,
    claim_at: Range<usize>,
    pool_at: usize,
}

impl Transactions {
    /// Admits a request's transactions. One write unless others contend. After an error it may have happened.
    pub async fn admit(&self, admission: &Admission, now: Duration) -> Result<Admitted, StoreError> {
        let (wei, count) = admission.demand();
        let (mut account, mut shards) = (admission.account, shards());
        let (mut shard, mut pool) = (shards.next().unwrap_or_default(), admission.pool);
        for attempt in 0..ATTEMPTS {
            let state = account.unwrap_or_default();
            if state.waiting.saturating_add(count) > MAX_WAITING {
                return Ok(Admitted::Refused(AdmissionRefusal::TooManyWaiting));
            }
            let spent = state.spent_on(state.charged_day(now)).saturating_add(wei);
            if spent > admission.artist_limit {
                return Ok(Admitted::Refused(AdmissionRefusal::ArtistSpent));
            }
            let is_assured = spent <= admission.pool.assured;
            let is_used_up = pool != admission.pool || !fits(pool, wei);
            if is_used_up && !is_assured {
                return Ok(Admitted::Refused(AdmissionRefusal::PoolSpent));
            }
            let Attempt { transactions, writes, key_at, outlay_at, mut claim_at, pool_at } =
                self.attempt(admission, account, (pool, shard), now)?;
            let Err(reasons) = self.table.write_or_reasons(writes).await? else {
                return Ok(Admitted::Queued(transactions));
            };
            let failed = |at: usize| reasons.get(at).is_some_and(|reason| reason.is_condition());
            if key_at.is_some_and(failed) {
                return Ok(Admitted::Refused(AdmissionRefusal::KeyInUse));
            }
            if claim_at.any(failed) {
                return Ok(Admitted::Refused(AdmissionRefusal::NoPlace));
            }
            if outlay_at.is_some_and(failed) {
                return Ok(Admitted::Refused(AdmissionRefusal::DailySpent));
            }
            if failed(pool_at) {
                match shards.next() {
                    Some(next) => shard = next,
                    None if is_assured => pool.wei = u64::MAX,
                    None => return Ok(Admitted::Refused(AdmissionRefusal::PoolSpent)),
                }
                continue;
            }
            tokio::time::sleep(backoff(attempt)).await;
            account = self.account(admission.artist, admission.chain).await?;
        }
        Err(StoreError::Contention("an artist's account"))
    }

    fn attempt(
        &self,
        admission: &Admission,
        account: Option<AccountState>,
        (pool, shard): (PoolLimit, u8),
        now: Duration,
    ) -> Result<Attempt, StoreError> {
        let Admission { artist, chain, wallet, .. } = *admission;
        let state = account.unwrap_or_default();
        let (wei, _) = admission.demand();
        let day = state.charged_day(now);
        let charge = Charge { wei, day, pool: pool.pool, shard };
        let turn = next_turn(&state, u64::try_from(now.as_millis()).unwrap_or(u64::MAX));
        let last = turn + admission.transactions.len().saturating_sub(1) as u64;
        let mut writes =
            vec![self.take_turn(admission, account, last, day)?, self.reserve_from_pool(chain, &charge, pool)?];
        let (mut transactions, pool_at) = (Vec::new(), 1);
        let outlay = admission.outlay.as_ref().filter(|outlay| outlay.is_any());
        for ((index, new), turn) in admission.transactions.iter().enumerate().zip(turn..) {
            let paid = outlay.and_then(|outlay| outlay.each.get(index));
            let id = TransactionId::new();
            let transaction = Transaction {
                id,
                artist_id: artist,
                key: admission.key,
                replay: admission.replay.as_ref().map(|claim| claim.key.clone()),
                chain,
                account: wallet,
                is_deployed: state.deployed,
                plan: new.plan.clone().into(),
                kind: new.kind,
                gas: new.gas,
                creation: new.creation,
                status: TransactionStatus::Queued,
                place: place(turn, artist, id),
                charge: Charge { wei: new.reserve, ..charge },
                outlay: paid.and_then(|paid| paid.counted(now.as_secs())),
                attempts: 0,
                attempts_wei: 0,
                tries: BTreeMap::new(),
                last_attempt: None,
                last_attempt_wei: 0,
                batch: None,
                hashes: Vec::new(),
                mined: None,
                reason: None,
                valid_until: new.valid_until,
                result: serde_json::Map::new(),
                created_at: now.as_secs(),
                updated_at: now.as_secs(),
                expires_at: now.as_secs() + LIFETIME,
            };
            writes.push(self.table.insertion(&transaction_key(artist, id), &transaction)?);
            writes.push(self.enqueue(chain, &transaction.queued())?);
            transactions.push(transaction);
        }
        let mut key_at = None;
        if let Some(claim) = &admission.replay {
            let replay = Replay {
                fingerprint: claim.fingerprint.clone(),
                transactions: transactions.iter().map(|transaction| transaction.id).collect(),
                reusable_at: now.as_secs() + claim.lifetime,
                expires_at: now.as_secs() + LIFETIME,
            };
            key_at = Some(writes.len());
            writes.push(self.remember(&claim.key, &replay, claim.outlived.as_ref())?);
        }
        let outlay_at = outlay.map(|_| writes.len());
        if let Some(outlay) = outlay {
            writes.push(self.count_outlay(artist, outlay, now.as_secs())?);
        }
        let claim = admission.claim.as_ref().zip(transactions.first());
        let before_claim = writes.len();
        if let Some((claim, mint)) = claim {
            writes.extend(Claims::new(self.table.clone()).taking(claim, mint.id, now.as_secs())?);
        }
        let claim_at = before_claim..writes.len();
        if let Some(activity) = &admission.activity {
            writes.push(Activities::new(self.table.clone()).recording(artist, activity)?);
        }
        Ok(Attempt { transactions, writes, key_at, outlay_at, claim_at, pool_at })
    }

    /// Takes the account's next turns and reserves the artist's budget, if the account is still as it was read.
    fn take_turn(
        &self,
        admission: &Admission,
        account: Option<AccountState>,
        last_turn: u64,
        day: u64,
    ) -> Result<TransactWriteItem, StoreError> {
        let (wei, count) = admission.demand();
        let key = account_key(admission.artist, admission.chain);
        let Some(state) = account else {
            let state = AccountState { deployed: false, waiting: count, last_turn, day, spent: wei };
            return self.table.insertion(&key, &state);
        };
        let update = Update::builder()
            .table_name(&self.table.name)
            .set_key(Some(key.item()))
            .expression_attribute_names("#day", "day")
            .expression_attribute_values(":turn", number(last_turn))
            .expression_attribute_values(":last", number(state.last_turn))
            .expression_attribute_values(":count", number(count))
            .expression_attribute_values(":wei", number(wei))
            .expression_attribute_values(":day", number(state.day));
        let update = if state.day == day {
            update
                .update_expression("SET last_turn = :turn ADD waiting :count, spent :wei")
                .condition_expression("last_turn = :last AND #day = :day AND spent <= :rest")
                .expression_attribute_values(":rest", number(admission.artist_limit.saturating_sub(wei)))
        } else {
            update
                .update_expression("SET last_turn = :turn, #day = :today, spent = :wei ADD waiting :count")
                .condition_expression("last_turn = :last AND #day = :day")
                .expression_attribute_values(":today", number(day))
        };
        updating(update)
    }

    /// Takes an idempotency key that is free or has outlived its replay.
    fn remember(
        &self,
        key: &ReplayKey,
        replay: &Replay,
        outlived: Option<&Replay>,
    ) -> Result<TransactWriteItem, StoreError> {
        let put = Put::builder().table_name(&self.table.name).set_item(Some(row(&replay_key(key), replay)?));
        let put = match outlived {
            None => put.condition_expression("attribute_not_exists(pk)"),
            Some(outlived) => put
                .condition_expression("attribute_not_exists(pk) OR reusable_at = :outlived")
                .expression_attribute_values(":outlived", number(outlived.reusable_at)),
        };
        Ok(TransactWriteItem::builder().put(put.build()?).build())
    }
}

impl Admission {
    /// Wei that its transactions reserve, and their number.
    pub fn demand(&self) -> (u64, u32) {
        let wei = self.transactions.iter().fold(0_u64, |sum, new| sum.saturating_add(new.reserve));
        (wei, u32::try_from(self.transactions.len()).unwrap_or(u32::MAX))
    }
}
