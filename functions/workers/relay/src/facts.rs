//! What transactions depend on. It is read as of the newest block, beside the leader's turns: one that fails or is late
//! holds nobody up but those that need it.

use std::{
    collections::{HashMap, HashSet},
    iter,
    sync::Arc,
    time::{Duration, Instant},
};

use alloy::primitives::{Address, B256};
use futures::{
    FutureExt, StreamExt,
    channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded},
};
use shared::{
    chain::{
        node::BlockFacts,
        protocol::{binding::Binding, provenance::Origin, splits},
        transaction::collections,
    },
    model::{self, ConcurrencyKey, Plan},
    store::artist::Transaction,
    telemetry::{self, trace},
};
use tokio::task::JoinSet;

use crate::{
    chain::ChainRelay,
    draft::Draft,
    lane::Lane,
    reading::{Answer, Asked, Question, Reader, Told},
};

/// How often an answer may come too late for its block: then it is used all the same.
const MOST_LATE: u32 = 3;

/// How long such an answer is used.
const OVERDUE: Duration = Duration::from_secs(60);

/// The same of a moment: what others change there meanwhile would be undone.
const OVERDUE_MOMENT: Duration = Duration::from_secs(5);

/// Readings of a draft that wait for each other: who made a collection is asked once it is known which ones are new.
const ROUNDS: usize = 2;

/// What is known of the chain. Answers count as of the newest block and, but for moments, the one before.
pub(crate) struct Facts {
    reader: Arc<Reader>,
    /// They end with the leader.
    tasks: JoinSet<()>,
    sender: UnboundedSender<Told>,
    receiver: UnboundedReceiver<Told>,
    known: HashMap<(Question, B256), Answer>,
    /// What is being read, as of which block.
    under_way: HashMap<Question, B256>,
    /// How often answers came too late since one was in time.
    late: HashMap<Question, u32>,
    /// Blocks of answers that are used although they are late, and since when.
    overdue: HashMap<Question, (B256, Instant)>,
    /// The block as of which the last reading failed: other nodes may not have it.
    doubted: Option<B256>,
    /// Accounts that the chain has.
    deployed: HashSet<Address>,
    /// Collections that a factory made, or only it can make.
    genuine: HashSet<Address>,
    turn: Turn,
}

/// What a turn of the leader knows and may still do.
#[derive(Default)]
struct Turn {
    is_head_read: bool,
    newest: Option<BlockFacts>,
    /// What isn't asked again before the next one.
    failed: HashSet<Question>,
    /// How long it may still wait for answers.
    patience: Duration,
}

impl Facts {
    pub(crate) fn new(relay: &ChainRelay) -> Self {
        let (sender, receiver) = unbounded();
        Self {
            reader: Arc::new(Reader::new(relay)),
            tasks: JoinSet::new(),
            sender,
            receiver,
            known: HashMap::new(),
            under_way: HashMap::new(),
            late: HashMap::new(),
            overdue: HashMap::new(),
            doubted: None,
            deployed: HashSet::new(),
            genuine: HashSet::new(),
            turn: Turn::default(),
        }
    }

    /// Begins a turn, which waits at most so long for answers, all in all.
    pub(crate) fn begin_turn(&mut self, patience: Duration) {
        self.turn = Turn { patience, ..Turn::default() };
        self.known.retain(|_, answer| !answer.is_doubtful());
    }

    /// Reads what these transactions depend on and isn't known, as far as the turn has patience. One call a turn, one
    /// for what contracts say, and some for each account, lane and collection that is new.
    pub(crate) async fn read(&mut self, rows: &[&Transaction], lanes: &[Lane<'_>]) {
        for row in rows.iter().filter(|row| row.attempts > 0) {
            // It may have lacked its account: a reorganisation can drop the deployment.
            self.deployed.remove(&Address::from(row.account));
        }
        if rows.iter().all(|row| self.questions(row).is_empty()) {
            return;
        }
        self.look().await;
        for _ in 0..ROUNDS {
            let missing: Vec<_> = rows.iter().flat_map(|row| self.missing(row, lanes)).collect();
            if missing.is_empty() {
                return;
            }
            self.ask(missing).await;
        }
    }

    /// What a transaction's plan depends on; `None` while that isn't known, or while the block in which it was read
    /// lacks an earlier batch with the same key: the node lags, or the chain has dropped the batch's block.
    pub(crate) fn binding(&self, row: &Transaction, lanes: &[Lane<'_>]) -> Option<Binding> {
        let Some(question) = Question::of_plan(row) else { return Some(Binding::Nothing) };
        let key = row.plan.concurrency_key()?;
        self.blocks(question).find_map(|block| match self.known.get(&(question, block))? {
            Answer::Binding(binding, nonces) => {
                let has = |(lane, nonce): (model::Address, u64)| {
                    nonces.iter().any(|(known, next)| *known == lane && *next > nonce)
                };
                earlier(lanes, key).all(has).then_some(**binding)
            }
            _ => None,
        })
    }

    /// Address of the split that a transaction would create, and whether it is there.
    pub(crate) fn split(&self, row: &Transaction) -> Option<(Address, bool)> {
        match self.answer(Question::Split(row.id))? {
            Answer::Split(address, is_there) => Some((*address, *is_there)),
            _ => None,
        }
    }

    /// Whether the chain has a transaction's account.
    pub(crate) fn has_account(&self, row: &Transaction) -> Option<bool> {
        if self.is_deployed(row) {
            return Some(true);
        }
        match self.answer(Question::Account(row.account.into()))? {
            Answer::Account(has_account) => Some(*has_account),
            _ => None,
        }
    }

    /// Whether a factory made a collection, or only it can make it.
    pub(crate) fn is_genuine(&self, collection: Address) -> bool {
        self.genuine.contains(&collection)
    }

    /// Whether no factory made a collection.
    pub(crate) fn is_stranger(&self, collection: Address) -> bool {
        matches!(self.answer(Question::Origin(collection)), Some(Answer::Origin(Origin::Stranger)))
    }

    /// Forgets what a draft changes, which is about to be sent.
    pub(crate) fn forget(&mut self, draft: &Draft) {
        let mut keys: HashSet<_> = draft.members.iter().filter_map(|member| member.concurrency_key).collect();
        keys.extend(draft.next_tokens.keys().map(|collection| ConcurrencyKey::NextToken(*collection)));
        let is_kept = |question: &Question| match *question {
            Question::NextToken(collection) => !keys.contains(&ConcurrencyKey::NextToken(collection)),
            Question::Moment { key, next, .. } => {
                let next = next.map(ConcurrencyKey::NextToken);
                !keys.contains(&key) && next.is_none_or(|next| !keys.contains(&next))
            }
            Question::Split(_) => draft.splits.is_empty(),
            Question::Account(account) => !draft.deploying.contains(&account),
            Question::Made(_) | Question::Origin(_) => true,
        };
        self.known.retain(|(question, _), _| is_kept(question));
        self.under_way.retain(|question, _| is_kept(question));
        self.overdue.retain(|question, _| is_kept(question));
    }

    /// Finds the newest block, once a turn, and takes up what was found since. The calls of [`Reader::head`] at most.
    async fn look(&mut self) {
        if !self.turn.is_head_read {
            self.turn.is_head_read = true;
            match self.reader.head(self.doubted).await {
                Ok(head) => self.turn.newest = Some(head),
                Err(error) => self.warn("newest block", &error),
            }
        }
        let Some(newest) = self.turn.newest else { return };
        while self.tasks.try_join_next().is_some() {}
        while let Some(Some(told)) = self.receiver.next().now_or_never() {
            self.note(told);
        }
        if self.tasks.is_empty() {
            // No task is left to tell them.
            self.under_way.clear();
        }
        self.overdue.retain(|question, (_, since)| {
            since.elapsed() < if question.is_of_moment() { OVERDUE_MOMENT } else { OVERDUE }
        });
        let mut kept = HashSet::from([newest.hash, newest.parent]);
        kept.extend(self.under_way.values());
        kept.extend(self.overdue.values().map(|(block, _)| *block));
        self.known.retain(|(_, block), _| kept.contains(block));
    }

    /// Asks, and waits for these answers as long as the turn has patience.
    async fn ask(&mut self, asked: Vec<Asked>) {
        let Some(newest) = self.turn.newest else { return };
        let mut awaited = HashSet::new();
        let asked: Vec<_> = asked.into_iter().filter(|asked| awaited.insert(asked.question)).collect();
        for question in &awaited {
            self.overdue.remove(question);
            self.under_way.insert(*question, newest.hash);
        }
        let reading = Arc::clone(&self.reader).read(newest.hash, asked, self.sender.clone());
        self.tasks.spawn(trace::carried(reading));
        let (since, patience) = (Instant::now(), self.turn.patience);
        let answers = async {
            while !awaited.is_empty() {
                let Some(told) = self.receiver.next().await else { return };
                awaited.remove(&told.question);
                self.note(told);
            }
        };
        // What comes later is taken up in another turn.
        let _ = tokio::time::timeout(patience, answers).await;
        self.turn.patience = patience.saturating_sub(since.elapsed());
    }

    fn note(&mut self, told: Told) {
        let Told { question, block, answer } = told;
        if self.under_way.get(&question) != Some(&block) {
            // A batch has changed it since.
            return;
        }
        self.under_way.remove(&question);
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                if self.turn.failed.is_empty() {
                    self.warn("fact", &error);
                }
                self.turn.failed.insert(question);
                self.doubted = Some(block);
                return;
            }
        };
        match (question, &answer) {
            (Question::Account(account), Answer::Account(true)) => self.deployed.extend([account]),
            (Question::Origin(collection), Answer::Origin(Origin::Factory)) => self.genuine.extend([collection]),
            (_, Answer::Made(made)) => self.genuine.extend(made),
            _ => {}
        }
        let is_in_time = self.current(question).any(|current| current == block);
        if is_in_time {
            self.late.remove(&question);
        } else {
            let late = self.late.entry(question).or_default();
            *late += 1;
            if *late < MOST_LATE {
                return;
            }
            self.overdue.insert(question, (block, Instant::now()));
        }
        self.known.insert((question, block), answer);
    }

    fn warn(&self, what: &str, error: &(dyn std::error::Error + Send + Sync)) {
        let chain = self.reader.chain.id;
        tracing::warn!(
            chain.id = chain.0,
            error = telemetry::chain(error),
            "{what} of chain {chain} not read that transactions wait for"
        );
    }

    /// What a transaction depends on, apart from what stays known for good.
    fn questions(&self, row: &Transaction) -> Vec<Question> {
        let (chain, account) = (&self.reader.chain, Address::from(row.account));
        let calls = row.plan.outline(&chain.addresses);
        let mut questions = Vec::from_iter(Question::of_plan(row));
        questions.extend((!self.is_deployed(row)).then_some(Question::Account(account)));
        let creation = splits::creation(chain.addresses.split_factory, &calls);
        questions.extend(creation.map(|_| Question::Split(row.id)));
        let named = collections(chain, account, &calls);
        let unknown: Vec<_> = named.into_iter().filter(|collection| !self.genuine.contains(collection)).collect();
        if !unknown.is_empty() {
            let makes = calls.iter().any(|call| call.target == chain.addresses.factory);
            let made = Question::Made(row.id);
            questions.extend(makes.then_some(made));
            if !makes || self.answer(made).is_some() {
                questions.extend(unknown.into_iter().map(Question::Origin));
            }
        }
        questions
    }

    /// Those of them that nobody asks and that no answer serves.
    fn missing(&self, row: &Transaction, lanes: &[Lane<'_>]) -> Vec<Asked> {
        let Some(newest) = self.turn.newest else { return Vec::new() };
        let is_open = |question: &Question| {
            let is_asked = self.under_way.contains_key(question) || self.turn.failed.contains(question);
            !is_asked && !self.known.contains_key(&(*question, newest.hash))
        };
        let is_missing = |question: &Question| match question {
            Question::NextToken(_) | Question::Moment { .. } => self.binding(row, lanes).is_none(),
            _ => self.answer(*question).is_none(),
        };
        let questions = self.questions(row).into_iter().filter(|question| is_open(question) && is_missing(question));
        let key = row.plan.concurrency_key().into_iter();
        let lanes: Vec<_> = key.flat_map(|key| earlier(lanes, key)).collect();
        let asked = |question| Asked {
            question,
            account: row.account.into(),
            plan: Plan::clone(&row.plan),
            lanes: lanes.clone(),
        };
        questions.map(asked).collect()
    }

    fn answer(&self, question: Question) -> Option<&Answer> {
        self.blocks(question).find_map(|block| self.known.get(&(question, block)))
    }

    /// Blocks as of which an answer counts, the newest one first.
    fn blocks(&self, question: Question) -> impl Iterator<Item = B256> {
        self.current(question).chain(self.overdue.get(&question).map(|(block, _)| *block))
    }

    /// Those of them as of which it is in time.
    fn current(&self, question: Question) -> impl Iterator<Item = B256> {
        self.turn.newest.into_iter().flat_map(move |newest| {
            // What others changed of a moment in the newest block would be undone.
            let parent = (!question.is_of_moment()).then_some(newest.parent);
            iter::once(newest.hash).chain(parent)
        })
    }

    fn is_deployed(&self, row: &Transaction) -> bool {
        row.attempts == 0 && (row.is_deployed || self.deployed.contains(&Address::from(row.account)))
    }
}

/// Lanes with batches of this key in blocks that aren't final, with the newest one's nonce.
fn earlier(lanes: &[Lane<'_>], key: ConcurrencyKey) -> impl Iterator<Item = (model::Address, u64)> {
    lanes.iter().filter_map(move |lane| Some((lane.address, lane.newest_with(key)?)))
}
