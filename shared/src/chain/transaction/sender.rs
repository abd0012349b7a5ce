//! Writing to a chain in steps, one type each: [`Prepared`] (simulated and allowed), [`Claimed`] (nonce reserved),
//! [`Signed`] (signed bytes stored), [`Broadcast`] (sent), [`Outcome`]. `settle-transactions` resumes an interrupted
//! write from what is stored.

use std::time::Duration;

use alloy::{
    consensus::{SignableTransaction, TxEip1559},
    eips::{BlockNumberOrTag, eip2718::Encodable2718},
    network::TxSigner,
    primitives::{B256, Bytes, TxKind, U256},
    rpc::types::TransactionReceipt,
};

use super::{
    context::Context,
    policy::Policy,
    prepare::Prepared,
    request::{WriteError, WriteRequest},
    simulate::{SimulationError, simulate, simulate_wealthy},
};
use crate::{
    chain::{
        chains::Chain,
        node::{Node, NodeFault},
        wallet::{Call, EmbeddedWallet, LaneSigners},
    },
    model::Fees,
    store::{
        AccountState, Answer, Artist, Attempt, Claim, ClaimRefusal, GasLimits, Intent, MinedIn, Slot, Status,
        StoreError, Transaction, Transactions,
    },
    telemetry::{self, Metric},
};

/// Time to store signed bytes after a claim. Longer than a function may run, so an expired claim is never signed.
pub const CLAIM_LIFETIME: Duration = Duration::from_secs(40);

const LONG_PAUSE: Duration = Duration::from_secs(1);

const CLAIM_ATTEMPTS: u32 = 12;

/// Most moves to another nonce because the lane's key was used by another program.
const MAX_MOVES: u32 = 3;

/// A write with a reserved nonce.
#[derive(Debug)]
pub struct Claimed {
    prepared: Prepared,
    transaction: Transaction,
}

/// A write whose signed bytes are stored.
#[derive(Debug)]
pub struct Signed {
    prepared: Prepared,
    transaction: Transaction,
    attempt: Attempt,
}

/// A write whose bytes were sent.
#[derive(Debug)]
pub struct Broadcast {
    signed: Signed,
    is_taken: bool,
}

/// Result of a write after waiting for its receipt.
#[derive(Debug)]
pub struct Outcome {
    /// Hash of the transaction.
    pub hash: B256,
    /// State at the end of the wait.
    pub end: Confirmation,
    transaction: Transaction,
}

impl Outcome {
    /// Gas limit of the transaction, which counts against the daily limits.
    pub fn gas_limit(&self) -> u64 {
        self.transaction.intent.gas_limit
    }
}

/// Confirmation of a write.
#[derive(Debug)]
pub enum Confirmation {
    /// Mined.
    Mined(Box<TransactionReceipt>),
    /// Mined, but reverted; the reason in words.
    Reverted(String, MinedIn),
    /// Not mined yet.
    Pending {
        /// Whether a node is known to have it.
        is_taken: bool,
    },
}

/// Writes to one chain.
#[derive(Clone)]
pub struct TransactionSender {
    context: Context,
    transactions: Transactions,
}

impl TransactionSender {
    /// A sender for a chain.
    pub fn new(chain: Chain, node: Node, signers: LaneSigners, policy: Policy, transactions: Transactions) -> Self {
        Self { context: Context { chain, node, signers, policy }, transactions }
    }

    /// The chain.
    pub fn chain(&self) -> &Chain {
        &self.context.chain
    }

    /// The chain's nodes.
    pub fn node(&self) -> &Node {
        &self.context.node
    }

    /// The policy.
    pub fn policy(&self) -> &Policy {
        &self.context.policy
    }

    /// The signers of the lanes.
    pub fn signers(&self) -> &LaneSigners {
        &self.context.signers
    }

    /// The stored transactions.
    pub fn transactions(&self) -> &Transactions {
        &self.transactions
    }

    /// Simulates a write, checks it against the policy and builds its transaction. Asks nodes, and KMS for an account's
    /// first write; stores nothing.
    pub async fn prepare(&self, write: &WriteRequest) -> Result<Prepared, WriteError> {
        self.context.prepare(write).await
    }

    /// Simulates `calls` with an unlimited balance of the chain's own currency.
    pub async fn simulate_wealthy(&self, artist: &Artist, calls: &[Call]) -> Result<(), WriteError> {
        Ok(simulate_wealthy(&self.context.node, artist.embedded_wallet.into(), calls).await?)
    }

    /// Runs all steps of a write and waits up to `patience` for its receipt. `answer` builds the client's answer, which
    /// is stored. `now` is the Unix time in seconds.
    pub async fn write(
        &self,
        write: WriteRequest,
        now: u64,
        patience: Duration,
        answer: impl Fn(&Outcome) -> Answer,
    ) -> Result<Answer, WriteError> {
        let outcome = self.attempt(write, now, patience).await?;
        let answer = answer(&outcome);
        self.conclude_sent(&outcome, Some(&answer)).await;
        Ok(answer)
    }

    /// Runs all steps of a write except [`TransactionSender::conclude`]. With it, an uncontended write costs four AWS
    /// calls: claim, signature, signed bytes, outcome; and one more signature when it deploys the account.
    pub async fn attempt(&self, mut write: WriteRequest, now: u64, patience: Duration) -> Result<Outcome, WriteError> {
        let prepared = self.prepare(&write).await?;
        let wallet = prepared.wallet;
        let claimed = match self.claim(prepared, now).await {
            Err(WriteError::Claim(ClaimRefusal::AccountUnderWay)) => {
                self.context.wait_for_deployment(&wallet).await?;
                write.caller.account = AccountState { deployed: true, deployed_by: None };
                self.claim(self.prepare(&write).await?, now).await?
            }
            claimed => claimed?,
        };
        let broadcast = self.broadcast(self.sign(claimed, now).await?, now).await?;
        Ok(self.wait(broadcast, patience).await)
    }

    /// Reserves the lane's next nonce. One AWS call without contention; one more if the lane's state is yet to be read.
    pub async fn claim(&self, mut prepared: Prepared, now: u64) -> Result<Claimed, WriteError> {
        let (chain, owner) = (self.context.chain.id, prepared.wallet.owner);
        let lanes = u64::try_from(self.context.signers.iter().count()).unwrap_or(1).max(1);
        let limits = GasLimits {
            artist: self.context.policy.artist_gas_daily,
            lane: self.context.policy.total_gas_daily / lanes,
        };
        for attempt in 0..CLAIM_ATTEMPTS {
            let lane = match prepared.lane.take() {
                Some(lane) => Some(lane),
                None => self.transactions.lane(chain, owner.into()).await?,
            };
            let Some(lane) = lane else {
                let next = self.context.node.next_nonce(owner, BlockNumberOrTag::Pending).await?;
                self.transactions.open_lane(chain, owner.into(), next).await?;
                continue;
            };
            match self.transactions.claim(chain, owner.into(), &lane, &prepared.new, limits, now).await? {
                Claim::Taken(transaction) => return Ok(Claimed { prepared, transaction: *transaction }),
                Claim::Refused(refusal) => return Err(WriteError::Claim(refusal)),
                Claim::Moved => tokio::time::sleep(crate::store::backoff(attempt)).await,
            }
        }
        Err(StoreError::Contention("lane").into())
    }

    /// Signs, and stores the signed bytes; [`WriteError::TooLate`] if the nonce was given up. One KMS call, one write.
    pub async fn sign(&self, claimed: Claimed, now: u64) -> Result<Signed, WriteError> {
        let Claimed { prepared, transaction } = claimed;
        let attempt = self.sign_intent(&transaction.slot, &transaction.intent, prepared.fees, now).await?;
        match self.store(&transaction, attempt.clone()).await? {
            Some(transaction) => Ok(Signed { prepared, transaction, attempt }),
            None => Err(WriteError::TooLate),
        }
    }

    /// Sends the stored bytes. If another program used the nonce with the lane's key, the write moves to the next
    /// nonce. An unreachable node is not an error: the stored bytes are sent again later.
    pub async fn broadcast(&self, mut signed: Signed, now: u64) -> Result<Broadcast, WriteError> {
        for _ in 0..MAX_MOVES {
            let Err(error) = self.context.node.send(&signed.attempt.signed).await else {
                return Ok(Broadcast { signed, is_taken: true });
            };
            tracing::warn!(tx.hash = %signed.attempt.hash, chain.id = self.context.chain.id.0, %error, fault = ?error.fault, "not sent");
            match error.fault {
                NodeFault::Refused
                    if !error.may_have_left && self.transactions.abandon(&signed.transaction, true).await? =>
                {
                    return Err(WriteError::Refused(error));
                }
                NodeFault::NonceTooLow => match self.move_if_displaced(&signed.transaction, now).await? {
                    Some(transaction) => {
                        signed = self.sign(Claimed { prepared: signed.prepared, transaction }, now).await?;
                    }
                    None => return Ok(Broadcast { signed, is_taken: false }),
                },
                _ => return Ok(Broadcast { signed, is_taken: false }),
            }
        }
        Ok(Broadcast { signed, is_taken: false })
    }

    /// Waits up to `patience` for the receipt; errors on the way are retried.
    pub async fn wait(&self, broadcast: Broadcast, patience: Duration) -> Outcome {
        let Broadcast { signed: Signed { prepared, transaction, attempt }, mut is_taken } = broadcast;
        let (mut pause, deadline) = (Duration::from_millis(50), tokio::time::Instant::now() + patience);
        loop {
            if let Ok(Some(receipt)) = self.context.node.receipt(attempt.hash).await {
                let end = self.end(receipt, &prepared.wallet, &prepared.calls).await;
                return Outcome { hash: attempt.hash, end, transaction };
            }
            if tokio::time::Instant::now() + pause > deadline {
                return Outcome { hash: attempt.hash, end: Confirmation::Pending { is_taken }, transaction };
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 3 / 2).min(LONG_PAUSE);
            // A node that accepted the transaction may have lost it, or another node answers at the same address.
            if !is_taken || pause == LONG_PAUSE {
                is_taken |= self.context.node.send(&attempt.signed).await.is_ok();
            }
        }
    }

    /// Like [`TransactionSender::conclude`], but only logs an error: the transaction is sent, so the client gets its
    /// answer, and `settle-transactions` finds out the rest.
    pub async fn conclude_sent(&self, outcome: &Outcome, answer: Option<&Answer>) {
        if let Err(error) = self.conclude(outcome, answer).await {
            tracing::error!(tx.hash = %outcome.hash, error = telemetry::chain(&error), "outcome not stored");
        }
    }

    /// Stores the outcome, and the client's answer if it is final. One write.
    pub async fn conclude(&self, outcome: &Outcome, answer: Option<&Answer>) -> Result<(), WriteError> {
        let transaction = &outcome.transaction;
        let kept = answer.filter(|answer| answer.is_final());
        match &outcome.end {
            Confirmation::Mined(receipt) => {
                let mined = Some(mined_in(receipt));
                self.transactions.close(transaction, Status::Mined, mined, kept).await?;
            }
            Confirmation::Reverted(_, mined) => {
                self.transactions.close(transaction, Status::Reverted, Some(*mined), kept).await?;
            }
            Confirmation::Pending { is_taken: true } => self.transactions.mark_broadcast(transaction, kept).await?,
            Confirmation::Pending { is_taken: false } => {
                if let (Some(replay), Some(answer)) = (&transaction.replay, kept) {
                    self.transactions.answer(replay, answer).await?;
                }
            }
        }
        Ok(())
    }

    /// Signs an intent with a slot's nonce. One KMS call. Store the bytes before sending: [`TransactionSender::store`].
    pub async fn sign_intent(&self, slot: &Slot, intent: &Intent, fees: Fees, now: u64) -> Result<Attempt, WriteError> {
        let mut transaction = TxEip1559 {
            chain_id: slot.chain.0,
            nonce: slot.nonce,
            gas_limit: intent.gas_limit,
            max_fee_per_gas: fees.max_fee_per_gas.into(),
            max_priority_fee_per_gas: fees.max_priority_fee_per_gas.into(),
            to: TxKind::Call(intent.to),
            value: U256::ZERO,
            input: intent.data.clone(),
            ..TxEip1559::default()
        };
        let signature = self.context.signers.get(slot.lane.into())?.sign_transaction(&mut transaction).await?;
        let signed = transaction.into_signed(signature);
        Ok(Attempt { hash: *signed.hash(), signed: Bytes::from(signed.encoded_2718()), fees, signed_at: now })
    }

    /// Stores an attempt and returns the updated transaction; `None` if the transaction has changed meanwhile, in which
    /// case the bytes must not be sent. One write.
    pub async fn store(&self, transaction: &Transaction, attempt: Attempt) -> Result<Option<Transaction>, StoreError> {
        if !self.transactions.store_attempt(transaction, &attempt).await? {
            return Ok(None);
        }
        let mut stored = transaction.clone();
        if stored.status == Status::Abandoned {
            stored.filler_hashes.push(attempt.hash);
        } else {
            stored.status = Status::Signed;
            stored.hashes.push(attempt.hash);
        }
        stored.attempt = Some(attempt);
        Ok(Some(stored))
    }

    /// Moves a transaction to another nonce if its own was finally used by another program; otherwise `None`. An
    /// unreachable node proves nothing, and moves nothing.
    pub async fn move_if_displaced(
        &self,
        transaction: &Transaction,
        now: u64,
    ) -> Result<Option<Transaction>, WriteError> {
        if !matches!(transaction.status, Status::Signed | Status::Broadcast) {
            return Ok(None);
        }
        let Slot { chain, lane, nonce } = transaction.slot;
        let facts = self
            .context
            .node
            .nonce_facts(lane.into(), nonce, &transaction.hashes, self.context.chain.confirmations)
            .await;
        if !facts.is_ok_and(|facts| facts.receipt.is_none() && facts.is_used_for_good) {
            return Ok(None);
        }
        tracing::error!(chain.id = chain.0, %lane, nonce, "the lane's key was used elsewhere");
        telemetry::count(Metric::ForeignNonces);
        let least = self.context.node.next_nonce(lane.into(), BlockNumberOrTag::Pending).await?;
        let Some(state) = self.transactions.lane(chain, lane).await? else { return Ok(None) };
        Ok(self.transactions.displace(transaction, &state, least, now).await?)
    }

    async fn end(&self, receipt: TransactionReceipt, wallet: &EmbeddedWallet, calls: &[Call]) -> Confirmation {
        if receipt.status() {
            return Confirmation::Mined(Box::new(receipt));
        }
        let reason = match simulate(&self.context.node, wallet.address(), calls).await {
            Err(SimulationError::Reverts(reason) | SimulationError::Forbidden(reason)) => reason,
            _ => "The transaction failed on the chain".to_owned(),
        };
        Confirmation::Reverted(reason, mined_in(&receipt))
    }
}

/// Hash, block and gas of a receipt.
pub fn mined_in(receipt: &TransactionReceipt) -> MinedIn {
    MinedIn {
        hash: receipt.transaction_hash,
        block: receipt.block_number.unwrap_or_default(),
        gas_used: receipt.gas_used,
    }
}
