use std::{
    collections::{BTreeMap, HashMap, HashSet},
    time::{Duration, Instant},
};

use alloy::primitives::Address;
use futures::future::try_join_all;
use shared::{
    clock,
    model::{self, MarketFees, TransactionId},
    store::artist::{Lease, Queued},
    telemetry,
};

use crate::{ChainRelay, RelayError, Report, fleet::Lane, order::Order, pack::Dispatched, vitals};

/// Pause between two looks at the chain and the queue, while something goes on.
const SHORT_PAUSE: Duration = Duration::from_millis(100);
/// The same while nothing changes.
const LONG_PAUSE: Duration = Duration::from_millis(200);

/// How long fees and balances are used before they are read again.
const FRESH: Duration = Duration::from_secs(2);

/// Time between two measurements for the alarms: half of their shortest period.
const MEASURED: Duration = Duration::from_secs(30);

/// Longest part of the queue that is looked at, the transactions in open batches included.
const WINDOW: usize = 4_000;

/// Time after a batch in which another one that isn't full waits for more transactions.
const GATHERING: Duration = Duration::from_secs(1);

/// What the leader of a chain knows.
pub(crate) struct Leader<'a> {
    pub(crate) relay: &'a ChainRelay,
    pub(crate) lease: &'a Lease,
    pub(crate) lanes: Vec<Lane<'a>>,
    /// Accounts that the chain has.
    pub(crate) deployed: HashSet<Address>,
    /// Transactions that nodes would let revert, since when, and when they were tried last.
    pub(crate) doubts: HashMap<TransactionId, (Instant, Instant)>,
    market: Option<(Instant, MarketFees)>,
    looked_at: Option<Instant>,
    measured_at: Option<Instant>,
    sent_at: Option<Instant>,
}

impl<'a> Leader<'a> {
    /// Checks that the nodes are the chain's, and loads the lanes: those that may sign, and former ones, whose batches
    /// may still be open.
    pub(crate) async fn start(relay: &'a ChainRelay, lease: &'a Lease) -> Result<Self, RelayError> {
        relay.check_chain().await?;
        let signers: BTreeMap<_, _> =
            relay.signers.iter().map(|signer| (model::Address::from(signer.address()), signer)).collect();
        let former = relay.transactions.lanes(relay.chain.id).await?;
        let former = former.into_iter().filter(|lane| !signers.contains_key(lane)).map(|lane| (lane, None));
        let current = signers.iter().map(|(lane, signer)| (*lane, Some(*signer)));
        let lanes = current.chain(former).map(|(lane, signer)| Lane::load(relay, lease, lane, signer));
        let lanes = try_join_all(lanes).await?;
        let (deployed, doubts) = (HashSet::new(), HashMap::new());
        let (market, looked_at, measured_at, sent_at) = (None, None, None, None);
        let mut leader = Self { relay, lease, lanes, deployed, doubts, market, looked_at, measured_at, sent_at };
        leader.look().await?;
        for lane in &mut leader.lanes {
            lane.follow_foreign_use(relay, lease).await?;
        }
        Ok(leader)
    }

    /// Works until nothing is left to do, or `until`. `false` if no lane can do it: a process with other lanes may.
    pub(crate) async fn run(&mut self, until: Instant, report: &mut Report) -> Result<bool, RelayError> {
        self.measure().await;
        self.mature(report).await?;
        let mut pause = SHORT_PAUSE;
        loop {
            let now = clock::now()?.as_secs();
            if self.looked_at.is_none_or(|at| at.elapsed() >= FRESH) {
                self.look().await.or_else(if_node)?;
                self.measure().await;
                self.mature(report).await.or_else(if_node)?;
            }
            let ended = self.watch(now, report).await?;
            self.push(now, report).await.or_else(if_node)?;
            let queue = self.relay.transactions.queued(self.relay.chain.id, WINDOW).await?;
            let sent = self.pack(&queue, now, report).await.or_else(if_node)?;
            let is_settled = self.lanes.iter().all(|lane| lane.open.is_empty() && !lane.is_in_doubt());
            let can_act = self.lanes.iter().any(Lane::acts);
            if (is_settled && (queue.is_empty() || !can_act)) || Instant::now() >= until {
                return Ok(can_act);
            }
            pause = if ended || sent { SHORT_PAUSE } else { (pause * 5 / 4).min(LONG_PAUSE) };
            tokio::time::sleep(pause).await;
        }
    }

    /// Records the metrics, once in a period of the alarms: one that waits for a block may lead for minutes.
    async fn measure(&mut self) {
        if self.measured_at.is_none_or(|at| at.elapsed() >= MEASURED) {
            self.measured_at = Some(Instant::now());
            vitals::measure(self).await;
        }
    }

    /// Sends what is queued, as far as lanes are free. A batch waits for company only while another is under way.
    async fn pack(&mut self, queue: &[Queued], now: u64, report: &mut Report) -> Result<bool, RelayError> {
        self.lanes.iter_mut().for_each(Lane::note_ability);
        let mut order = Order::of(&self.lanes, self.relay);
        let (mut sent, mut passed) = (false, HashSet::new());
        while let Some(lane) = self.free_lane(&passed) {
            order.hold(&self.doubts);
            let waiting = order.waiting(&self.lanes, lane, queue);
            if waiting.is_empty() {
                passed.insert(lane);
                continue;
            }
            let market = self.market().await?;
            if market.base > self.relay.chain.spending.max_fee_per_gas {
                break;
            }
            let draft = self.draft(&waiting, now, report).await?;
            order.skip(&draft.dropped);
            let is_gathering = self.sent_at.is_some_and(|at| at.elapsed() < GATHERING);
            let is_alone = self.lanes.iter().all(|lane| lane.open.is_empty());
            let is_early = !draft.is_full && !is_alone && (is_gathering || !self.lanes[lane].open.is_empty());
            if draft.members.is_empty() || is_early {
                if draft.dropped.is_empty() || is_early {
                    passed.insert(lane);
                }
                continue;
            }
            let fees = market.quote(self.relay.chain.spending.max_fee_per_gas);
            match self.dispatch(lane, draft, fees, now, report).await? {
                Dispatched::Sent => {
                    sent = true;
                    self.sent_at = Some(Instant::now());
                }
                Dispatched::LaneRests | Dispatched::Doubted => {}
                // The queue must be read again.
                Dispatched::Split => return Ok(true),
            }
        }
        Ok(sent)
    }

    /// The lane with the fewest open batches that can send another one.
    fn free_lane(&self, passed: &HashSet<usize>) -> Option<usize> {
        let free = self.lanes.iter().enumerate().filter(|(index, lane)| lane.is_free() && !passed.contains(index));
        free.min_by_key(|(_, lane)| lane.open.len()).map(|(index, _)| index)
    }

    pub(crate) async fn market(&mut self) -> Result<MarketFees, RelayError> {
        if let Some((_, market)) = self.market.filter(|(at, _)| at.elapsed() < FRESH) {
            return Ok(market);
        }
        let market = self.relay.node.market_fees().await?;
        self.market = Some((Instant::now(), market));
        Ok(market)
    }

    /// Reads the state of the lanes from the chain. Two calls each, and one more.
    pub(crate) async fn look(&mut self) -> Result<(), RelayError> {
        let relay = self.relay;
        self.looked_at = Some(Instant::now());
        let owners = relay.owners().await?;
        for lane in &mut self.lanes {
            lane.is_owner = owners.contains(&lane.address.into());
            if lane.signer.is_some() && !lane.is_owner {
                tracing::error!(chain.id = relay.chain.id.0, lane = %lane.address, "the operator Safe doesn't have the lane");
            }
        }
        try_join_all(self.lanes.iter_mut().map(|lane| lane.look(relay))).await.map(drop)
    }
}

/// A node that fails changes nothing here: what it was asked for is asked again.
pub(crate) fn if_node<T: Default>(error: RelayError) -> Result<T, RelayError> {
    match error {
        RelayError::Node(error) => {
            tracing::warn!(error = telemetry::chain(&error), "a step waits for the nodes");
            Ok(T::default())
        }
        error => Err(error),
    }
}
