//! Writing to a chain. The steps are types, each of which is made by the step before it alone: [`Prepared`] (it works
//! and is allowed), [`Claimed`] (it has its nonce), [`Signed`] (its bytes are stored), [`Broadcast`] (they have been
//! sent), [`Outcome`]. Whatever ends between two steps, `settle-transactions` goes on from what is stored.

use std::time::Duration;

use alloy::{
    consensus::{SignableTransaction, TxEip1559},
    eips::{BlockNumberOrTag, eip2718::Encodable2718},
    network::TxSigner,
    primitives::{B256, Bytes, TxKind, U256},
    rpc::types::TransactionReceipt,
};

use super::{
    Chain,
    account::{Call, EmbeddedWallet},
    node::Node,
    node_error::NodeFault,
    policy::Policy,
    signer::LaneSigners,
};
pub use super::{
    prepare::Prepared,
    write::{Write, WriteError},
};
use crate::{
    model::Fees,
    store::{
        AccountState, Answer, Attempt, Claim, ClaimRefusal, GasLimits, Intent, MinedIn, Slot, Status, StoreError,
        Transaction, Transactions,
    },
    telemetry::{self, Metric},
};

/// How long whoever claimed a nonce may take to store signed bytes: longer than a function is allowed to run. After that
/// nobody can come back with some.
pub const CLAIM_LIFETIME: Duration = Duration::from_secs(40);

/// Longest pause between two looks for a receipt.
const LONG_PAUSE: Duration = Duration::from_secs(1);

/// How often a claim is tried when others take the nonces.
const CLAIM_ATTEMPTS: u32 = 12;

/// How often an intent is moved to another nonce because the lane's key was used elsewhere.
const MAX_MOVES: u32 = 3;

/// A write that has its nonce.
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

/// A write whose bytes have been sent.
#[derive(Debug)]
pub struct Broadcast {
    signed: Signed,
    is_taken: bool,
}

/// What became of a write, as far as was waited for it.
#[derive(Debug)]
pub struct Outcome {
    /// Its hash.
    pub hash: B256,
    /// Where it ended.
    pub end: End,
    transaction: Transaction,
}

impl Outcome {
    /// The gas that it may use, which is what counts against the day's.
    pub fn gas_limit(&self) -> u64 {
        self.transaction.intent.gas_limit
    }
}

/// Where a write ended.
#[derive(Debug)]
pub enum End {
    /// In a block.
    Mined(Box<TransactionReceipt>),
    /// In a block, without effect: this is why, in words.
    Reverted(String, MinedIn),
    /// It isn't in a block yet. Whether a node has it is known only if `is_taken`.
    Pending {
        /// A node said that it has it.
        is_taken: bool,
    },
}

/// Writes to one chain.
#[derive(Clone)]
pub struct Engine {
    pub(super) chain: Chain,
    pub(super) node: Node,
    pub(super) signers: LaneSigners,
    pub(super) policy: Policy,
    transactions: Transactions,
}

impl Engine {
    /// An engine for a chain.
    pub fn new(chain: Chain, node: Node, signers: LaneSigners, policy: Policy, transactions: Transactions) -> Self {
        Self { chain, node, signers, policy, transactions }
    }

    /// The chain.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Its nodes.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// The limits.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The lanes.
    pub fn signers(&self) -> &LaneSigners {
        &self.signers
    }

    /// The stored transactions.
    pub fn transactions(&self) -> &Transactions {
        &self.transactions
    }

    /// Takes a write through all its steps and waits for its receipt, at most for `patience`. `answer` words what the
    /// client gets, which is kept with it. `now` is the Unix time in seconds.
    ///
    /// # Errors
    /// Those of [`Engine::attempt`].
    pub async fn write(
        &self,
        write: Write,
        now: u64,
        patience: Duration,
        answer: impl Fn(&Outcome) -> Answer,
    ) -> Result<Answer, WriteError> {
        let outcome = self.attempt(write, now, patience).await?;
        let answer = answer(&outcome);
        self.conclude_sent(&outcome, Some(&answer)).await;
        Ok(answer)
    }

    /// Takes a write through all its steps but the last, which is [`Engine::conclude`].
    ///
    /// Costs four AWS calls when nobody is in the way: claim, signature, signed bytes, outcome; one signature more when it
    /// deploys the account.
    ///
    /// # Errors
    /// Those of the steps.
    pub async fn attempt(&self, mut write: Write, now: u64, patience: Duration) -> Result<Outcome, WriteError> {
        let prepared = self.prepare(&write).await?;
        let wallet = prepared.wallet;
        let claimed = match self.claim(prepared, now).await {
            Err(WriteError::Claim(ClaimRefusal::AccountUnderWay)) => {
                self.wait_for_deployment(&wallet).await?;
                write.caller.account = AccountState { deployed: true, deployed_by: None };
                self.claim(self.prepare(&write).await?, now).await?
            }
            claimed => claimed?,
        };
        let broadcast = self.broadcast(self.sign(claimed, now).await?, now).await?;
        Ok(self.wait(broadcast, patience).await)
    }

    /// Takes the lane's next nonce. One AWS call when nobody is in the way, and one more when the caller's lane wasn't
    /// guessed.
    ///
    /// # Errors
    /// When there is none, or storage fails.
    pub async fn claim(&self, mut prepared: Prepared, now: u64) -> Result<Claimed, WriteError> {
        let (chain, owner) = (self.chain.id, prepared.wallet.owner);
        let lanes = u64::try_from(self.signers.iter().count()).unwrap_or(1).max(1);
        let limits = GasLimits { artist: self.policy.artist_gas_daily, lane: self.policy.total_gas_daily / lanes };
        for attempt in 0..CLAIM_ATTEMPTS {
            let lane = match prepared.lane.take() {
                Some(lane) => Some(lane),
                None => self.transactions.lane(chain, owner.into()).await?,
            };
            let Some(lane) = lane else {
                let next = self.node.next_nonce(owner, BlockNumberOrTag::Pending).await?;
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

    /// Signs, and stores the signed bytes. One KMS call and one write.
    ///
    /// # Errors
    /// When the lane doesn't sign, storage fails, or the nonce was given up meanwhile.
    pub async fn sign(&self, claimed: Claimed, now: u64) -> Result<Signed, WriteError> {
        let Claimed { prepared, transaction } = claimed;
        let attempt = self.sign_intent(&transaction.slot, &transaction.intent, prepared.fees, now).await?;
        match self.store(&transaction, attempt.clone()).await? {
            Some(transaction) => Ok(Signed { prepared, transaction, attempt }),
            None => Err(WriteError::TooLate),
        }
    }

    /// Sends the stored bytes. When the lane's key was used elsewhere with the nonce, the write moves to the next one.
    ///
    /// # Errors
    /// When every node refuses it for good, and those of [`Engine::sign`] where it moves. That no node answers is none:
    /// the bytes are stored, and will be sent again.
    pub async fn broadcast(&self, mut signed: Signed, now: u64) -> Result<Broadcast, WriteError> {
        for _ in 0..MAX_MOVES {
            let Err(error) = self.node.send(&signed.attempt.signed).await else {
                return Ok(Broadcast { signed, is_taken: true });
            };
            tracing::warn!(tx.hash = %signed.attempt.hash, chain.id = self.chain.id.0, %error, fault = ?error.fault, "not sent");
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

    /// Waits for the receipt, at most for `patience`. What goes wrong on the way is tried again.
    pub async fn wait(&self, broadcast: Broadcast, patience: Duration) -> Outcome {
        let Broadcast { signed: Signed { prepared, transaction, attempt }, mut is_taken } = broadcast;
        let (mut pause, deadline) = (Duration::from_millis(50), tokio::time::Instant::now() + patience);
        loop {
            if let Ok(Some(receipt)) = self.node.receipt(attempt.hash).await {
                let end = self.end(receipt, &prepared.wallet, &prepared.calls).await;
                return Outcome { hash: attempt.hash, end, transaction };
            }
            if tokio::time::Instant::now() + pause > deadline {
                return Outcome { hash: attempt.hash, end: End::Pending { is_taken }, transaction };
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 3 / 2).min(LONG_PAUSE);
            // A node that said that it has the transaction may have lost it, or another one behind the same address.
            if !is_taken || pause == LONG_PAUSE {
                is_taken |= self.node.send(&attempt.signed).await.is_ok();
            }
        }
    }

    /// Does what [`Engine::conclude`] does. That it fails is logged alone: what is sent is sent, the client hears of it,
    /// and settling finds out the rest.
    pub async fn conclude_sent(&self, outcome: &Outcome, answer: Option<&Answer>) {
        if let Err(error) = self.conclude(outcome, answer).await {
            tracing::error!(tx.hash = %outcome.hash, error = telemetry::chain(&error), "outcome not stored");
        }
    }

    /// Stores what is known of the outcome and the client's answer, where there is one and it is final. One write.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn conclude(&self, outcome: &Outcome, answer: Option<&Answer>) -> Result<(), WriteError> {
        let transaction = &outcome.transaction;
        let kept = answer.filter(|answer| answer.is_final());
        match &outcome.end {
            End::Mined(receipt) => {
                let mined = Some(mined_in(receipt));
                self.transactions.close(transaction, Status::Mined, mined, kept).await?;
            }
            End::Reverted(_, mined) => {
                self.transactions.close(transaction, Status::Reverted, Some(*mined), kept).await?;
            }
            End::Pending { is_taken: true } => self.transactions.mark_broadcast(transaction, kept).await?,
            End::Pending { is_taken: false } => {
                if let (Some(replay), Some(answer)) = (&transaction.replay, kept) {
                    self.transactions.answer(replay, answer).await?;
                }
            }
        }
        Ok(())
    }

    /// Signs what a transaction is to do, with a slot's nonce. One KMS call. The bytes must be stored before they are
    /// sent: [`Engine::store`].
    ///
    /// # Errors
    /// When the lane doesn't sign.
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
        let signature = self.signers.get(slot.lane.into())?.sign_transaction(&mut transaction).await?;
        let signed = transaction.into_signed(signature);
        Ok(Attempt { hash: *signed.hash(), signed: Bytes::from(signed.encoded_2718()), fees, signed_at: now })
    }

    /// Stores an attempt and gives the transaction with it; `None` when the transaction has changed meanwhile, and the
    /// bytes must not be sent. One write.
    ///
    /// # Errors
    /// When storage fails.
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

    /// Moves a transaction to another nonce if its own is used, for good, by none of ours. `None` when it isn't.
    ///
    /// # Errors
    /// When storage fails. A node that doesn't answer proves nothing, and moves nothing.
    pub async fn move_if_displaced(
        &self,
        transaction: &Transaction,
        now: u64,
    ) -> Result<Option<Transaction>, WriteError> {
        if !matches!(transaction.status, Status::Signed | Status::Broadcast) {
            return Ok(None);
        }
        let Slot { chain, lane, nonce } = transaction.slot;
        let facts = self.node.nonce_facts(lane.into(), nonce, &transaction.hashes, self.chain.confirmations).await;
        if !facts.is_ok_and(|facts| facts.receipt.is_none() && facts.is_used_for_good) {
            return Ok(None);
        }
        tracing::error!(chain.id = chain.0, %lane, nonce, "the lane's key was used elsewhere");
        telemetry::count(Metric::ForeignNonces);
        let least = self.node.next_nonce(lane.into(), BlockNumberOrTag::Pending).await?;
        let Some(state) = self.transactions.lane(chain, lane).await? else { return Ok(None) };
        Ok(self.transactions.displace(transaction, &state, least, now).await?)
    }

    async fn end(&self, receipt: TransactionReceipt, wallet: &EmbeddedWallet, calls: &[Call]) -> End {
        if receipt.status() {
            return End::Mined(Box::new(receipt));
        }
        let reason = match self.simulate(wallet, calls).await {
            Err(WriteError::Reverts(reason) | WriteError::Forbidden(reason)) => reason,
            _ => "The transaction failed on the chain".to_owned(),
        };
        End::Reverted(reason, mined_in(&receipt))
    }
}

/// The block that a receipt is of.
pub fn mined_in(receipt: &TransactionReceipt) -> MinedIn {
    MinedIn {
        hash: receipt.transaction_hash,
        block: receipt.block_number.unwrap_or_default(),
        gas_used: receipt.gas_used,
    }
}
