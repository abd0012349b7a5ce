//! Helpers of the tests here.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use alloy::{
    primitives::{Address, B256, U256},
    providers::{Provider, RootProvider, ext::AnvilApi},
    rpc::types::TransactionRequest,
};
use local::{
    cloud::Endpoints,
    patience::{PATIENCE, eventually},
    workshop::Workshop,
};
use relay::{ChainRelay, Report, Times};
use serde_json::json;
use shared::{
    chain::{contracts::safe::Safe, node::Node, transaction::Policy},
    model::{Call, EventData, TransactionId, TransactionStatus},
    store::artist::{Artist, ArtistTable, Batch, BatchReference, Ending, ServiceEvents, Slot, Transaction},
};
use tokio::{runtime::Handle, sync::oneshot, task::JoinHandle};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
    subscriber::{DefaultGuard, set_default},
};
use uuid::Uuid;

pub use crate::common::*;
use crate::{
    common::money::{Spent, lanes_wei, spent},
    proxy::{self, Act, Gate},
};

/// Longer than any test takes.
pub const FOREVER: Duration = Duration::from_secs(3_600);

/// Longest wait for a node that may hang: a relay that waits for it more than a few times doesn't get through.
pub const NODE_TIMEOUT: Duration = Duration::from_secs(30);

/// What tests wait for.
pub const SHORT: Duration = Duration::from_millis(500);

/// Of the relay's waits those that tests wait for are short, and those whose end would change what a test is about never
/// end, however slow the machine is.
pub const TIMES: Times = Times {
    lease: FOREVER,
    fresh: SHORT,
    rebroadcast: SHORT,
    grace: SHORT,
    nonce_grace: SHORT,
    quiet: SHORT,
    affinity: FOREVER,
    proof_patience: FOREVER,
    facts: FOREVER,
    reason: FOREVER,
    reason_patience: FOREVER,
};

/// The ending of a transaction that failed before it was sent.
pub fn unsent_failure() -> Ending {
    Ending {
        status: TransactionStatus::Failed,
        batch: None,
        mined: None,
        hashes: Vec::new(),
        reason: None,
        result: serde_json::Map::new(),
        wei: 0,
        deployed: false,
    }
}

pub fn policy() -> Policy {
    Policy { max_gas: 16_000_000 }
}

/// A relay of its own, as another process would be one.
pub fn relay(workshop: &Workshop, rpc_url: &str) -> Result<ChainRelay, Error> {
    Ok(ChainRelay {
        chain: workshop.chain.clone(),
        node: workshop.node_at(rpc_url)?,
        signers: workshop.signers.clone(),
        policy: policy(),
        operator: workshop.operator,
        transactions: workshop.transactions(),
        artists: workshop.artists(),
        payouts: workshop.payouts(),
        provenance: workshop.provenance(),
        holder: Uuid::new_v4().to_string(),
        times: TIMES,
        window: 4_000,
    })
}

/// A relay with a node that the test disturbs in first place, and the chain's own one in second.
pub async fn relay_behind(
    workshop: &Workshop,
    disturb: impl Fn(&proxy::Request) -> Act + Send + Sync + 'static,
) -> Result<ChainRelay, Error> {
    let first = proxy::start(&workshop.rpc_url, disturb).await?;
    let node = nodes(workshop, &[first, workshop.rpc_url.clone()])?;
    Ok(ChainRelay { node, ..relay(workshop, &workshop.rpc_url)? })
}

/// A relay whose node has no words before the gate is open.
pub async fn silent_relay(workshop: &Workshop) -> Result<(ChainRelay, Gate), Error> {
    let gate = Gate::default();
    let words = gate.clone();
    let url = proxy::start(&workshop.rpc_url, move |request| match &*request.operation {
        "eth_simulateV1" => Act::Wait(words.clone()),
        _ => Act::Forward,
    })
    .await?;
    Ok((relay(workshop, &url)?, gate))
}

/// The chain's nodes at these URLs.
pub fn nodes(workshop: &Workshop, urls: &[String]) -> Result<Node, Error> {
    let urls = json!({ workshop.chain.id.to_string(): urls }).to_string().parse()?;
    Ok(Node::with_timeout(&urls, workshop.chain.id, NODE_TIMEOUT)?)
}

pub async fn run(relay: &ChainRelay) -> Result<Report, Error> {
    Ok(relay.run(Instant::now() + PATIENCE).await?)
}

pub async fn transaction(workshop: &Workshop, artist: &Artist, id: TransactionId) -> Result<Transaction, Error> {
    Ok(workshop.transactions().get(artist.artist_id, id).await?.ok_or("no such transaction")?)
}

/// Where a relay reaches its parts: their own URLs or proxies'.
pub struct Ways {
    pub node: String,
    pub kms: String,
    pub store: String,
}

impl Ways {
    pub fn of(workshop: &Workshop) -> Self {
        let Endpoints { aws, dynamodb } = workshop.endpoints.clone();
        Self { node: workshop.rpc_url.clone(), kms: aws, store: dynamodb }
    }
}

pub async fn relay_over(workshop: &Workshop, ways: &Ways) -> Result<ChainRelay, Error> {
    Ok(ChainRelay {
        signers: workshop.signers_at(&ways.kms).await,
        transactions: workshop.transactions_at(&ways.store).await,
        ..relay(workshop, &ways.node)?
    })
}

/// A relay that runs at the same time as the test.
pub struct Running {
    task: JoinHandle<Result<Option<Report>, Error>>,
    kill: oneshot::Sender<()>,
}

pub fn spawn(relay: ChainRelay) -> Running {
    let ((kill, killed), runtime) = (oneshot::channel::<()>(), Handle::current());
    // Its future can't move between threads.
    let task = tokio::task::spawn_blocking(move || {
        runtime.block_on(async {
            tokio::select! {
                done = run(&relay) => done.map(Some),
                Ok(()) = killed => Ok(None),
            }
        })
    });
    Running { task, kill }
}

impl Running {
    /// Waits until it is done.
    pub async fn done(&mut self) -> Result<Report, Error> {
        Ok((&mut self.task).await??.ok_or("killed")?)
    }

    /// Stops it where it is.
    pub async fn kill(self) -> Result<(), Error> {
        // It may have just ended.
        let _ = self.kill.send(());
        self.task.await?.map(drop)
    }
}

/// Two lanes, some artists, and a collection of which they are admins.
pub async fn stage(name: &str, artists: usize) -> Result<(Workshop, Vec<Artist>, Address), Error> {
    let mut workshop = Workshop::start(name).await?;
    workshop.add_lanes(2).await?;
    let mut people = Vec::new();
    for _ in 0..artists {
        people.push(workshop.artist().await?);
    }
    let collection = workshop.collection(&people).await?;
    Ok((workshop, people, collection))
}

/// Waits until something holds.
pub async fn until(what: &str, holds: impl AsyncFn() -> Result<bool, Error>) -> Result<(), Error> {
    eventually(what, async || Ok(holds().await?.then_some(()))).await
}

/// Waits until a transaction is marked as sent with a version of its batch.
pub async fn until_sent(workshop: &Workshop, artist: &Artist, id: TransactionId) -> Result<Transaction, Error> {
    eventually("sent", async || {
        let row = transaction(workshop, artist, id).await?;
        let batch = if row.status == TransactionStatus::Sent { batch_of(workshop, &row).await? } else { None };
        Ok(batch.filter(|batch| batch.hashes().iter().any(|hash| row.hashes.contains(hash))).map(|_| row))
    })
    .await
}

/// The batch that a transaction names, if it is stored.
pub async fn batch_of(workshop: &Workshop, row: &Transaction) -> Result<Option<Batch>, Error> {
    let batch = row.batch.ok_or("no batch")?;
    let slot = Slot { chain: workshop.chain.id, lane: batch.lane, nonce: batch.nonce };
    Ok(workshop.transactions().batch(&slot).await?)
}

/// Waits until the node has the newest bytes of a transaction's batch: those of a stored batch may still be under way.
pub async fn until_pooled(workshop: &Workshop, row: &Transaction) -> Result<(), Error> {
    let (node, hash) = (workshop.node().await?, *row.hashes.last().ok_or("never sent")?);
    until("in the pool", async || Ok(node.get_transaction_by_hash(hash).await?.is_some())).await
}

/// Waits until a batch is sent again whose block the chain dropped, or whose bytes the node forgot: a block or the pool
/// has its nonce.
pub async fn until_sent_again(workshop: &Workshop, batch: BatchReference) -> Result<(), Error> {
    let node = workshop.node().await?;
    let is_pending = async || Ok(node.get_transaction_count(batch.lane.into()).pending().await? > batch.nonce);
    until("sent again", is_pending).await
}

/// A way to the node that counts the calls of a method.
pub async fn counting(target: &str, method: &'static str) -> Result<(String, Arc<AtomicUsize>), Error> {
    counting_if(target, move |request| request.operation == method).await
}

/// The same for those calls of which this holds.
pub async fn counting_if(
    target: &str,
    is_counted: impl Fn(&proxy::Request) -> bool + Send + Sync + 'static,
) -> Result<(String, Arc<AtomicUsize>), Error> {
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&calls);
    let url = proxy::start(target, move |request| {
        counter.fetch_add(usize::from(is_counted(request)), Relaxed);
        Act::Forward
    })
    .await?;
    Ok((url, calls))
}

/// Whether a call asks contracts for what a function with this selector returns, alone or among other calls.
pub fn asks(selector: [u8; 4]) -> impl Fn(&proxy::Request) -> bool + Send + Sync + 'static {
    let selector = alloy::hex::encode(selector);
    move |request| {
        let input = request.body["params"][0]["input"].as_str();
        request.operation == "eth_call" && input.is_some_and(|input| input.contains(&selector))
    }
}

/// Waits until there are so many more calls.
pub async fn until_more(calls: &AtomicUsize, count: usize) -> Result<(), Error> {
    let before = calls.load(Relaxed);
    until("more calls", async || Ok(calls.load(Relaxed) >= before + count)).await
}

/// Waits until the relay has taken a whole turn from now on. In each it reads the balance of each lane.
pub async fn until_turned(workshop: &Workshop, balances: &AtomicUsize) -> Result<(), Error> {
    // One such reading may have begun before, and one comes before its turn.
    until_more(balances, 3 * workshop.lanes().len()).await
}

/// Waits until a transaction is in a block: a node answers who sends one before it mines. Returns the block's number.
pub async fn until_mined(workshop: &Workshop, hash: B256) -> Result<u64, Error> {
    let node = workshop.node().await?;
    eventually("a transaction is mined", async || {
        Ok(node.get_transaction_receipt(hash).await?.and_then(|receipt| receipt.block_number))
    })
    .await
}

/// What was told of transactions, oldest first.
pub async fn outcomes(workshop: &Workshop) -> Result<Vec<(TransactionId, TransactionStatus)>, Error> {
    let events = ServiceEvents::new(ArtistTable::new(&workshop.dynamodb, "ArtistTable")).after(0, 100).await?;
    let outcome = |data| match data {
        EventData::TransactionMined(event) | EventData::TransactionFailed(event) => Some((event.id, event.status)),
        _ => None,
    };
    Ok(events.into_iter().filter_map(|event| outcome(event.event.data)).collect())
}

/// Fails unless each URI was given to token 1 exactly once, and nothing else was.
pub async fn assert_done_once(workshop: &Workshop, collection: Address, expected: &[String]) -> Result<(), Error> {
    let (_, mut counts) = done(workshop, &[collection]).await?;
    counts.remove("ar://first");
    let expected: BTreeMap<_, _> = expected.iter().map(|uri| (uri.clone(), 1)).collect();
    assert_eq!(counts, expected);
    Ok(())
}

/// Fails unless what left lanes since all had `before` is what these transactions were charged, and a known overhead: to
/// the wei. Lanes had sent nothing before.
pub async fn assert_charged(
    workshop: &Workshop,
    before: U256,
    transactions: &[(Artist, TransactionId)],
) -> Result<Spent, Error> {
    let node = workshop.node().await?;
    let spent = spent(workshop, &node, 0).await?;
    let after = lanes_wei(workshop, &node).await?;
    assert_eq!(before.checked_sub(after), Some(U256::from(spent.total())), "{spent}");
    let mut charged = 0;
    for (artist, id) in transactions {
        charged += u128::from(transaction(workshop, artist, *id).await?.charge.wei);
    }
    assert_eq!(charged, spent.charged, "{spent}");
    println!("{spent}");
    Ok(spent)
}

/// Sends a transaction of an account without its key, before everything else in its block. Returns its hash; it may not
/// be in one yet.
pub async fn act_as(workshop: &Workshop, account: Address, call: Call) -> Result<B256, Error> {
    act_with_tip(workshop, account, call, 2_000_000_000).await
}

/// The same with a priority fee, in wei per gas.
pub async fn act_with_tip(workshop: &Workshop, account: Address, call: Call, tip: u128) -> Result<B256, Error> {
    act_for(workshop, account, call, (tip + 18_000_000_000, tip)).await
}

/// The same for at most so much, and with this priority fee, in wei per gas.
pub async fn act_for(workshop: &Workshop, account: Address, call: Call, fees: (u128, u128)) -> Result<B256, Error> {
    let (node, (most, tip)) = (workshop.node().await?, fees);
    node.anvil_set_balance(account, U256::from(u64::MAX)).await?;
    node.anvil_impersonate_account(account).await?;
    let request = TransactionRequest::default().from(account).to(call.target).value(call.value);
    let request = request.input(call.data.into()).gas_limit(500_000).max_priority_fee_per_gas(tip);
    let sent = *node.send_transaction(request.max_fee_per_gas(most)).await?.tx_hash();
    node.anvil_stop_impersonating_account(account).await?;
    Ok(sent)
}

/// A way to the node that forgets what is sent, as long as the flag says so.
pub async fn forgetful(workshop: &Workshop) -> Result<(String, Arc<AtomicBool>), Error> {
    let forgets = Arc::new(AtomicBool::new(true));
    let forgetting = Arc::clone(&forgets);
    let url = proxy::start(&workshop.rpc_url, move |request| {
        let is_sent = request.operation == "eth_sendRawTransaction";
        if is_sent && forgetting.load(Relaxed) {
            Act::Say(json!(format!("0x{}", "11".repeat(32))))
        } else {
            Act::Forward
        }
    })
    .await?;
    Ok((url, forgets))
}

/// The same, that makes no artist's calls either, so that it has no words for those that fail.
pub async fn wordless(workshop: &Workshop) -> Result<(String, Arc<AtomicBool>), Error> {
    let (target, forgets) = forgetful(workshop).await?;
    let lanes: Vec<_> = workshop.lanes().iter().map(|(lane, _)| lane.to_string().to_lowercase()).collect();
    let url = proxy::start(&target, move |request| {
        let caller = request.body["params"][0]["from"].as_str().map(str::to_lowercase);
        match &*request.operation {
            "eth_simulateV1" => Act::Refuse("the method does not exist"),
            "eth_call" if caller.as_ref().is_some_and(|caller| !lanes.contains(caller)) => {
                Act::Refuse("execution reverted")
            }
            _ => Act::Forward,
        }
    })
    .await?;
    Ok((url, forgets))
}

/// Lets another's call come before a batch in the next block, given a relay over [`forgetful`].
pub async fn come_before(
    workshop: &Workshop,
    row: &Transaction,
    forgets: &AtomicBool,
    account: Address,
    call: Call,
) -> Result<(), Error> {
    act_as(workshop, account, call).await?;
    forgets.store(false, Relaxed);
    until_sent_again(workshop, row.batch.ok_or("no batch")?).await?;
    Ok(workshop.node().await?.anvil_mine(Some(1), None).await?)
}

/// Takes a lane from the operator Safe's owners. Returns the transaction's hash; it may not be in a block yet.
pub async fn disown(workshop: &Workshop, lane: Address) -> Result<B256, Error> {
    let safe = workshop.operator.safe;
    let node = workshop.node_at(&workshop.rpc_url)?;
    let owners = node.read(safe, &Safe::getOwnersCall {}).await?.ok_or("no Safe")?;
    let at = owners.iter().position(|owner| *owner == lane).ok_or("no such owner")?;
    let before = if at == 0 { Address::with_last_byte(1) } else { owners[at - 1] };
    let removal = Safe::removeOwnerCall { prevOwner: before, owner: lane, _threshold: U256::ONE };
    act_as(workshop, safe, Call::new(safe, &removal)).await
}

/// Gives an artist's account to somebody else.
pub async fn take_account(workshop: &Workshop, artist: &Artist) -> Result<(), Error> {
    let account: Address = artist.embedded_wallet.into();
    let (before, thief) = (Address::with_last_byte(1), Address::repeat_byte(7));
    let swap = Safe::swapOwnerCall { prevOwner: before, oldOwner: workshop.operator.safe, newOwner: thief };
    let taken = act_as(workshop, account, Call::new(account, &swap)).await?;
    until_mined(workshop, taken).await.map(drop)
}

/// How often the lead of the chain's relay was taken.
pub async fn epoch(workshop: &Workshop) -> Result<u64, Error> {
    let client = aws_sdk_dynamodb::Client::new(&workshop.dynamodb);
    let read = client.get_item().table_name("ArtistTable").consistent_read(true);
    let key = |text: String| aws_sdk_dynamodb::types::AttributeValue::S(text);
    let read = read.key("pk", key(format!("RELAY#{}", workshop.chain.id))).key("sk", key("LEASE".to_owned()));
    let row = read.send().await?.item.ok_or("no lease")?;
    Ok(row["epoch"].as_n().map_err(|_| "no number")?.parse()?)
}

/// A lane's next nonce in storage and on the chain.
pub async fn nonces(workshop: &Workshop, lane: Address) -> Result<(u64, u64), Error> {
    let state = workshop.transactions().lane(workshop.chain.id, lane.into()).await?.unwrap_or_default();
    Ok((state.next_nonce, workshop.node().await?.get_transaction_count(lane).await?))
}

/// Places a contract that answers everything with one number.
pub async fn answer_always(node: &RootProvider, contract: Address, number: u64) -> Result<(), Error> {
    // PUSH32 number, PUSH1 0, MSTORE, PUSH1 32, PUSH1 0, RETURN
    let mut code = vec![0x7f];
    code.extend(U256::from(number).to_be_bytes::<32>());
    code.extend([0x60, 0, 0x52, 0x60, 32, 0x60, 0, 0xf3]);
    Ok(node.anvil_set_code(contract, code.into()).await?)
}

/// What a test's own thread logs.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    /// Listens as long as the guard is kept.
    pub fn listen() -> (Self, DefaultGuard) {
        let log = Self::default();
        (log.clone(), set_default(log))
    }

    /// Whether a message has all of these words.
    pub fn says(&self, words: &[&str]) -> bool {
        let messages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        messages.iter().any(|message| words.iter().all(|word| message.contains(word)))
    }
}

impl Visit for Log {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{value:?}"));
        }
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}
