use alloy::{eips::BlockNumberOrTag, primitives::Bytes, rpc::types::TransactionRequest};
use futures::{StreamExt, stream};
use shared::{
    chain::{
        node::{NodeFault, NonceFacts},
        transaction::{CLAIM_LIFETIME, TransactionSender, mined_in},
    },
    model::{Address, Fees, MarketFees},
    store::{Attempt, Intent, LaneState, Slot, Status, Transaction},
    telemetry::{self, Metric},
};

use crate::{SettleError, Settled, lease::Lease};

/// Transactions of one lane that are settled concurrently.
const SIDE_BY_SIDE: usize = 8;

/// Seconds after which the lowest open nonce gets a higher tip, although its fees cover the base fee.
const MOST_WAIT: u64 = 180;

/// One step on one lane.
pub(crate) struct LaneStep<'a> {
    sender: &'a TransactionSender,
    lane: Address,
    now: u64,
    /// The next nonce onchain.
    on_chain: u64,
}

impl<'a> LaneStep<'a> {
    pub(crate) fn new(sender: &'a TransactionSender, lane: Address, now: u64) -> Self {
        Self { sender, lane, now, on_chain: 0 }
    }

    /// Settles the open transactions, several concurrently, for as long as the lease holds. A failure on one doesn't stop
    /// the others, and the last failure is returned. `settled` counts what was done in either case.
    pub(crate) async fn run(
        mut self,
        state: &LaneState,
        lease: &mut Lease<'_>,
        settled: &mut Settled,
    ) -> Result<(), SettleError> {
        let (node, transactions) = (self.sender.node(), self.sender.transactions());
        self.on_chain = node.next_nonce(self.lane.into(), BlockNumberOrTag::Latest).await?;
        self.follow_foreign_use(state).await?;
        settled.sent += self.restore_forgotten(state).await?;

        let (mut waiting, mut failure) = (Vec::new(), None);
        let open = transactions.open(self.sender.chain().id, self.lane, state).await?;
        let mut looks = stream::iter(open).map(|transaction| self.look(transaction)).buffered(SIDE_BY_SIDE);
        while let Some((transaction, closed)) = looks.next().await {
            match closed {
                Ok(true) => settled.mined += 1,
                Ok(false) => {
                    settled.open += 1;
                    waiting.push(transaction);
                }
                Err(error) => failure = Some(self.report(&transaction.slot, error)),
            }
            if !lease.holds().await? {
                return failure.map_or(Ok(()), Err);
            }
        }

        if !waiting.is_empty() {
            let market = node.market_fees().await?;
            let mut pushes = stream::iter(waiting).map(|waiting| self.push(waiting, market)).buffered(SIDE_BY_SIDE);
            while let Some((slot, pushed)) = pushes.next().await {
                match pushed {
                    Ok(done) => *settled += done,
                    Err(error) => failure = Some(self.report(&slot, error)),
                }
                if !lease.holds().await? {
                    break;
                }
            }
        }
        failure.map_or(Ok(()), Err)
    }

    fn report(&self, slot: &Slot, error: SettleError) -> SettleError {
        let Slot { chain, lane, nonce } = slot;
        tracing::warn!(chain.id = chain.0, %lane, nonce, error = telemetry::chain(&error), "transaction not settled");
        error
    }

    async fn look(&self, transaction: Transaction) -> (Transaction, Result<bool, SettleError>) {
        let closed = self.close_if_mined(&transaction).await;
        (transaction, closed)
    }

    /// Skips nonces that were used outside the service while none was open.
    async fn follow_foreign_use(&self, state: &LaneState) -> Result<(), SettleError> {
        if self.on_chain <= state.next_nonce {
            return Ok(());
        }
        let chain = self.sender.chain();
        tracing::error!(chain.id = chain.id.0, lane = %self.lane, nonce = state.next_nonce, "the lane's key was used elsewhere");
        if self.sender.transactions().skip_to(chain.id, self.lane, state, self.on_chain).await? {
            telemetry::count(Metric::ForeignNonces);
        }
        Ok(())
    }

    /// Sends closed transactions again whose block was dropped by a reorganisation: those with a nonce that is unused
    /// onchain.
    async fn restore_forgotten(&self, state: &LaneState) -> Result<usize, SettleError> {
        // Bounds the work caused by a node that lags far behind.
        const MOST: usize = 64;
        let closed = (self.on_chain..state.next_nonce).filter(|nonce| !state.open.contains(nonce)).take(MOST);
        let mut sent = 0;
        for nonce in closed {
            let slot = Slot { chain: self.sender.chain().id, lane: self.lane, nonce };
            if let Some(Transaction { attempt: Some(attempt), .. }) = self.sender.transactions().get(&slot).await? {
                sent += usize::from(self.sender.node().send(&attempt.signed).await.is_ok());
            }
        }
        Ok(sent)
    }

    /// Closes the slot of a mined transaction, and of an abandoned one whose nonce was used outside the service.
    async fn close_if_mined(&self, transaction: &Transaction) -> Result<bool, SettleError> {
        let hashes = [transaction.hashes.as_slice(), &transaction.filler_hashes].concat();
        if hashes.is_empty() {
            return Ok(false);
        }
        let confirmations = self.sender.chain().confirmations;
        let nonce = transaction.slot.nonce;
        let facts = self.sender.node().nonce_facts(self.lane.into(), nonce, &hashes, confirmations).await?;
        let transactions = self.sender.transactions();
        let closed = match facts {
            NonceFacts { receipt: Some(receipt), .. } => {
                let status = match receipt.status() {
                    _ if transaction.filler_hashes.contains(&receipt.transaction_hash) => Status::Filled,
                    true => Status::Mined,
                    false => Status::Reverted,
                };
                transactions.close(transaction, status, Some(mined_in(&receipt)), None).await?;
                true
            }
            NonceFacts { receipt: None, is_used_for_good: true } if transaction.status == Status::Abandoned => {
                transactions.close(transaction, Status::Displaced, None, None).await?
            }
            NonceFacts { .. } => false,
        };
        Ok(closed)
    }

    async fn push(&self, transaction: Transaction, market: MarketFees) -> (Slot, Result<Settled, SettleError>) {
        let slot = transaction.slot;
        // Until its claim expires, a transaction belongs to its claimer: others may only send signed bytes.
        let is_left_alone = transaction.claimed_at + CLAIM_LIFETIME.as_secs() < self.now;
        let pushed = match (&transaction.attempt, is_left_alone) {
            (Some(attempt), false) => Ok(self.sent_again(self.sender.node().send(&attempt.signed).await.is_ok())),
            (None, false) => Ok(Settled::default()),
            (_, true) => self.push_on(transaction, market).await,
        };
        (slot, pushed)
    }

    /// Takes over a transaction whose claim has expired.
    async fn push_on(&self, transaction: Transaction, market: MarketFees) -> Result<Settled, SettleError> {
        match (&transaction.attempt, transaction.status) {
            (None, Status::Claimed) if !transaction.is_moved => {
                // From here on the claimer can't store signed bytes any more.
                self.give_up(transaction, true, market.quote(self.cap())).await
            }
            (None, _) => {
                self.sign_and_send(transaction, market.quote(self.cap())).await?;
                Ok(Settled::default())
            }
            (Some(attempt), _) => {
                let attempt = attempt.clone();
                self.send_or_bump(transaction, attempt, market).await
            }
        }
    }

    fn sent_again(&self, is_taken: bool) -> Settled {
        Settled { sent: usize::from(is_taken), ..Settled::default() }
    }

    /// Raises the fees of a transaction that the next block can't include or that has waited long. Otherwise, and where
    /// higher fees would exceed the cap, sends the same bytes again.
    async fn send_or_bump(
        &self,
        transaction: Transaction,
        attempt: Attempt,
        market: MarketFees,
    ) -> Result<Settled, SettleError> {
        let is_next = transaction.slot.nonce == self.on_chain;
        let is_too_low = !market.admits(attempt.fees) || (is_next && attempt.signed_at + MOST_WAIT < self.now);
        let fault = match self.sender.node().send(&attempt.signed).await {
            Ok(()) => None,
            Err(error) => Some(error.fault),
        };
        match fault {
            Some(NodeFault::Refused) if transaction.status == Status::Signed => {
                // It would block the lane for ever. An earlier sending may have succeeded, so the idempotency key stays
                // taken; the filler has the same nonce, so only one of the two can be mined.
                let fees = attempt.fees.bump(market, self.cap()).unwrap_or(attempt.fees);
                return self.give_up(transaction, false, fees).await;
            }
            Some(NodeFault::NonceTooLow) => {
                let Some(moved) = self.sender.move_if_displaced(&transaction, self.now).await? else {
                    return Ok(Settled::default());
                };
                self.sign_and_send(moved, market.quote(self.cap())).await?;
                return Ok(Settled { displaced: 1, ..Settled::default() });
            }
            None if transaction.status == Status::Signed => {
                self.sender.transactions().mark_broadcast(&transaction, None).await?;
            }
            _ => {}
        }
        let must_rise = is_too_low || matches!(fault, Some(NodeFault::FeeTooLow | NodeFault::ReplacementUnderpriced));
        match attempt.fees.bump(market, self.cap()).filter(|_| must_rise) {
            Some(fees) => {
                let status = if transaction.status == Status::Signed && fault.is_none() {
                    Status::Broadcast
                } else {
                    transaction.status
                };
                self.sign_and_send(Transaction { status, ..transaction }, fees).await?;
                Ok(Settled { bumped: 1, ..Settled::default() })
            }
            None => Ok(self.sent_again(fault.is_none())),
        }
    }

    /// Abandons a transaction and puts a filler into its slot.
    async fn give_up(&self, transaction: Transaction, never_left: bool, fees: Fees) -> Result<Settled, SettleError> {
        if !self.sender.transactions().abandon(&transaction, never_left).await? {
            return Ok(Settled::default());
        }
        let abandoned = Transaction { status: Status::Abandoned, attempt: None, ..transaction };
        self.sign_and_send(abandoned, fees).await?;
        Ok(Settled { abandoned: 1, ..Settled::default() })
    }

    /// Signs a transaction, or its filler if it is abandoned, stores the bytes and sends them.
    async fn sign_and_send(&self, transaction: Transaction, fees: Fees) -> Result<(), SettleError> {
        let filler;
        let intent = match transaction.status {
            Status::Abandoned => {
                filler = self.filler().await?;
                &filler
            }
            _ => &transaction.intent,
        };
        let attempt = self.sender.sign_intent(&transaction.slot, intent, fees, self.now).await?;
        let Some(stored) = self.sender.store(&transaction, attempt.clone()).await? else { return Ok(()) };
        match self.sender.node().send(&attempt.signed).await {
            Ok(()) if stored.status == Status::Signed => {
                self.sender.transactions().mark_broadcast(&stored, None).await?;
            }
            Ok(()) => {}
            Err(error) => tracing::warn!(tx.hash = %attempt.hash, %error, fault = ?error.fault, "not sent"),
        }
        Ok(())
    }

    /// An empty transaction: the lane calls itself.
    async fn filler(&self) -> Result<Intent, SettleError> {
        let lane = self.lane.into();
        let request = TransactionRequest::default().from(lane).to(lane);
        let estimate = self.sender.node().estimate_gas(&request).await?;
        Ok(Intent { to: lane, data: Bytes::new(), gas_limit: estimate + estimate / 5 })
    }

    fn cap(&self) -> u64 {
        self.sender.policy().max_fee_per_gas
    }
}
