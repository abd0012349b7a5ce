//! The lanes as the leader knows them. Storage changes only through the leader, so memory stays true while it leads.

use std::{
    collections::{BTreeSet, HashSet},
    time::{Duration, Instant},
};

use alloy::{
    consensus::TxEip1559,
    eips::BlockNumberOrTag,
    primitives::{B256, U256},
};
use futures::future::join_all;
use shared::{
    chain::{
        node::NodeError,
        transaction::{Packed, data_fee},
        wallet::{LaneSigner, SignerError},
    },
    model::{Address, ArtistId, ChainId, ConcurrencyKey, Fees, MarketFees, TransactionId},
    store::artist::{Batch, BatchStatus, Member, Slot},
    telemetry::{self, Metric},
};

use crate::{
    batch::Tracked,
    chain::{ChainRelay, Leadership},
    error::{RelayError, ensure_leader},
    signed::{max_cost, noop, payee, repriced, request, sign},
};

/// Shortest back-off of a lane, doubled after each further failure.
const MIN_BACKOFF: Duration = Duration::from_millis(500);
/// Longest back-off: a lane that can go on isn't known before.
const MAX_BACKOFF: Duration = Duration::from_secs(4);

/// Most open batches of a lane: nodes keep few per sender.
const MAX_OPEN: usize = 4;

/// A lane.
pub(crate) struct Lane<'a> {
    /// Signs for it; `None` for one that isn't configured any more, whose batches are only watched.
    pub(crate) signer: Option<&'a LaneSigner>,
    pub(crate) address: Address,
    /// Next nonce to use.
    pub(crate) next_nonce: u64,
    /// Whether its next nonce is known. Otherwise it sends nothing.
    pub(crate) knows_nonce: bool,
    /// Batches that are open, by nonce.
    pub(crate) open: Vec<Tracked>,
    /// Batches in blocks that aren't final, by nonce.
    pub(crate) unfinalized: Vec<Tracked>,
    /// Wei that it had when last read.
    pub(crate) balance: U256,
    /// Its next nonce on the chain when last read.
    pub(crate) on_chain: u64,
    /// Whether the operator Safe had it as an owner when last read.
    pub(crate) is_owner: bool,
    failures: u32,
    backoff_until: Option<Instant>,
    unable_since: Option<Instant>,
}

impl<'a> Lane<'a> {
    /// A lane of which nothing is known yet.
    pub(crate) fn new(address: Address, signer: Option<&'a LaneSigner>) -> Self {
        Self {
            signer,
            address,
            next_nonce: 0,
            knows_nonce: false,
            open: Vec::new(),
            unfinalized: Vec::new(),
            balance: U256::ZERO,
            on_chain: 0,
            is_owner: false,
            failures: 0,
            backoff_until: None,
            unable_since: None,
        }
    }

    /// Reads a lane, and opens one that has no row. At least one read; calls the chain for one without a row.
    pub(crate) async fn load(
        leadership: Leadership<'_>,
        address: Address,
        signer: Option<&'a LaneSigner>,
    ) -> Result<Self, RelayError> {
        let (store, chain) = (&leadership.transactions, leadership.chain.id);
        let mut lane = Self::new(address, signer);
        let Some(state) = store.lane(chain, address).await? else {
            lane.begin(leadership).await?;
            return Ok(lane);
        };
        let load = async |nonces: &BTreeSet<u64>| {
            let batches = store.batches(chain, address, nonces).await?;
            Ok::<_, RelayError>(batches.into_iter().map(Tracked::new).collect::<Vec<_>>())
        };
        (lane.next_nonce, lane.knows_nonce) = (state.next_nonce, true);
        (lane.open, lane.unfinalized) = (load(&state.open).await?, load(&state.unfinalized).await?);
        Ok(lane)
    }

    /// Opens a lane at its first nonce, if that is known.
    async fn begin(&mut self, leadership: Leadership<'_>) -> Result<(), RelayError> {
        let first = leadership.first_nonce(self.address).await;
        if let Some(next_nonce) = self.decided(leadership.chain.id, first)? {
            ensure_leader(leadership.transactions.open_lane(leadership.lease, self.address, next_nonce).await?)?;
            (self.next_nonce, self.knows_nonce) = (next_nonce, true);
        }
        Ok(())
    }

    /// A next nonce that was looked for; `None` if nobody knows it. The lane waits for another leader then, and an
    /// operator is told: the other lanes go on.
    fn decided(&mut self, chain: ChainId, found: Result<u64, NodeError>) -> Result<Option<u64>, NodeError> {
        match found {
            Err(error @ NodeError::Undecided(_)) => {
                let lane = self.address;
                tracing::error!(
                    chain.id = chain.0, %lane, error = telemetry::chain(&error),
                    "next nonce of lane {lane} not found on chain {chain}: the lane waits"
                );
                self.knows_nonce = false;
                Ok(None)
            }
            found => found.map(Some),
        }
    }

    /// Reads balance and nonce from the chain, and what it takes for the data of open batches; a fee that no node tells
    /// stays as it was. Two calls, and on a chain with such fees one or two more while batches are open; none for one
    /// that is over.
    pub(crate) async fn refresh(&mut self, relay: &ChainRelay) -> Result<(), RelayError> {
        if self.is_over() {
            return Ok(());
        }
        let lane = self.address.into();
        let fees = self.open.iter().map(|open| data_fee(&relay.node, &relay.chain, open.batch.newest().len()));
        let state =
            async { tokio::try_join!(relay.node.balance(lane), relay.node.next_nonce(lane, BlockNumberOrTag::Latest)) };
        let (state, fees) = tokio::join!(state, join_all(fees));
        let (balance, nonce) = state?;
        if balance > self.balance {
            self.reset_backoff();
        }
        (self.balance, self.on_chain) = (balance, nonce);
        for (open, fee) in self.open.iter_mut().zip(fees) {
            open.data_fee = fee.unwrap_or(open.data_fee);
        }
        Ok(())
    }

    /// Moves nonces past those that blocks show another program to have used for good. Where all of several nodes say
    /// so, and none shows a block, what it sends would be held up: it waits.
    pub(crate) async fn follow_foreign_use(&mut self, leadership: Leadership<'_>) -> Result<(), RelayError> {
        let is_idle = self.knows_nonce && self.open.is_empty() && self.signer.is_some();
        if self.on_chain <= self.next_nonce || !is_idle {
            return Ok(());
        }
        let (chain, from) = (leadership.chain.id, self.next_nonce);
        let agreed = leadership.agreed_nonce(self.address, from).await;
        let confirmed = self.decided(chain, agreed)?;
        if confirmed == Some(from) {
            return Ok(());
        }
        report_foreign_use(Slot { chain, lane: self.address, nonce: from });
        if let Some(confirmed) = confirmed {
            let skipped = leadership.transactions.skip(leadership.lease, self.address, from, confirmed);
            ensure_leader(skipped.await?)?;
            self.next_nonce = confirmed;
        }
        Ok(())
    }

    /// Signs a new batch, whose transactions are claimed, and stores it with the lane's next nonce. One KMS call, one
    /// write.
    pub(crate) async fn submit(
        &mut self,
        leadership: Leadership<'_>,
        packed: &Packed,
        members: Vec<Member>,
        fees: Fees,
    ) -> Result<(), RelayError> {
        let request = request(leadership.chain.id, self.next_nonce, packed, fees);
        self.open_batch(leadership, request, members, false).await
    }

    /// Fills a nonce that the chain waits for and no batch has.
    pub(crate) async fn fill_gap(
        &mut self,
        leadership: Leadership<'_>,
        nonce: u64,
        market: MarketFees,
    ) -> Result<(), RelayError> {
        let (chain, lane) = (leadership.chain.id, self.address);
        tracing::error!(
            chain.id = chain.0, %lane, nonce,
            "nonce {nonce} of lane {lane} filled: no batch of chain {chain} has it"
        );
        let fees = market.quote(leadership.chain.spending.max_fee_per_gas);
        self.open_batch(leadership, noop(chain, lane.into(), nonce, fees), Vec::new(), true).await
    }

    /// Opens a transfer to another lane. One KMS call, one write.
    pub(crate) async fn pay(
        &mut self,
        leadership: Leadership<'_>,
        to: Address,
        amount: U256,
        fees: Fees,
    ) -> Result<(), RelayError> {
        let (chain, lane) = (leadership.chain.id, self.address);
        tracing::warn!(chain.id = chain.0, %lane, %amount, "lane {lane} pays lane {to} of chain {chain} {amount} wei");
        let transfer = TxEip1559 { value: amount, ..noop(chain, to.into(), self.next_nonce, fees) };
        self.open_batch(leadership, transfer, Vec::new(), true).await
    }

    /// Signs a batch and stores it, and doesn't send it: another process can send stored bytes again.
    async fn open_batch(
        &mut self,
        leadership: Leadership<'_>,
        request: TxEip1559,
        members: Vec<Member>,
        fills: bool,
    ) -> Result<(), RelayError> {
        let signer = self.signer.ok_or(SignerError::UnknownLane(self.address.into()))?;
        let (nonce, created_at) = (request.nonce, leadership.now()?);
        let (attempt, signed) = sign(signer, request, fills, created_at).await?;
        let (signed, filler) = if fills { (Vec::new(), signed.to_vec()) } else { (signed.to_vec(), Vec::new()) };
        let batch = Batch {
            slot: Slot { chain: leadership.chain.id, lane: self.address, nonce },
            members,
            status: BatchStatus::Open,
            attempts: vec![attempt],
            signed,
            filler,
            mined: None,
            pending: Vec::new(),
            created_at,
        };
        ensure_leader(leadership.transactions.open_batch(leadership.lease, &batch, self.next_nonce).await?)?;
        self.track(batch);
        Ok(())
    }

    /// Replaces a batch's newest version by one with other fees, or by a no-op, and sends it. One KMS call, one write.
    pub(crate) async fn replace(
        &mut self,
        leadership: Leadership<'_>,
        index: usize,
        fees: Fees,
        fills: bool,
    ) -> Result<(), RelayError> {
        let signer = self.signer.ok_or(SignerError::UnknownLane(self.address.into()))?;
        let batch = &self.open[index].batch;
        let request = if fills {
            noop(leadership.chain.id, self.address.into(), batch.slot.nonce, fees)
        } else {
            repriced(batch, fees)?
        };
        let (attempt, signed) = sign(signer, request, fills, leadership.now()?).await?;
        ensure_leader(leadership.transactions.add_attempt(leadership.lease, batch, &attempt, &signed).await?)?;
        let mut replaced = batch.clone();
        replaced.attempts.push(attempt);
        *(if fills { &mut replaced.filler } else { &mut replaced.signed }) = signed.to_vec();
        let mut tracked = Tracked::new(replaced);
        tracked.data_fee = self.open[index].data_fee;
        tracked.replaced_at = Some(Instant::now());
        if tracked.send(leadership.relay).await.is_ok() {
            tracked.mark_sent(leadership.relay).await?;
        }
        self.open[index] = tracked;
        Ok(())
    }

    /// Adds an open batch.
    pub(crate) fn track(&mut self, batch: Batch) {
        self.next_nonce = self.next_nonce.max(batch.slot.nonce.saturating_add(1));
        let index = self.open.partition_point(|tracked| tracked.nonce() < batch.slot.nonce);
        self.open.insert(index, Tracked::new(batch));
    }

    /// Whether it isn't configured any more, and all its batches are final.
    pub(crate) fn is_over(&self) -> bool {
        self.signer.is_none() && self.open.is_empty() && self.unfinalized.is_empty()
    }

    /// Whether it can sign batches that the operator Safe accepts.
    pub(crate) fn can_act(&self) -> bool {
        self.signer.is_some() && self.is_owner && self.knows_nonce
    }

    /// Whether the chain may have dropped a batch.
    pub(crate) fn has_suspects(&self) -> bool {
        self.unfinalized.iter().any(|tracked| tracked.suspect_since.is_some())
    }

    /// Whether it can send another batch.
    pub(crate) fn is_free(&self) -> bool {
        let flows = self.open.iter().all(|tracked| tracked.suspect_since.is_none() && tracked.is_accepted);
        self.can_act() && !self.is_backing_off() && flows && self.open.len() < MAX_OPEN && !self.spendable().is_zero()
    }

    /// Notes since when it can't go on; a back-off that ends is no sign that it can.
    pub(crate) fn note_ability(&mut self) {
        let is_able = self.is_free() && self.failures == 0;
        self.unable_since = if is_able { None } else { self.unable_since.or_else(|| Some(Instant::now())) };
    }

    /// Whether the artists whom it served wait for it.
    pub(crate) fn holds_affinity(&self, affinity: Duration) -> bool {
        self.can_act() && self.unable_since.is_none_or(|since| since.elapsed() < affinity)
    }

    pub(crate) fn is_backing_off(&self) -> bool {
        self.backoff_until.is_some_and(|until| Instant::now() < until)
    }

    /// Leaves the queue to the other lanes for a while, longer after each failure.
    pub(crate) fn back_off(&mut self) {
        let pause = MIN_BACKOFF * 2_u32.saturating_pow(self.failures.min(6));
        self.failures = self.failures.saturating_add(1);
        self.backoff_until = Some(Instant::now() + pause.min(MAX_BACKOFF));
    }

    pub(crate) fn reset_backoff(&mut self) {
        (self.failures, self.backoff_until) = (0, None);
    }

    /// Wei that its open batches may cost beyond what it has.
    pub(crate) fn owes(&self) -> U256 {
        self.reserved().saturating_sub(self.balance)
    }

    /// Whether it hasn't been able to pay for its open batches for so long.
    pub(crate) fn is_broke(&self, patience: Duration) -> bool {
        let is_unable = self.unable_since.is_some_and(|since| since.elapsed() >= patience);
        is_unable && self.can_act() && !self.owes().is_zero()
    }

    /// Whether it has paid another lane, and no block has the payment yet.
    pub(crate) fn is_paying(&self, other: Address) -> bool {
        self.open.iter().any(|tracked| payee(&tracked.batch) == Some(other.into()))
    }

    /// Starts its wait anew: another lane has paid.
    pub(crate) fn expect_money(&mut self) {
        self.unable_since = Some(Instant::now());
    }

    fn reserved(&self) -> U256 {
        let costs = self.open.iter().flat_map(|tracked| [max_cost(&tracked.batch), tracked.data_fee]);
        costs.fold(U256::ZERO, U256::saturating_add)
    }

    /// Wei that the lane can still spend if all open batches cost what they may.
    pub(crate) fn spendable(&self) -> U256 {
        self.balance.saturating_sub(self.reserved())
    }

    /// Nonce of the newest batch with this key in a block that isn't final.
    pub(crate) fn newest_with(&self, key: ConcurrencyKey) -> Option<u64> {
        let batches = self.unfinalized.iter().map(|tracked| &tracked.batch);
        let with_key = batches.filter(|batch| batch.members.iter().any(|member| member.concurrency_key == Some(key)));
        with_key.map(|batch| batch.slot.nonce).max()
    }

    /// The lowest nonce that the chain waits for and no batch has.
    pub(crate) fn gap(&self) -> Option<u64> {
        let lowest = self.open.first().map(Tracked::nonce)?;
        let is_mined = self.unfinalized.iter().any(|tracked| tracked.nonce() >= self.on_chain);
        (self.on_chain < lowest && !is_mined).then_some(self.on_chain)
    }
}

/// Logs and counts a nonce that a lane's key signed something else with.
pub(crate) fn report_foreign_use(Slot { chain, lane, nonce }: Slot) {
    tracing::error!(chain.id = chain.0, %lane, nonce, "key of lane {lane} was used elsewhere on chain {chain}");
    telemetry::count(Metric::ForeignNonces);
}

/// Hash of the newest block; `None` if it lacks an earlier batch with this key: the node lags, or the chain has dropped
/// the batch's block. One call, and one for each lane with an unfinalized batch of the same moment.
pub(crate) async fn head_after(
    relay: &ChainRelay,
    lanes: &[Lane<'_>],
    key: ConcurrencyKey,
) -> Result<Option<B256>, RelayError> {
    let block = relay.node.head().await?.hash;
    for (lane, nonce) in lanes.iter().filter_map(|lane| Some((lane.address, lane.newest_with(key)?))) {
        if relay.node.next_nonce(lane.into(), block).await? <= nonce {
            return Ok(None);
        }
    }
    Ok(Some(block))
}

/// The members of all open batches.
pub(crate) fn open_members<'a>(lanes: &'a [Lane<'_>]) -> impl Iterator<Item = &'a Member> {
    lanes.iter().flat_map(|lane| &lane.open).flat_map(|tracked| &tracked.batch.members)
}

/// All transactions and artists in open batches.
pub(crate) fn in_flight(lanes: &[Lane<'_>]) -> (HashSet<TransactionId>, HashSet<ArtistId>) {
    open_members(lanes).map(|member| (member.transaction_id, member.artist_id)).unzip()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::tests::open_batch;

    #[test]
    fn fee_for_data_that_a_node_invents_leaves_nothing_to_spend() {
        let mut lane = Lane::new(Address::ZERO, None);
        lane.balance = U256::from(1_000);
        for (nonce, data_fee) in [(0, U256::MAX), (1, U256::ONE)] {
            lane.track(open_batch(nonce));
            if let Some(tracked) = lane.open.last_mut() {
                tracked.data_fee = data_fee;
            }
        }
        assert_eq!((lane.open.len(), lane.spendable()), (2, U256::ZERO));
    }
}
