use std::{
    collections::{BTreeMap, HashSet},
    time::{Duration, Instant},
};

use alloy::primitives::U256;
use futures::future::try_join_all;
use shared::{
    chain::{
        node::NodeFault,
        transaction::{Packed, data_fee, pack, refusal},
    },
    model::{Address, Fees},
    store::artist::{BatchReference, Ending, Member, Queued, Requeue, Transaction},
    telemetry,
};

use crate::{
    assignment::Assignment,
    batch::{Rejection, claim},
    chain::Leadership,
    confirm::confirm,
    draft::Draft,
    error::{RelayError, retry_if_node},
    gathering::Gathering,
    lane::{Lane, in_flight},
    market::Market,
    metrics::measure,
    packer::Packer,
    report::Report,
    restored::Restored,
    tell::explain,
    watch::{close_mined, rebroadcast},
    window::Window,
    words::Words,
};

/// Pause between two turns of the leader, while something goes on.
const SHORT_PAUSE: Duration = Duration::from_millis(100);
/// The same while nothing changes.
const LONG_PAUSE: Duration = Duration::from_millis(200);

/// Time between two measurements for the alarms: half of their shortest period.
const MEASURED: Duration = Duration::from_secs(30);

/// Most transactions that end unsent in one turn: each takes its place in the log of events.
const EXPIRED_AT_ONCE: usize = 50;

/// How many times longer than its artists a lane without money waits before another one pays it.
const REFILL_AFTER: u32 = 4;

/// The leader of a chain: its lanes, and what they are doing.
pub(crate) struct Leader<'a> {
    leadership: Leadership<'a>,
    report: &'a mut Report,
    lanes: Vec<Lane<'a>>,
    packer: Packer,
    market: Market,
    refreshed_at: Option<Instant>,
    measured_at: Option<Instant>,
    gathering: Gathering,
    /// The newest block that was seen, and when.
    head: (u64, Instant),
    window: Window,
    words: Words<'a>,
    restored: Restored,
}

/// What a turn made of the part of the queue that it read.
#[derive(Default)]
struct Turn {
    has_sent: bool,
    /// Whether a lane found nothing more to send there, and no draft waits for more transactions.
    is_exhausted: bool,
}

/// What became of a draft.
enum Dispatched {
    Sent,
    /// The lane can't send anything now; others may.
    LaneBacksOff,
    /// Its transactions are back in the queue, for smaller batches.
    Split,
    /// Its transactions are over by now, or rest on some that are.
    Outdated,
    /// Its only transaction waits for nodes to be of one mind.
    Deferred,
}

/// A draft whose transactions are claimed.
struct Claimed {
    /// Their rows, as they were before.
    rows: Vec<Transaction>,
    members: Vec<Member>,
    packed: Packed,
}

impl<'a> Leader<'a> {
    /// Checks that the nodes are the chain's, and loads the lanes: those that may sign, and former ones, whose batches
    /// may still be open.
    pub(crate) async fn start(leadership: Leadership<'a>, report: &'a mut Report) -> Result<Self, RelayError> {
        leadership.node.compare_heads().await;
        leadership.check_chain().await?;
        let signers: BTreeMap<_, _> =
            leadership.relay.signers.iter().map(|signer| (Address::from(signer.address()), signer)).collect();
        let former = leadership.transactions.lanes(leadership.chain.id).await?;
        let former = former.into_iter().filter(|lane| !signers.contains_key(lane)).map(|lane| (lane, None));
        let current = signers.iter().map(|(lane, signer)| (*lane, Some(*signer)));
        let lanes = current.chain(former).map(|(lane, signer)| Lane::load(leadership, lane, signer));
        let mut leader = Self {
            leadership,
            report,
            lanes: try_join_all(lanes).await?,
            packer: Packer::new(leadership.relay),
            market: Market::default(),
            refreshed_at: None,
            measured_at: None,
            gathering: Gathering::default(),
            head: (0, Instant::now()),
            window: Window::new(leadership.window),
            words: Words::new(leadership.relay),
            restored: Restored::default(),
        };
        leader.refresh().await?;
        for lane in &mut leader.lanes {
            lane.follow_foreign_use(leadership).await.or_else(retry_if_node)?;
        }
        Ok(leader)
    }

    /// Works until nothing is left to do, or `until`. `false` if no lane can do it: a process with other lanes may.
    pub(crate) async fn run(&mut self, until: Instant) -> Result<bool, RelayError> {
        self.measure().await;
        self.confirm().await?;
        let mut pause = SHORT_PAUSE;
        loop {
            // Before an outcome is stored that they are of.
            explain(self.leadership, &mut self.lanes, &mut self.words).await?;
            if self.refreshed_at.is_none_or(|at| at.elapsed() >= self.leadership.times.fresh) {
                self.refresh().await.or_else(retry_if_node)?;
                self.measure().await;
                self.confirm().await.or_else(retry_if_node)?;
            }
            let has_closed = self.close_mined().await?;
            self.rebroadcast().await.or_else(retry_if_node)?;
            self.refill().await.or_else(retry_if_node)?;
            let now = self.leadership.now()?;
            let mut queue = self.window.read(self.leadership.relay, now).await?;
            self.expire(&mut queue, now).await?;
            let Turn { has_sent, is_exhausted } = self.send(&queue).await.or_else(retry_if_node)?;
            if is_exhausted {
                self.window.move_on();
            }
            self.restored.end(self.leadership, &mut self.lanes, &mut self.market, self.report).await?;
            let is_settled = self.lanes.iter().all(|lane| lane.open.is_empty() && !lane.has_suspects());
            let can_act = self.lanes.iter().any(Lane::can_act);
            let is_done = is_settled && self.words.is_idle() && (queue.is_empty() || !can_act);
            if is_done || Instant::now() >= until {
                return Ok(can_act);
            }
            pause = if has_closed || has_sent { SHORT_PAUSE } else { (pause * 5 / 4).min(LONG_PAUSE) };
            // Sooner if words are found.
            let _ = tokio::time::timeout(pause, self.words.advance()).await;
        }
    }

    /// Records the metrics, once in a period of the alarms: a leader that waits for a block may lead for minutes.
    async fn measure(&mut self) {
        if self.measured_at.is_none_or(|at| at.elapsed() >= MEASURED) {
            self.measured_at = Some(Instant::now());
            measure(self.leadership.chain.id, &self.lanes, &self.leadership.transactions).await;
        }
    }

    /// Reads the state of the lanes from the chain. What [`Lane::refresh`] takes for each, one call more, and one to each
    /// node of several.
    async fn refresh(&mut self) -> Result<(), RelayError> {
        let relay = self.leadership.relay;
        self.refreshed_at = Some(Instant::now());
        let node = relay.node.clone();
        tokio::spawn(async move { node.compare_heads().await });
        let owners = relay.owners().await?;
        for lane in &mut self.lanes {
            lane.is_owner = owners.contains(&lane.address.into());
            if lane.signer.is_some() && !lane.is_owner {
                let (chain, lane) = (relay.chain.id, lane.address);
                tracing::error!(
                    chain.id = chain.0, %lane,
                    "lane {lane} is no owner of the operator Safe on chain {chain}"
                );
            }
        }
        try_join_all(self.lanes.iter_mut().map(|lane| lane.refresh(relay))).await.map(drop)
    }

    /// Looks after batches whose blocks may still be dropped. One node call, and one more for each that is due.
    async fn confirm(&mut self) -> Result<(), RelayError> {
        if self.lanes.iter().all(|lane| lane.unfinalized.is_empty()) {
            return Ok(());
        }
        let head = self.leadership.node.newest_block().await?;
        for lane in &mut self.lanes {
            confirm(self.leadership, lane, head, &mut self.words, self.report).await?;
        }
        Ok(())
    }

    async fn close_mined(&mut self) -> Result<bool, RelayError> {
        close_mined(self.leadership, &mut self.lanes, &mut self.words, self.report).await
    }

    async fn rebroadcast(&mut self) -> Result<(), RelayError> {
        for lane in &mut self.lanes {
            rebroadcast(self.leadership, lane, &mut self.market, self.report).await?;
        }
        Ok(())
    }

    /// Lets the richest lane pay a lane that hasn't been able to pay for its open batches for a while: their transactions
    /// wait for it, and so do their artists. Never more than half of what the richest one has, and one payment at a time:
    /// a block that is late costs no second one. Two calls before a payment.
    async fn refill(&mut self) -> Result<(), RelayError> {
        let (leadership, patience) = (self.leadership, self.leadership.times.affinity * REFILL_AFTER);
        let Some(poor) = self.lanes.iter().position(|lane| lane.is_broke(patience)) else { return Ok(()) };
        let (to, amount) = (self.lanes[poor].address, self.lanes[poor].owes().saturating_mul(U256::from(2)));
        let richest = (0..self.lanes.len()).filter(|lane| self.lanes[*lane].is_free());
        let richest = richest.max_by_key(|lane| self.lanes[*lane].spendable());
        let Some(richest) = richest.filter(|lane| self.lanes[*lane].spendable() / U256::from(2) >= amount) else {
            return Ok(());
        };
        if self.lanes.iter().any(|lane| lane.is_paying(to)) {
            return Ok(());
        }
        // What was paid may have arrived since its balance was read.
        self.lanes[poor].refresh(leadership.relay).await?;
        if !self.lanes[poor].is_broke(patience) {
            return Ok(());
        }
        let fees = self.market.fees(&leadership).await?.quote(leadership.chain.spending.max_fee_per_gas);
        self.lanes[richest].pay(leadership, to, amount, fees).await?;
        self.report.signatures += 1;
        self.lanes[poor].expect_money();
        Ok(())
    }

    /// Ends what wasn't sent before its time, and leaves it out of the queue: no lane, node or fee can keep it there. A
    /// block that has it may still be dropped or come back until it is settled. Two reads and a write each, for as many
    /// as a turn has time for.
    async fn expire(&mut self, queue: &mut Vec<Queued>, now: u64) -> Result<(), RelayError> {
        let leadership = self.leadership;
        if !queue.iter().any(|queued| queued.is_late(now)) {
            return Ok(());
        }
        let (assignment, (in_flight, _)) = (Assignment::of(&self.lanes, leadership.relay), in_flight(&self.lanes));
        let (late, rest): (Vec<_>, _) = queue.drain(..).partition(|queued| {
            let id = queued.transaction_id;
            queued.is_late(now) && !in_flight.contains(&id) && !assignment.is_unsettled(id)
        });
        *queue = rest;
        for queued in late.iter().take(EXPIRED_AT_ONCE) {
            match leadership.transactions.get(queued.artist_id, queued.transaction_id).await? {
                Some(row) if !row.status.is_final() => {
                    let reason = "It couldn't be sent in time, and won't be any more: try again";
                    let ending = Ending::given_up(&row, reason);
                    let has_ended = leadership.transactions.give_up(leadership.lease, &row, &ending, now).await?;
                    self.report.ended += usize::from(has_ended);
                }
                _ => leadership.transactions.forget(leadership.chain.id, queued).await?,
            }
        }
        Ok(())
    }

    /// Sends what is queued, as far as lanes are free. A batch waits for more transactions only while another is open.
    async fn send(&mut self, queue: &[Queued]) -> Result<Turn, RelayError> {
        let max_fee = self.leadership.chain.spending.max_fee_per_gas;
        self.lanes.iter_mut().for_each(Lane::note_ability);
        self.packer.facts.begin_turn(self.leadership.times.facts);
        let mut assignment = Assignment::of(&self.lanes, self.leadership.relay);
        if queue.iter().any(|queued| queued.not_before.is_some()) {
            let block = self.market.fees(&self.leadership).await?.block;
            assignment.reach(self.reached(block));
        }
        let (mut has_sent, mut passed) = (false, HashSet::new());
        let (mut has_none, mut waits) = (false, false);
        while let Some(lane) = self.free_lane(&passed) {
            assignment.hold(&self.packer.suspicions);
            let waiting = assignment.waiting(&self.lanes, lane, queue);
            if waiting.is_empty() {
                has_none = true;
                passed.insert(lane);
                continue;
            }
            let may_wait = self.gathering.may_wait(&self.lanes, lane);
            if may_wait && self.gathering.is_waiting(waiting.len()) {
                waits = true;
                passed.insert(lane);
                continue;
            }
            let market = self.market.fees(&self.leadership).await?;
            if market.base > max_fee {
                break;
            }
            let draft = self.packer.draft(self.leadership, &self.lanes, &waiting, self.report).await?;
            assignment.skip(&draft.dropped);
            let is_early = may_wait && !draft.is_full;
            if draft.members.is_empty() || is_early {
                has_none |= draft.members.is_empty() && draft.dropped.is_empty();
                if !draft.members.is_empty() {
                    waits = true;
                    self.gathering.wait(waiting.len());
                }
                if draft.dropped.is_empty() || is_early {
                    passed.insert(lane);
                }
                continue;
            }
            match self.dispatch(lane, draft, market.quote(max_fee)).await? {
                Dispatched::Sent => {
                    has_sent = true;
                    self.gathering.sent();
                }
                Dispatched::LaneBacksOff | Dispatched::Deferred => {}
                // The queue must be read again.
                Dispatched::Split | Dispatched::Outdated => return Ok(Turn { has_sent: true, is_exhausted: false }),
            }
        }
        Ok(Turn { has_sent, is_exhausted: has_none && !waits })
    }

    /// The block that the chain has reached, for those that wait for one. Nobody comes first where no blocks come.
    fn reached(&mut self, block: u64) -> u64 {
        if block > self.head.0 {
            self.head = (block, Instant::now());
        }
        if self.head.1.elapsed() < self.leadership.times.quiet { self.head.0 } else { u64::MAX }
    }

    /// The lane with the fewest open batches that can send another one.
    fn free_lane(&self, passed: &HashSet<usize>) -> Option<usize> {
        let free = self.lanes.iter().enumerate().filter(|(index, lane)| lane.is_free() && !passed.contains(index));
        free.min_by_key(|(_, lane)| lane.open.len()).map(|(index, _)| index)
    }

    /// Packs, tries, claims, signs and sends a draft with a lane. Claims come before the signature, so that what is
    /// cancelled costs the others none.
    async fn dispatch(&mut self, lane: usize, draft: Draft, fees: Fees) -> Result<Dispatched, RelayError> {
        let (leadership, address) = (self.leadership, self.lanes[lane].address);
        let packed = pack(leadership.operator.safe, address.into(), &draft.operations);
        // A lane that can't pay is rare: neither waits for the other.
        let (data_fee, refusal) = tokio::join!(
            data_fee(&leadership.node, &leadership.chain, packed.data.len()),
            self.undisputed_refusal(address, &packed, &draft)
        );
        let (data_fee, gas_cost) = (data_fee?, U256::from(packed.gas_limit) * U256::from(fees.max_fee_per_gas));
        if self.lanes[lane].spendable() < gas_cost.saturating_add(data_fee) {
            let chain = leadership.chain.id;
            tracing::warn!(
                chain.id = chain.0, lane = %address,
                "lane {address} can't pay for a batch on chain {chain}"
            );
            self.lanes[lane].back_off();
            return Ok(Dispatched::LaneBacksOff);
        }
        if let Some(reason) = refusal? {
            return self.give_way(lane, &draft, &reason).await;
        }
        self.packer.suspicions.clear(&draft.members);
        self.packer.facts.forget(&draft);
        let batch = BatchReference { lane: address, nonce: self.lanes[lane].next_nonce };
        let Some(Claimed { rows, members, packed }) = self.claim(batch, draft, packed).await? else {
            return Ok(Dispatched::Outdated);
        };
        let lane = &mut self.lanes[lane];
        match lane.submit(leadership, &packed, members, fees).await {
            Ok(()) => lane.reset_backoff(),
            Err(error @ (RelayError::Signer(_) | RelayError::Signature(_))) => {
                let dispatched = back_off(lane, &error);
                leadership.transactions.unclaim(leadership.lease, &rows, batch, leadership.now()?).await?;
                return Ok(dispatched);
            }
            Err(error) => return Err(error),
        }
        self.report.signatures += 1;
        self.report.batches += 1;
        if let Some(tracked) = lane.open.last_mut() {
            tracked.data_fee = data_fee;
            self.report.transactions += tracked.batch.members.len();
            if let Err(Rejection { fault: NodeFault::InsufficientFunds, .. }) = tracked.send(leadership.relay).await {
                lane.back_off();
            }
        }
        Ok(Dispatched::Sent)
    }

    /// Claims a draft's transactions for a batch, and packs it anew without those that are over by now; `None` if none
    /// is left.
    async fn claim(&self, batch: BatchReference, draft: Draft, packed: Packed) -> Result<Option<Claimed>, RelayError> {
        let Leadership { relay, lease } = self.leadership;
        let mut rows = claim(relay, &draft.members, batch).await?;
        if rows.len() == draft.members.len() {
            return Ok(Some(Claimed { rows, members: draft.members, packed }));
        }
        let got: HashSet<_> = rows.iter().map(|row| row.id).collect();
        let (members, operations) = draft.without(|id| !got.contains(&id));
        let kept: HashSet<_> = members.iter().map(|member| member.transaction_id).collect();
        let dropped: Vec<_> = rows.extract_if(.., |row| !kept.contains(&row.id)).collect();
        relay.transactions.unclaim(lease, &dropped, batch, relay.now()?).await?;
        if members.is_empty() {
            return Ok(None);
        }
        let packed = pack(relay.operator.safe, batch.lane.into(), &operations);
        Ok(Some(Claimed { rows, members, packed }))
    }

    /// Why the packed draft would revert as a whole; `None` if it wouldn't, or if one node of several admits a lone
    /// transaction. One call, and one more for each node then.
    async fn undisputed_refusal(
        &self,
        lane: Address,
        packed: &Packed,
        draft: &Draft,
    ) -> Result<Option<String>, RelayError> {
        let node = &self.leadership.node;
        let Some(reason) = refusal(node, lane.into(), packed).await? else { return Ok(None) };
        if draft.members.len() == 1 {
            for node in node.each() {
                if let Ok(None) = refusal(&node, lane.into(), packed).await {
                    return Ok(None);
                }
            }
        }
        Ok(Some(reason))
    }

    /// Doesn't send a draft that would revert as a whole.
    async fn give_way(&mut self, lane: usize, draft: &Draft, reason: &str) -> Result<Dispatched, RelayError> {
        let (chain, members) = (self.leadership.chain.id, draft.members.len());
        tracing::warn!(
            chain.id = chain.0,
            members,
            reason,
            "batch of {members} transactions of chain {chain} not sent: it would revert as a whole"
        );
        self.refresh().await?;
        if !self.lanes[lane].is_owner {
            return Ok(Dispatched::LaneBacksOff);
        }
        if let [member] = &*draft.members
            && !self.packer.suspicions.grace_elapsed(member.transaction_id, self.leadership.times.grace)
        {
            return Ok(Dispatched::Deferred);
        }
        self.split(draft).await?;
        Ok(Dispatched::Split)
    }

    /// Puts a draft that would revert as a whole back in two halves; alone, the transaction has failed.
    async fn split(&mut self, draft: &Draft) -> Result<(), RelayError> {
        let Leadership { relay, lease } = self.leadership;
        let ids: Vec<_> = draft.members.iter().map(|member| (member.artist_id, member.transaction_id)).collect();
        let (rows, now) = (relay.transactions.get_many(&ids).await?, relay.now()?);
        let max_batch_len = rows.len() / 2;
        for row in rows {
            if max_batch_len == 0 {
                let reason = "The account can't be used: the service doesn't control it any more";
                let ending = Ending::given_up(&row, reason);
                self.report.ended += usize::from(relay.transactions.give_up(lease, &row, &ending, now).await?);
            } else {
                let halved = Requeue { max_batch_len: Some(max_batch_len), ..Requeue::default() };
                relay.transactions.requeue(&row, halved, now).await?;
            }
        }
        Ok(())
    }
}

fn back_off(lane: &mut Lane<'_>, error: &(dyn std::error::Error + Send + Sync)) -> Dispatched {
    let address = lane.address;
    tracing::error!(lane = %address, error = telemetry::chain(error), "batch not signed by the key of lane {address}");
    lane.back_off();
    Dispatched::LaneBacksOff
}
