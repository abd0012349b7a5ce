//! Choosing what goes into a batch, and packing it.

use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant},
};

use alloy::primitives::{Address, U256};
use futures::future::try_join_all;
use shared::{
    chain::{
        node::NodeFault,
        protocol::{
            binding::{BindError, Binding},
            splits,
        },
        transaction::{Load, MAX_TRANSACTION_BYTES, MAX_TRANSACTION_GAS, Operation, Packed, pack, refusal},
        wallet::EmbeddedWallet,
    },
    model::{ArtistId, ConcurrencyKey, Fees, MomentEdit, MomentUpdate, Plan, TransactionId},
    store::artist::{Ending, Member, Queued, Transaction},
    telemetry,
};

use crate::{
    RelayError, Report,
    fleet::under_way,
    leader::{Leader, if_node},
    outcome::failed,
};

/// Transactions whose rows are read together.
const CHUNK: usize = 60;

/// Time for which nodes must say that a transaction would revert before it is told so without having been sent.
const DOUBT: Duration = Duration::from_secs(6);

/// What became of a draft.
pub(crate) enum Dispatched {
    Sent,
    /// The lane can't send anything now; others may.
    LaneRests,
    /// Its transactions are back in the queue, for smaller batches.
    Split,
    /// Its only transaction waits for nodes to be of one mind.
    Doubted,
}

/// Transactions for a batch, in packed order.
#[derive(Default)]
pub(crate) struct Draft {
    pub(crate) members: Vec<Member>,
    pub(crate) operations: Vec<Operation>,
    /// Whether the next one in the queue didn't fit.
    pub(crate) is_full: bool,
    /// Those that ended here.
    pub(crate) dropped: Vec<TransactionId>,
    load: Load,
    /// Most members, as those say that were in a batch which reverted as a whole.
    company: Option<usize>,
    next_tokens: HashMap<shared::model::Address, U256>,
    deploying: HashSet<Address>,
    splits: HashSet<Address>,
    /// Keys of the tokens that artists create.
    creators: HashMap<ArtistId, ConcurrencyKey>,
    /// Moments whose sales are merged with the chain's.
    sales: HashSet<ConcurrencyKey>,
    /// Artists and moments whose further transactions wait.
    held_artists: HashSet<ArtistId>,
    held_keys: HashSet<ConcurrencyKey>,
}

/// What the batch has to do for a transaction.
enum Work {
    Operations(Vec<Operation>),
    /// Nothing before another batch is done.
    Later,
    /// Nothing: it mustn't, or can't any more.
    Never(String),
    /// Nothing as long as nodes say this.
    Doubtful(&'static str),
}

impl Leader<'_> {
    /// Drafts a batch of what is waiting, in the queue's order. Whoever has one that can't go now keeps the later ones back,
    /// too, so that each artist's order holds.
    pub(crate) async fn draft(
        &mut self,
        waiting: &[&Queued],
        now: u64,
        report: &mut Report,
    ) -> Result<Draft, RelayError> {
        let busy: HashSet<_> = under_way(&self.lanes).filter_map(|member| member.concurrency_key).collect();
        let mut draft = Draft::default();
        for queued in waiting.chunks(CHUNK) {
            let ids: Vec<_> = queued.iter().map(|queued| (queued.artist_id, queued.transaction_id)).collect();
            let rows = self.relay.transactions.get_many(&ids).await?;
            let rows: HashMap<_, _> = rows.into_iter().map(|row| (row.id, row)).collect();
            self.find_accounts(rows.values()).await?;
            for queued in queued {
                let Some(row) = rows.get(&queued.transaction_id) else {
                    self.forget(queued, &mut draft).await?;
                    continue;
                };
                if row.status.is_final() {
                    self.forget(queued, &mut draft).await?;
                    continue;
                }
                if draft.holds(row) || queued.concurrency_key.is_some_and(|key| busy.contains(&key)) {
                    draft.hold(row);
                    continue;
                }
                // If another token comes between, what followed in the same batch would be done before it.
                let creates = draft.creators.get(&row.artist_id);
                if creates.is_some_and(|key| row.plan.concurrency_key() != Some(*key)) {
                    draft.hold(row);
                    continue;
                }
                let company = queued.company.into_iter().chain(draft.company).min();
                if company.is_some_and(|most| draft.members.len() >= most) {
                    draft.is_full = true;
                    return Ok(draft);
                }
                match self.work(row, &mut draft).await? {
                    Work::Operations(operations) => {
                        let load = operations.iter().fold(draft.load, |load, operation| load.with(operation));
                        if !load.fits(MAX_TRANSACTION_GAS, MAX_TRANSACTION_BYTES) {
                            if draft.members.is_empty() {
                                self.fail(
                                    row,
                                    "It is too large for one transaction of the chain",
                                    now,
                                    &mut draft,
                                    report,
                                )
                                .await?;
                                continue;
                            }
                            draft.is_full = true;
                            return Ok(draft);
                        }
                        draft.add(row, operations, load, company);
                    }
                    Work::Doubtful(reason) if self.is_certain(row.id) => {
                        self.fail(row, reason, now, &mut draft, report).await?;
                    }
                    Work::Never(reason) => self.fail(row, &reason, now, &mut draft, report).await?,
                    Work::Later | Work::Doubtful(_) => draft.hold(row),
                }
            }
        }
        Ok(draft)
    }

    /// Packs, tries, signs and sends a draft with a lane.
    pub(crate) async fn dispatch(
        &mut self,
        lane: usize,
        draft: Draft,
        fees: Fees,
        now: u64,
        report: &mut Report,
    ) -> Result<Dispatched, RelayError> {
        let (relay, lease) = (self.relay, self.lease);
        let (safe, address) = (relay.operator.safe, self.lanes[lane].address.into());
        let packed = pack(safe, address, &draft.operations);
        let cost = U256::from(packed.gas_limit) * U256::from(fees.max_fee_per_gas);
        if self.lanes[lane].spendable() < cost {
            tracing::warn!(chain.id = relay.chain.id.0, lane = %address, "the lane can't pay for a batch");
            self.lanes[lane].rest();
            return Ok(Dispatched::LaneRests);
        }
        let refused = refusal(&relay.node, address, &packed).await?;
        let alone = Some(&draft.members).filter(|members| members.len() == 1).map(|members| members[0].transaction_id);
        let is_disputed = refused.is_some() && alone.is_some() && self.another_admits(address, &packed).await;
        if let Some(reason) = refused.filter(|_| !is_disputed) {
            tracing::warn!(
                chain.id = relay.chain.id.0,
                members = draft.members.len(),
                reason,
                "a batch would revert as a whole"
            );
            self.look().await?;
            if !self.lanes[lane].is_owner {
                return Ok(Dispatched::LaneRests);
            }
            if alone.is_some_and(|id| !self.is_certain(id)) {
                return Ok(Dispatched::Doubted);
            }
            self.split(&draft, now, report).await?;
            return Ok(Dispatched::Split);
        }
        self.doubts.retain(|id, _| draft.members.iter().all(|member| member.transaction_id != *id));
        let lane = &mut self.lanes[lane];
        match relay.submit(lease, lane, &packed, draft.members, fees, now).await {
            Ok(()) => lane.is_well(),
            Err(RelayError::Signer(error)) => return Ok(rest(lane, &error)),
            Err(RelayError::Signature(error)) => return Ok(rest(lane, &error)),
            Err(error) => return Err(error),
        }
        report.signatures += 1;
        report.batches += 1;
        if let Some(tracked) = lane.open.last_mut() {
            report.transactions += tracked.batch.members.len();
            if let Some((NodeFault::InsufficientFunds, _)) = relay.send(tracked).await {
                lane.rest();
                return Ok(Dispatched::Sent);
            }
            if tracked.is_taken {
                relay.mark_sent(tracked, now).await?;
            }
        }
        Ok(Dispatched::Sent)
    }

    /// Puts a draft that would revert as a whole back in two halves; alone, the transaction has failed.
    async fn split(&mut self, draft: &Draft, now: u64, report: &mut Report) -> Result<(), RelayError> {
        let ids: Vec<_> = draft.members.iter().map(|member| (member.artist_id, member.transaction_id)).collect();
        let rows = self.relay.transactions.get_many(&ids).await?;
        let company = rows.len() / 2;
        for row in rows {
            if company == 0 {
                let ending = failed("The account can't be used: the service doesn't control it any more");
                report.ended += usize::from(self.relay.transactions.give_up(self.lease, &row, &ending, now).await?);
            } else {
                self.relay.transactions.requeue(&row, Some(company), now).await?;
            }
        }
        Ok(())
    }

    /// Whether any of several nodes would take the transaction. One call each.
    async fn another_admits(&self, lane: Address, packed: &Packed) -> bool {
        for node in self.relay.node.each() {
            if let Ok(None) = refusal(&node, lane, packed).await {
                return true;
            }
        }
        false
    }

    /// Whether nodes have said for long enough that a transaction would revert: one that lags may be wrong.
    fn is_certain(&mut self, id: TransactionId) -> bool {
        let now = Instant::now();
        let (since, tried) = self.doubts.entry(id).or_insert((now, now));
        *tried = now;
        since.elapsed() >= DOUBT
    }

    async fn work(&self, row: &Transaction, draft: &mut Draft) -> Result<Work, RelayError> {
        let relay = self.relay;
        let wallet = EmbeddedWallet::new(relay.operator.safe, row.artist_id);
        let (account, addresses) = (wallet.address(), &relay.chain.addresses);
        if row.account != account.into() {
            return Ok(Work::Never("The account isn't the service's".to_owned()));
        }
        let Some(binding) = self.bind(row, draft).await? else { return Ok(Work::Later) };
        let mut calls = match row.plan.calls(addresses, &binding) {
            Ok(calls) => calls,
            Err(BindError::NoNextToken) => return Ok(Work::Doubtful("The collection is no longer there")),
            Err(BindError::NoSale) => return Ok(Work::Doubtful("The moment's sale is no longer there")),
            Err(error @ BindError::Refused { .. }) => return Ok(Work::Never(error.to_string())),
        };
        if let Some(creation) = splits::creation(addresses.split_factory, &calls) {
            match splits::find(&relay.node, addresses.split_factory, &creation).await? {
                (_, true) if calls.len() == 1 => return Ok(Work::Never(splits::IS_THERE.to_owned())),
                (_, true) => drop(calls.remove(0)),
                // Another one in this batch creates it. If that fails, this one does.
                (split, false) if !draft.splits.insert(split) => return Ok(Work::Later),
                (_, false) => {}
            }
        }
        if let Err(error) = relay.policy.admit_calls(&relay.chain, account, &calls) {
            tracing::error!(artist.id = %row.artist_id, transaction.id = %row.id, error = telemetry::chain(&error), "refused before signing");
            return Ok(Work::Never("The service's policy doesn't allow this call".to_owned()));
        }
        if let (Plan::Tokens(tokens), Binding::NextToken(next_token)) = (&row.plan, binding) {
            let created = U256::from(tokens.moments.len());
            draft.next_tokens.insert(tokens.collection, next_token.saturating_add(created));
        }
        let may_be_first = !self.deployed.contains(&account);
        let operation = Operation::new(account, &calls, row.gas, may_be_first);
        if !operation.passes_guard(relay.operator.safe) {
            return Ok(Work::Never("The service's policy doesn't allow this call".to_owned()));
        }
        if may_be_first && !draft.deploying.contains(&account) {
            return Ok(Work::Operations(vec![Operation::deployment(&relay.operator, &wallet), operation]));
        }
        Ok(Work::Operations(vec![operation]))
    }

    /// Reads what a transaction's plan depends on; `None` while that isn't known. Up to three calls, and one more for each
    /// unfinalized batch with the same moment.
    async fn bind(&self, row: &Transaction, draft: &mut Draft) -> Result<Option<Binding>, RelayError> {
        let (node, addresses) = (&self.relay.node, &self.relay.chain.addresses);
        match &row.plan {
            Plan::Tokens(tokens) => match draft.next_tokens.get(&tokens.collection) {
                Some(next) => Ok(Some(Binding::NextToken(*next))),
                None => Ok(Some(Binding::read(node, addresses, &row.plan, None).await?)),
            },
            Plan::Moment(MomentUpdate { edit: MomentEdit::Sale(_), .. }) => {
                let Some(key) = row.plan.concurrency_key() else { return Ok(None) };
                // Another one in this batch changes the sale; if that fails, this one must not write what it would have.
                if !draft.sales.insert(key) {
                    return Ok(None);
                }
                // Its artist waits for the nodes; the others don't.
                self.bind_sale(row, key).await.or_else(if_node)
            }
            Plan::Calls { .. } | Plan::Moment(_) => Ok(Some(Binding::Nothing)),
        }
    }

    /// Reads the sale as of the newest block; `None` if that block lacks an earlier batch with the same moment, which nodes
    /// that lag or a reorganisation may have taken away.
    async fn bind_sale(&self, row: &Transaction, key: ConcurrencyKey) -> Result<Option<Binding>, RelayError> {
        let node = &self.relay.node;
        let block = node.head().await?.hash;
        for (lane, nonce) in self.lanes.iter().filter_map(|lane| Some((lane.address, lane.newest_with(key)?))) {
            if node.next_nonce(lane.into(), block).await? <= nonce {
                return Ok(None);
            }
        }
        Ok(Some(Binding::read(node, &self.relay.chain.addresses, &row.plan, Some(block)).await?))
    }

    /// Learns which of these transactions' accounts the chain has. At most one call per account.
    async fn find_accounts(&mut self, rows: impl Iterator<Item = &Transaction>) -> Result<(), RelayError> {
        let mut unknown = HashSet::new();
        for row in rows {
            let account = Address::from(row.account);
            // One that was tried may have lacked its account: a reorganisation can drop the deployment.
            if row.attempts > 0 {
                self.deployed.remove(&account);
                unknown.insert(account);
            } else if row.is_deployed {
                self.deployed.insert(account);
            } else if !self.deployed.contains(&account) {
                unknown.insert(account);
            }
        }
        let node = &self.relay.node;
        let found = try_join_all(
            unknown
                .into_iter()
                .map(|account| async move { Ok::<_, RelayError>(node.has_code(account).await?.then_some(account)) }),
        );
        self.deployed.extend(found.await?.into_iter().flatten());
        Ok(())
    }

    /// Takes what is over from the queue.
    async fn forget(&self, queued: &Queued, draft: &mut Draft) -> Result<(), RelayError> {
        self.relay.transactions.forget(self.relay.chain.id, queued).await?;
        draft.dropped.push(queued.transaction_id);
        Ok(())
    }

    async fn fail(
        &self,
        row: &Transaction,
        reason: &str,
        now: u64,
        draft: &mut Draft,
        report: &mut Report,
    ) -> Result<(), RelayError> {
        let ending: Ending = failed(reason);
        report.ended += usize::from(self.relay.transactions.give_up(self.lease, row, &ending, now).await?);
        draft.dropped.push(row.id);
        Ok(())
    }
}

impl Draft {
    /// Whether an earlier transaction that waits keeps this one back.
    fn holds(&self, row: &Transaction) -> bool {
        let key = row.plan.concurrency_key();
        self.held_artists.contains(&row.artist_id) || key.is_some_and(|key| self.held_keys.contains(&key))
    }

    /// Keeps a transaction back, with its artist's later ones and those whose order it keeps.
    fn hold(&mut self, row: &Transaction) {
        self.held_artists.insert(row.artist_id);
        self.held_keys.extend(row.plan.concurrency_key().filter(|key| key.keeps_order()));
    }

    fn add(&mut self, row: &Transaction, operations: Vec<Operation>, load: Load, company: Option<usize>) {
        let (deploys, concurrency_key) = (operations.len() > 1, row.plan.concurrency_key());
        if deploys {
            self.deploying.insert(row.account.into());
        }
        self.members.push(Member {
            artist_id: row.artist_id,
            transaction_id: row.id,
            account: row.account,
            deploys,
            concurrency_key,
        });
        self.operations.extend(operations);
        let creates = concurrency_key.filter(|key| matches!(key, ConcurrencyKey::NextToken(_)));
        self.creators.extend(creates.map(|key| (row.artist_id, key)));
        (self.load, self.company) = (load, company);
    }
}

fn rest(lane: &mut crate::fleet::Lane<'_>, error: &(dyn std::error::Error + Send + Sync)) -> Dispatched {
    tracing::error!(lane = %lane.address, error = telemetry::chain(error), "the lane didn't sign");
    lane.rest();
    Dispatched::LaneRests
}
