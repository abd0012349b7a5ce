//! A batch before it is packed: which transactions it takes, in the queue's order.

use std::collections::{HashMap, HashSet};

use alloy::primitives::{Address, U256};
use shared::{
    chain::{
        protocol::publishing::expected_token,
        transaction::{Load, MAX_TRANSACTION_BYTES, MAX_TRANSACTION_GAS, Operation},
    },
    model::{self, ArtistId, ConcurrencyKey, TransactionId},
    store::artist::{Member, Queued, Transaction},
};

/// Transactions for a batch, in packed order.
#[derive(Default)]
pub(crate) struct Draft {
    pub(crate) members: Vec<Member>,
    pub(crate) operations: Vec<Operation>,
    /// Whether the next one in the queue didn't fit.
    pub(crate) is_full: bool,
    /// Transactions that are over.
    pub(crate) dropped: Vec<TransactionId>,
    /// Ids of the next tokens, after those that the batch creates.
    pub(crate) next_tokens: HashMap<model::Address, U256>,
    /// Accounts that the batch deploys.
    pub(crate) deploying: HashSet<Address>,
    /// Splits that the batch creates.
    pub(crate) splits: HashSet<Address>,
    /// Moments whose sales the batch changes.
    pub(crate) sales: HashSet<ConcurrencyKey>,
    load: Load,
    /// Most members, after one of them was in a batch that reverted as a whole.
    max_len: Option<usize>,
    /// Keys of the tokens that artists create.
    creators: HashMap<ArtistId, ConcurrencyKey>,
    /// Artists and moments whose further transactions wait.
    held_artists: HashSet<ArtistId>,
    held_keys: HashSet<ConcurrencyKey>,
}

/// What to do about the next transaction in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// It is over: take it from the queue.
    Forget,
    /// It waits, and keeps back those whose order it keeps.
    Hold,
    /// The batch takes no more.
    Stop,
    /// Make its operations.
    Prepare,
}

/// Whether a transaction's operations fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    Added,
    NextBatch,
    /// It fits into no batch.
    TooLarge,
}

impl Draft {
    /// Decides about the next transaction in the queue, given the keys of open batches.
    pub(crate) fn next_step(&self, queued: &Queued, row: Option<&Transaction>, busy: &HashSet<ConcurrencyKey>) -> Step {
        let Some(row) = row.filter(|row| !row.status.is_final()) else { return Step::Forget };
        let key = row.plan.concurrency_key();
        // A queue may name a transaction twice: it is done once.
        let is_held = self.members.iter().any(|member| member.transaction_id == row.id)
            || self.held_artists.contains(&row.artist_id)
            || key.is_some_and(|key| busy.contains(&key) || self.held_keys.contains(&key));
        // If another token comes between, what followed in the same batch would be done before it.
        let follows_creation = self.creators.get(&row.artist_id).is_some_and(|created| key != Some(*created));
        if is_held || follows_creation {
            Step::Hold
        } else if self.max_len_with(queued).is_some_and(|max| self.members.len() >= max) {
            Step::Stop
        } else {
            Step::Prepare
        }
    }

    /// Whether a transaction waits because its artist's earlier one does, whatever it is. It keeps its order, too.
    pub(crate) fn keeps_back(&mut self, queued: &Queued) -> bool {
        let is_held = self.held_artists.contains(&queued.artist_id);
        if is_held {
            self.held_keys.extend(queued.concurrency_key.filter(|key| key.keeps_order()));
        }
        is_held
    }

    /// Keeps a transaction back, with its artist's later ones and those whose order it keeps.
    pub(crate) fn hold(&mut self, row: &Transaction) {
        self.held_artists.insert(row.artist_id);
        self.held_keys.extend(row.plan.concurrency_key().filter(|key| key.keeps_order()));
    }

    /// Adds a transaction, if there is room.
    pub(crate) fn add(&mut self, queued: &Queued, row: &Transaction, operations: Vec<Operation>) -> Fit {
        let load = operations.iter().fold(self.load, |load, operation| load.with(operation));
        if !load.fits(MAX_TRANSACTION_GAS, MAX_TRANSACTION_BYTES) {
            return if self.members.is_empty() { Fit::TooLarge } else { Fit::NextBatch };
        }
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
        (self.load, self.max_len) = (load, self.max_len_with(queued));
        Fit::Added
    }

    /// Its transactions with their operations, without those that can't go and those that rest on them: their artists'
    /// later ones, and later ones with the same key or with tokens in the same collection.
    pub(crate) fn without(self, lost: impl Fn(TransactionId) -> bool) -> (Vec<Member>, Vec<Operation>) {
        let (mut artists, mut keys, mut collections) = (HashSet::new(), HashSet::new(), HashSet::new());
        let (mut members, mut operations, mut packed) = (Vec::new(), Vec::new(), self.operations.into_iter());
        for member in self.members {
            let own: Vec<_> = packed.by_ref().take(1 + usize::from(member.deploys)).collect();
            let creates = own.last().and_then(|operation| expected_token(&operation.calls()));
            let collection = creates.map(|(collection, _)| collection);
            let rests_on_lost = artists.contains(&member.artist_id)
                || member.concurrency_key.is_some_and(|key| keys.contains(&key))
                || collection.is_some_and(|collection| collections.contains(&collection));
            if rests_on_lost || lost(member.transaction_id) {
                artists.insert(member.artist_id);
                keys.extend(member.concurrency_key);
                collections.extend(collection);
            } else {
                members.push(member);
                operations.extend(own);
            }
        }
        (members, operations)
    }

    fn max_len_with(&self, queued: &Queued) -> Option<usize> {
        queued.max_batch_len.into_iter().chain(self.max_len).min()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::{
        collection::vec,
        prelude::{any, prop_assert, proptest},
    };
    use shared::{
        model::{ChainId, Creation, MomentEdit, MomentUpdate, Plan, SaleEdit, TransactionStatus, WriteKind},
        store::artist::{Charge, Pool},
    };

    use super::*;

    const COLLECTION: Address = Address::repeat_byte(1);

    /// A call, or an update of one of three moments.
    fn plan(kind: u8, moment: u8) -> Plan {
        let edit = match kind % 3 {
            0 => return Plan::Calls { calls: Vec::new() },
            1 => MomentEdit::Sale(SaleEdit::default()),
            _ => MomentEdit::GrantAdmin(COLLECTION.into()),
        };
        Plan::Moment(MomentUpdate { collection: COLLECTION.into(), token: U256::from(moment % 3).into(), edit })
    }

    fn row(artist_id: ArtistId, plan: Plan) -> Transaction {
        Transaction {
            id: TransactionId::new(),
            artist_id,
            key: None,
            replay: None,
            chain: ChainId(8453),
            account: COLLECTION.into(),
            is_deployed: true,
            plan: plan.into(),
            kind: WriteKind::Plain,
            gas: 100_000,
            creation: Creation::Nothing,
            status: TransactionStatus::Queued,
            place: String::new(),
            charge: Charge { wei: 0, day: 0, pool: Pool::Established, shard: 0 },
            outlay: None,
            attempts: 0,
            attempts_wei: 0,
            tries: BTreeMap::new(),
            last_attempt: None,
            last_attempt_wei: 0,
            batch: None,
            hashes: Vec::new(),
            mined: None,
            reason: None,
            valid_until: None,
            result: serde_json::Map::new(),
            created_at: 0,
            updated_at: 0,
            expires_at: 0,
        }
    }

    fn queued(row: &Transaction) -> Queued {
        Queued {
            kind: row.kind,
            place: String::new(),
            artist_id: row.artist_id,
            transaction_id: row.id,
            concurrency_key: row.plan.concurrency_key(),
            valid_until: None,
            max_batch_len: None,
            not_before: None,
            plan_hash: String::new(),
        }
    }

    #[test]
    fn what_rests_on_a_lost_transaction_goes_with_it() {
        let artists = [ArtistId::random(), ArtistId::random(), ArtistId::random()];
        let wishes = [(0, plan(2, 0)), (1, plan(2, 0)), (0, plan(2, 1)), (1, plan(0, 0)), (2, plan(2, 2))];
        let rows = wishes.map(|(artist, plan)| row(artists[artist], plan));
        let mut draft = Draft::default();
        for (row, gas) in rows.iter().zip(1..) {
            let operation = Operation::new(COLLECTION, &[], gas, false);
            assert_eq!(draft.add(&queued(row), row, vec![operation.clone(), operation]), Fit::Added);
        }

        let (members, operations) = draft.without(|id| id == rows[0].id);

        assert_eq!(members.iter().map(|member| member.transaction_id).collect::<Vec<_>>(), [rows[4].id]);
        assert_eq!(operations.iter().map(|operation| operation.gas).collect::<Vec<_>>(), [5, 5]);
    }

    proptest! {
        /// Transactions of three artists, some of which can't be prepared now, while some moments are in open batches.
        #[test]
        fn transactions_of_an_artist_or_a_moment_never_overtake_one_that_waits(
            queue in vec((0..3_usize, any::<u8>(), any::<u8>(), 0..4_u8), 0..20),
            busy in vec(0..3_u8, 0..2),
        ) {
            let artists = [ArtistId::random(), ArtistId::random(), ArtistId::random()];
            let busy: HashSet<_> = busy.into_iter().filter_map(|moment| plan(1, moment).concurrency_key()).collect();
            let mut draft = Draft::default();
            let mut waiting: Vec<Transaction> = Vec::new();
            for (artist, kind, moment, is_ready) in queue {
                let row = row(artists[artist], plan(kind, moment));
                let queued = queued(&row);
                let is_prepared = draft.next_step(&queued, Some(&row), &busy) == Step::Prepare && is_ready > 0;
                if !is_prepared {
                    draft.hold(&row);
                    waiting.push(row);
                    continue;
                }
                let key = row.plan.concurrency_key();
                prop_assert!(key.is_none_or(|key| !busy.contains(&key)));
                for earlier in &waiting {
                    prop_assert!(earlier.artist_id != row.artist_id);
                    prop_assert!(key.is_none() || earlier.plan.concurrency_key() != key);
                }
                let operation = Operation::new(COLLECTION, &[], row.gas, false);
                prop_assert!(draft.add(&queued, &row, vec![operation]) == Fit::Added);
            }
        }
    }
}
