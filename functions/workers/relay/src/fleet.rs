//! The lanes as the leader knows them. Storage changes only through the leader, so memory stays true while it leads.

use std::{
    collections::{BTreeSet, HashSet},
    time::{Duration, Instant},
};

use alloy::{eips::BlockNumberOrTag, primitives::U256};
use shared::{
    chain::{contracts::safe::Safe, node::NodeError, wallet::LaneSigner},
    model::{Address, ArtistId, ConcurrencyKey, TransactionId},
    store::artist::{Batch, LaneState, Lease, Member},
    telemetry::{self, Metric},
};

use crate::{ChainRelay, RelayError, still_leads, submit::gas_limit};

/// Longest rest of a lane after failures: a lane that can go on isn't known before.
const MOST_REST: Duration = Duration::from_secs(4);

/// Most open batches of a lane: nodes keep few per sender.
const MOST_OPEN: usize = 4;

/// A lane.
pub(crate) struct Lane<'a> {
    /// Signs for it; `None` for one that isn't configured any more, whose batches are only watched.
    pub(crate) signer: Option<&'a LaneSigner>,
    pub(crate) address: Address,
    /// Next nonce to use.
    pub(crate) next_nonce: u64,
    /// Batches that are open, by nonce.
    pub(crate) open: Vec<Tracked>,
    /// Batches in blocks that aren't final, by nonce.
    pub(crate) young: Vec<Tracked>,
    /// Wei that it had when last looked at.
    pub(crate) balance: U256,
    /// Its next nonce on the chain when last looked at.
    pub(crate) on_chain: u64,
    /// Whether the operator Safe had it as an owner when last looked at.
    pub(crate) is_owner: bool,
    failures: u32,
    rests_until: Option<Instant>,
    unable_since: Option<Instant>,
}

/// A batch, and what this process has seen of it.
pub(crate) struct Tracked {
    pub(crate) batch: Batch,
    /// When its bytes were last sent by this process.
    pub(crate) sent_at: Option<Instant>,
    /// Since when nodes refuse it, or its nonce looks used by another program.
    pub(crate) suspect_since: Option<Instant>,
    /// Whether a node is known to have its newest version.
    pub(crate) is_taken: bool,
    /// Whether its transactions are marked as sent with its newest version.
    pub(crate) is_marked: bool,
    /// The newest block when its newest version was first found to be the next that the chain can take.
    pub(crate) lowest_since: Option<u64>,
    /// When this process replaced it last.
    pub(crate) replaced_at: Option<Instant>,
    /// Whether its block was still the chain's after enough others.
    pub(crate) is_confirmed: bool,
}

impl Tracked {
    pub(crate) fn new(batch: Batch) -> Self {
        Self {
            batch,
            sent_at: None,
            suspect_since: None,
            is_taken: false,
            is_marked: false,
            lowest_since: None,
            replaced_at: None,
            is_confirmed: false,
        }
    }
}

impl<'a> Lane<'a> {
    /// Reads a lane, and opens one that is new. At least one read; calls the chain for a new one.
    pub(crate) async fn load(
        relay: &ChainRelay,
        lease: &Lease,
        address: Address,
        signer: Option<&'a LaneSigner>,
    ) -> Result<Self, RelayError> {
        let chain = relay.chain.id;
        let state = match relay.transactions.lane(chain, address).await? {
            Some(state) => state,
            None => {
                let next_nonce = relay.buried_nonce(address).await?;
                still_leads(relay.transactions.open_lane(lease, address, next_nonce).await?)?;
                LaneState { next_nonce, ..LaneState::default() }
            }
        };
        let load = async |nonces: &BTreeSet<u64>| {
            let batches = relay.transactions.batches(chain, address, nonces).await?;
            Ok::<_, RelayError>(batches.into_iter().map(Tracked::new).collect::<Vec<_>>())
        };
        let (open, young) = (load(&state.open).await?, load(&state.young).await?);
        Ok(Self {
            signer,
            address,
            next_nonce: state.next_nonce,
            open,
            young,
            balance: U256::ZERO,
            on_chain: 0,
            is_owner: false,
            failures: 0,
            rests_until: None,
            unable_since: None,
        })
    }

    /// Reads balance and nonce from the chain. Two calls; none for a lane of which nothing more is expected.
    pub(crate) async fn look(&mut self, relay: &ChainRelay) -> Result<(), RelayError> {
        if self.signer.is_none() && self.open.is_empty() && self.young.is_empty() {
            return Ok(());
        }
        let lane = self.address.into();
        let (balance, nonce) =
            tokio::try_join!(relay.node.balance(lane), relay.node.next_nonce(lane, BlockNumberOrTag::Latest))?;
        if balance > self.balance {
            self.is_well();
        }
        (self.balance, self.on_chain) = (balance, nonce);
        Ok(())
    }

    /// Whether it can sign batches that the operator Safe accepts.
    pub(crate) fn acts(&self) -> bool {
        self.signer.is_some() && self.is_owner
    }

    /// Whether the chain may have dropped a batch.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.young.iter().any(|tracked| tracked.suspect_since.is_some())
    }

    /// Whether it can send another batch.
    pub(crate) fn is_free(&self) -> bool {
        let flows = self.open.iter().all(|tracked| tracked.suspect_since.is_none() && tracked.is_taken);
        self.acts() && !self.is_resting() && flows && self.open.len() < MOST_OPEN && !self.spendable().is_zero()
    }

    /// Looks whether it can go on; a rest that ends is no sign of that.
    pub(crate) fn note_ability(&mut self) {
        let is_able = self.is_free() && self.failures == 0;
        self.unable_since = if is_able { None } else { self.unable_since.or_else(|| Some(Instant::now())) };
    }

    /// Whether the artists whom it served wait for it.
    pub(crate) fn keeps_artists(&self, loyalty: Duration) -> bool {
        self.acts() && self.unable_since.is_none_or(|since| since.elapsed() < loyalty)
    }

    pub(crate) fn is_resting(&self) -> bool {
        self.rests_until.is_some_and(|until| Instant::now() < until)
    }

    /// Leaves the queue to the other lanes for a while, longer after each failure.
    pub(crate) fn rest(&mut self) {
        let pause = Duration::from_millis(500) * 2_u32.saturating_pow(self.failures.min(6));
        self.failures = self.failures.saturating_add(1);
        self.rests_until = Some(Instant::now() + pause.min(MOST_REST));
    }

    pub(crate) fn is_well(&mut self) {
        (self.failures, self.rests_until) = (0, None);
    }

    /// What the lane can still spend, when all open batches cost what they may.
    pub(crate) fn spendable(&self) -> U256 {
        let reserved = self.open.iter().fold(U256::ZERO, |sum, tracked| sum + most_cost(&tracked.batch));
        self.balance.saturating_sub(reserved)
    }

    pub(crate) fn track(&mut self, batch: Batch) {
        self.next_nonce = self.next_nonce.max(batch.slot.nonce + 1);
        self.open.push(Tracked::new(batch));
        self.open.sort_by_key(|tracked| tracked.batch.slot.nonce);
    }

    /// Moves nonces past those that another program has used for good.
    pub(crate) async fn follow_foreign_use(&mut self, relay: &ChainRelay, lease: &Lease) -> Result<(), RelayError> {
        if self.on_chain <= self.next_nonce || !self.open.is_empty() || self.signer.is_none() {
            return Ok(());
        }
        let buried = relay.buried_nonce(self.address).await?;
        if buried > self.next_nonce {
            let from = self.next_nonce;
            tracing::error!(chain.id = relay.chain.id.0, lane = %self.address, nonce = from, "the lane's key was used elsewhere");
            telemetry::count(Metric::ForeignNonces);
            still_leads(relay.transactions.skip(lease, self.address, from, buried).await?)?;
            self.next_nonce = buried;
        }
        Ok(())
    }

    /// Nonce of the newest batch with this key in a block that isn't final.
    pub(crate) fn newest_with(&self, key: ConcurrencyKey) -> Option<u64> {
        let batches = self.young.iter().map(|tracked| &tracked.batch);
        let with_key = batches.filter(|batch| batch.members.iter().any(|member| member.concurrency_key == Some(key)));
        with_key.map(|batch| batch.slot.nonce).max()
    }

    /// The lowest nonce that the chain waits for and no batch has.
    pub(crate) fn gap(&self) -> Option<u64> {
        let lowest = self.open.first().map(|tracked| tracked.batch.slot.nonce)?;
        let is_young = self.young.iter().any(|tracked| tracked.batch.slot.nonce >= self.on_chain);
        (self.on_chain < lowest && !is_young).then_some(self.on_chain)
    }
}

/// The members of all open batches.
pub(crate) fn under_way<'a>(lanes: &'a [Lane<'_>]) -> impl Iterator<Item = &'a Member> {
    lanes.iter().flat_map(|lane| &lane.open).flat_map(|tracked| &tracked.batch.members)
}

/// All artists and transactions in open batches.
pub(crate) fn busy(lanes: &[Lane<'_>]) -> (HashSet<TransactionId>, HashSet<ArtistId>) {
    under_way(lanes).map(|member| (member.transaction_id, member.artist_id)).unzip()
}

/// Most wei that a batch may cost.
pub(crate) fn most_cost(batch: &Batch) -> U256 {
    let fees = batch.attempts.iter().map(|attempt| attempt.fees.max_fee_per_gas).max().unwrap_or_default();
    U256::from(gas_limit(batch)) * U256::from(fees)
}

impl ChainRelay {
    /// Fails if a node is another chain's, or none answers. One call for each node.
    pub(crate) async fn check_chain(&self) -> Result<(), RelayError> {
        let mut checked = Err(NodeError::None(self.chain.id));
        for node in self.node.each() {
            match node.chain_id().await {
                Ok(id) if id == self.chain.id => checked = Ok(()),
                Ok(_) => return Err(RelayError::WrongChain(self.chain.id)),
                Err(error) => checked = checked.or(Err(error)),
            }
        }
        Ok(checked?)
    }

    /// The lanes that the operator Safe has. One call.
    pub(crate) async fn owners(&self) -> Result<Vec<alloy::primitives::Address>, RelayError> {
        Ok(self.node.read(self.operator.safe, &Safe::getOwnersCall {}).await?.unwrap_or_default())
    }

    /// A lane's next nonce as of a block with enough newer ones, by the node that answers for both.
    pub(crate) async fn buried_nonce(&self, lane: Address) -> Result<u64, RelayError> {
        Ok(self.node.buried_nonce(lane.into(), self.chain.confirmations).await?)
    }
}
