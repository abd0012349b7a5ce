//! Makes drafts: reads what the queue's transactions need, and makes their operations.

use std::collections::{HashMap, HashSet};

use alloy::primitives::U256;
use shared::{
    chain::{
        protocol::{
            binding::{BindError, Binding},
            moving::Movable,
            splits,
        },
        transaction::{Operation, collections, kind_of, payees},
        wallet::EmbeddedWallet,
    },
    model::{ArtistId, Call, MomentEdit, MomentUpdate, Plan},
    store::artist::{Artist, Ending, Queued, Transaction},
    telemetry,
};

use crate::{
    chain::{ChainRelay, Leadership},
    draft::{Draft, Fit, Step},
    error::{RelayError, retry_if_node},
    facts::Facts,
    lane::{Lane, open_members},
    leaving::Departure,
    report::Report,
    suspicion::Suspicions,
};

/// Transactions whose rows are read together.
const CHUNK: usize = 60;

const NOT_ALLOWED: &str = "The service's policy doesn't allow this call";

/// What is known of the chain and of transactions from one draft to the next.
pub(crate) struct Packer {
    /// Transactions that nodes would let revert.
    pub(crate) suspicions: Suspicions,
    pub(crate) facts: Facts,
}

/// What a transaction contributes to a draft.
enum Preparation {
    Operations(Vec<Operation>),
    /// Nothing before another batch is done.
    Later,
    /// Nothing: it mustn't, or can't any more.
    Never(String),
    /// Nothing as long as nodes say this.
    Suspected(String),
    /// Nothing before it is known who made its collections.
    OfUnknownOrigin,
}

impl Packer {
    pub(crate) fn new(relay: &ChainRelay) -> Self {
        Self { suspicions: Suspicions::default(), facts: Facts::new(relay) }
    }

    /// Drafts a batch of waiting transactions, in the queue's order. A transaction that can't go now keeps back its
    /// artist's later ones, and those with the same key if that keeps its order.
    pub(crate) async fn draft(
        &mut self,
        leadership: Leadership<'_>,
        lanes: &[Lane<'_>],
        waiting: &[&Queued],
        report: &mut Report,
    ) -> Result<Draft, RelayError> {
        let busy: HashSet<_> = open_members(lanes).filter_map(|member| member.concurrency_key).collect();
        let mut draft = Draft::default();
        let mut waiting = waiting.iter();
        loop {
            let chunk: Vec<_> = waiting.by_ref().filter(|queued| !draft.keeps_back(queued)).take(CHUNK).collect();
            if chunk.is_empty() {
                return Ok(draft);
            }
            let ids: HashSet<_> = chunk.iter().map(|queued| (queued.artist_id, queued.transaction_id)).collect();
            let rows = leadership.transactions.get_many(&Vec::from_iter(ids)).await?;
            let rows: HashMap<_, _> = rows.into_iter().map(|row| (row.id, row)).collect();
            let ready = chunk.iter().filter_map(|queued| {
                let row = rows.get(&queued.transaction_id);
                row.filter(|_| draft.next_step(queued, row, &busy) == Step::Prepare)
            });
            self.facts.read(&ready.collect::<Vec<_>>(), lanes).await;
            for queued in chunk {
                let row = rows.get(&queued.transaction_id);
                match (draft.next_step(queued, row, &busy), row) {
                    (Step::Stop, _) => {
                        draft.is_full = true;
                        return Ok(draft);
                    }
                    (Step::Hold, Some(row)) => draft.hold(row),
                    (Step::Prepare, Some(row)) => {
                        if self.take(leadership, lanes, queued, row, &mut draft, report).await? == Fit::NextBatch {
                            draft.is_full = true;
                            return Ok(draft);
                        }
                    }
                    (Step::Forget, _) | (_, None) => {
                        leadership.transactions.forget(leadership.chain.id, queued).await?;
                        draft.dropped.push(queued.transaction_id);
                    }
                }
            }
        }
    }

    /// Adds a transaction to the draft, keeps it back or ends it.
    async fn take(
        &mut self,
        leadership: Leadership<'_>,
        lanes: &[Lane<'_>],
        queued: &Queued,
        row: &Transaction,
        draft: &mut Draft,
        report: &mut Report,
    ) -> Result<Fit, RelayError> {
        let reason = match self.prepare(leadership.relay, lanes, queued, row, draft).await? {
            Preparation::Operations(operations) => match draft.add(queued, row, operations) {
                Fit::TooLarge => "It is too large for one transaction of the chain".to_owned(),
                fit => return Ok(fit),
            },
            Preparation::Never(reason) => reason,
            Preparation::Suspected(reason) if self.suspicions.grace_elapsed(row.id, leadership.times.grace) => reason,
            Preparation::OfUnknownOrigin => {
                self.suspicions.pause(row.id);
                draft.hold(row);
                return Ok(Fit::Added);
            }
            Preparation::Later | Preparation::Suspected(_) => {
                draft.hold(row);
                return Ok(Fit::Added);
            }
        };
        let (ending, now) = (Ending::given_up(row, &reason), leadership.now()?);
        report.ended += usize::from(leadership.transactions.give_up(leadership.lease, row, &ending, now).await?);
        draft.dropped.push(row.id);
        Ok(Fit::Added)
    }

    async fn prepare(
        &self,
        relay: &ChainRelay,
        lanes: &[Lane<'_>],
        queued: &Queued,
        row: &Transaction,
        draft: &mut Draft,
    ) -> Result<Preparation, RelayError> {
        if !queued.is_of(row) {
            return Ok(not_allowed(row, "it isn't what was queued"));
        }
        let wallet = EmbeddedWallet::new(relay.operator.safe, row.artist_id);
        let (account, addresses) = (wallet.address(), &relay.chain.addresses);
        if row.account != account.into() {
            return Ok(Preparation::Never("The account isn't the service's".to_owned()));
        }
        let Some(binding) = self.bind(lanes, row, draft) else { return Ok(Preparation::Later) };
        let mut calls = match row.plan.calls(addresses, &binding) {
            Ok(calls) => calls,
            Err(BindError::NoNextToken) => return Ok(suspected("The collection is no longer there")),
            Err(BindError::NoSale) => return Ok(suspected("The moment's sale is no longer there")),
            Err(error @ (BindError::Refused { .. } | BindError::Changed | BindError::SoldOut)) => {
                return Ok(Preparation::Never(error.to_string()));
            }
        };
        if splits::creation(addresses.split_factory, &calls).is_some() {
            match self.facts.split(row) {
                None => return Ok(Preparation::Later),
                Some((_, true)) if calls.len() == 1 => return Ok(Preparation::Never(splits::IS_THERE.to_owned())),
                Some((_, true)) => drop(calls.remove(0)),
                // Another one in this batch creates it. If that fails, this one does.
                Some((split, false)) if !draft.splits.insert(split) => return Ok(Preparation::Later),
                Some((_, false)) => {}
            }
        }
        if let Err(error) = relay.policy.admit_calls(&relay.chain, account, &calls) {
            return Ok(not_allowed(row, &telemetry::chain(&error).to_string()));
        }
        let named = collections(&relay.chain, account, &calls);
        if named.iter().any(|collection| self.facts.is_stranger(*collection)) {
            return Ok(not_allowed(row, "it is about a collection that no known factory made"));
        }
        if !named.iter().all(|collection| self.facts.is_genuine(*collection)) {
            return Ok(Preparation::OfUnknownOrigin);
        }
        let Some(has_account) = self.facts.has_account(row) else { return Ok(Preparation::Later) };
        let artist = Artist { artist_id: row.artist_id, embedded_wallet: row.account };
        if kind_of(&relay.chain, &relay.artists, &artist, &calls).await? != Some(queued.kind) {
            return Ok(not_allowed(row, "it isn't of the kind that its queue is for"));
        }
        if !pays_the_artist_alone(relay, row.artist_id, &calls).await? {
            return Ok(not_allowed(row, "it pays an account that isn't theirs"));
        }
        // Whoever leaves waits for the nodes; the others don't.
        match Departure::of(relay, lanes, row, draft).await.or_else(retry_if_node)? {
            Departure::Allowed => {}
            Departure::Unknown => return Ok(Preparation::Later),
            Departure::Refused(reason) => return Ok(Preparation::Suspected(reason)),
        }
        match (&*row.plan, binding) {
            (Plan::Tokens(tokens), Binding::NextToken(first)) => {
                let next = first.saturating_add(U256::from(tokens.moments.len()));
                draft.next_tokens.insert(tokens.collection, next);
            }
            (Plan::Moving(moving), Binding::Movable(movable)) => {
                draft.next_tokens.insert(moving.to, movable.copy.saturating_add(U256::ONE));
            }
            _ => {}
        }
        let operation = Operation::new(account, &calls, row.gas, !has_account);
        if !operation.passes_guard(relay.operator.safe) {
            return Ok(Preparation::Never(NOT_ALLOWED.to_owned()));
        }
        if !has_account && !draft.deploying.contains(&account) {
            let deployment = Operation::deployment(&relay.operator, &wallet);
            return Ok(Preparation::Operations(vec![deployment, operation]));
        }
        Ok(Preparation::Operations(vec![operation]))
    }

    /// What a transaction's plan depends on; `None` while that isn't known.
    fn bind(&self, lanes: &[Lane<'_>], row: &Transaction, draft: &mut Draft) -> Option<Binding> {
        match &*row.plan {
            Plan::Tokens(tokens) => match draft.next_tokens.get(&tokens.collection) {
                Some(next) => Some(Binding::NextToken(*next)),
                None => self.facts.binding(row, lanes),
            },
            Plan::Moment(MomentUpdate { edit: MomentEdit::Sale(_), .. }) => {
                // Another one in this batch changes the sale; if that fails, this one must not write what it would
                // have.
                let is_first = draft.sales.insert(row.plan.concurrency_key()?);
                if is_first { self.facts.binding(row, lanes) } else { None }
            }
            Plan::Moving(moving) => {
                let key = row.plan.concurrency_key()?;
                // Another one in this batch moves it, or changes what its copy gets.
                if draft.members.iter().any(|member| member.concurrency_key == Some(key)) || !draft.sales.insert(key) {
                    return None;
                }
                Some(match (self.facts.binding(row, lanes)?, draft.next_tokens.get(&moving.to)) {
                    // Others in this batch come to be before.
                    (Binding::Movable(movable), Some(next)) => Binding::Movable(Movable { copy: *next, ..movable }),
                    (found, _) => found,
                })
            }
            Plan::Calls { .. } | Plan::Moment(_) => Some(Binding::Nothing),
        }
    }
}

fn suspected(reason: &str) -> Preparation {
    Preparation::Suspected(reason.to_owned())
}

/// Ends what no endpoint would have queued.
fn not_allowed(row: &Transaction, reason: &str) -> Preparation {
    let (artist, id) = (row.artist_id, row.id);
    tracing::error!(
        artist.id = %artist, transaction.id = %id,
        "transaction {id} of artist {artist} refused before signing: {reason}"
    );
    Preparation::Never(NOT_ALLOWED.to_owned())
}

/// Whether calls send money to nobody but the artist, by their wallets and payout addresses that are old enough: the
/// function that queued them may not be what it was. Two reads per payee.
async fn pays_the_artist_alone(relay: &ChainRelay, artist: ArtistId, calls: &[Call]) -> Result<bool, RelayError> {
    let now = relay.now()?;
    for payee in payees(&relay.chain, calls) {
        let payable_from = relay.payouts.payable_from(artist, payee.into()).await?;
        if payable_from.is_none_or(|from| from > now) {
            return Ok(false);
        }
    }
    Ok(true)
}
