//! The function's real process: killed at any moment, and its memory at the largest event. `SEED=<number>` chooses another
//! course, `ROUNDS=<number>` a longer one, `TOKENS=50000` the largest edition.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Instant,
};

use alloy::{
    network::TransactionBuilder,
    primitives::{Bytes, U256},
    providers::ext::AnvilApi,
    rpc::types::TransactionRequest,
    sol_types::{SolEvent, SolValue},
};
use local::{
    cloud::{Endpoints, local_chains},
    functions::{Emulator, environment},
    paths::Paths,
    patience::eventually,
};
use serde_json::{Value, json};
use shared::{
    chain::contracts::third_party::Edition::Minted,
    model::Protocol,
    store::chain::{Scope, TimelineFilter, Timelines},
};
use tests::{
    DatabaseProxy, Error, TestChain,
    history::{Dice, History},
};

use crate::support::{Indexer, number};

const FUNCTION: &str = "index-chain";
const ROUNDS: u64 = 6;
/// A process is killed at one of its first calls of the database.
const FIRST_CALLS: u64 = 30;
/// Or at one of the first within a batch, each of which writes rows of it.
const FIRST_WRITES: u64 = 4;
/// Milliseconds that each call of the database takes longer, at random before or after it is done.
const DELAY: u64 = 20;
/// What a write of the checkpoint has in it if a batch begins.
const MARK: &str = r#""pending":{"M""#;
const TOKENS: u64 = 500;
/// Most runs that may fail.
const MAX_FAILED: u32 = 5;
/// A chain without nodes.
const READ_ALONE: u64 = 1;
/// Most memory of the process, in kilobytes.
const MAX_MEMORY: u64 = 256 << 10;

/// The function on an emulated Lambda service.
struct Process {
    emulator: Emulator,
    http: reqwest::Client,
}

impl Process {
    async fn start(name: &str, test_chain: &TestChain, dynamodb: &str) -> Result<Self, Error> {
        Self::of_chains(&[test_chain.chain.id.0], name, test_chain, dynamodb).await
    }

    /// The function of these chains, the first of which is the test chain and the only one with a node.
    async fn of_chains(ids: &[u64], name: &str, test_chain: &TestChain, dynamodb: &str) -> Result<Self, Error> {
        let paths = Paths::of_checkout();
        let template = paths.template()?;
        let functions = template.functions()?;
        let function = functions.iter().find(|function| function.binary == FUNCTION).ok_or("no such function")?;
        let chain = &test_chain.chain;
        let mut chains: Value = serde_json::from_str(&local_chains(ids)?.0)?;
        chains[0]["reorgDepth"] = json!(chain.reorg_depth);
        let nodes = json!({ chain.id.to_string(): [test_chain.rpc_url] });
        let given = [("Chains", chains.to_string()), ("RpcUrls", nodes.to_string())];
        let tables = ["ChainTable", "ArtistTable"].map(|table| (table, table.to_owned()));
        let given = given.into_iter().chain(tables).map(|(name, it)| (name.to_owned(), it));
        let names = template.names(given)?;
        let endpoints = Endpoints { aws: dynamodb.to_owned(), dynamodb: dynamodb.to_owned() };
        let logs = paths.workshop(name);
        let mut emulator = Emulator::start(&paths, &logs, FUNCTION, 0, &template).await?;
        emulator.run(FUNCTION, 1, &environment(function, &names, endpoints.environment())?)?;
        Ok(Self { emulator, http: reqwest::Client::new() })
    }

    /// Indexes all new blocks; returns whether the run came to its end.
    async fn follow(&self) -> Result<bool, Error> {
        let url = format!("{}/2015-03-31/functions/{FUNCTION}/invocations", self.emulator.url());
        let answer = self.http.post(url).body("{}").send().await?;
        Ok(answer.status().is_success() && !answer.headers().contains_key("x-amz-function-error"))
    }

    /// Kills the process in a run, once the database doesn't answer it any more; returns whether the run ended before.
    async fn die(&self, proxy: &DatabaseProxy) -> Result<bool, Error> {
        let mut run = Box::pin(self.follow());
        let is_held = async || Ok((proxy.holds.load(Ordering::SeqCst) && !proxy.is_busy()).then_some(()));
        tokio::select! {
            ended = &mut run => return ended,
            held = eventually("the process's last call", is_held) => held?,
        }
        self.emulator.crash(FUNCTION, 0).await?;
        let ended = run.await;
        proxy.holds.store(false, Ordering::SeqCst);
        ended
    }

    /// Most memory that the process had, in kilobytes.
    fn peak_memory(&self) -> Result<u64, Error> {
        let processes = self.emulator.processes();
        let id = *processes.borrow().get(FUNCTION).and_then(|ids| ids.first()).ok_or("no process")?;
        let status = fs::read_to_string(format!("/proc/{id}/status"))?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
        Ok(peak.trim_end_matches("kB").trim().parse()?)
    }
}

/// How many calls the database does before it answers no more. With `in_a_batch`, they count from when one has begun.
#[derive(Default)]
struct LastCall {
    left: AtomicU64,
    in_a_batch: AtomicBool,
}

impl LastCall {
    fn set(&self, left: u64, in_a_batch: bool) {
        self.left.store(left, Ordering::SeqCst);
        self.in_a_batch.store(in_a_batch, Ordering::SeqCst);
    }

    /// Whether this one is it.
    fn is(&self, request: &[u8]) -> bool {
        if self.in_a_batch.load(Ordering::SeqCst) && !String::from_utf8_lossy(request).contains(MARK) {
            return false;
        }
        self.in_a_batch.store(false, Ordering::SeqCst);
        self.left.fetch_sub(1, Ordering::SeqCst) == 1
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_processes_leave_the_rows_of_a_fresh_index() -> Result<(), Error> {
    let (seed, rounds) = (number("SEED", 1)?, number("ROUNDS", ROUNDS)?);
    let mut dice = Dice::at(seed << 40);
    let test_chain = TestChain::start(&format!("killed-{seed}"), 16).await?;
    let mut history = History::on(&test_chain, 2_000 + seed).await?;
    let indexer = Indexer::of(&test_chain, &[&test_chain.rpc_url]).await?;
    let proxy = DatabaseProxy::start().await?;
    proxy.lead_to(&indexer.dynamodb);
    proxy.delay.store(DELAY, Ordering::Relaxed);
    let (last_call, holds) = (Arc::new(LastCall::default()), Arc::clone(&proxy.holds));
    let last = Arc::clone(&last_call);
    proxy.observe(move |_, request, _| {
        if last.is(request) {
            holds.store(true, Ordering::SeqCst);
        }
    });
    let process = Process::start(&format!("killed-{seed}-processes"), &test_chain, &proxy.url).await?;
    let (mut killed, mut within) = (0, 0);
    for round in 0..rounds {
        history.go_on(30 + usize::try_from(dice.roll(60))?).await?;
        match dice.roll(4) {
            0 => {
                test_chain.reorganise(1 + dice.roll(8)).await?;
                history.forget_dropped().await?;
            }
            1 => test_chain.finalise().await?,
            _ => {}
        }
        let in_a_batch = round % 2 == 0;
        last_call.set(1 + dice.roll(if in_a_batch { FIRST_WRITES } else { FIRST_CALLS }), in_a_batch);
        let is_killed = !process.die(&proxy).await?;
        killed += u64::from(is_killed);
        within += u64::from(is_killed && in_a_batch && indexer.is_within_a_batch().await?);
        indexer.expire_lease(&test_chain.chain.id.to_string()).await?;
    }
    println!("SEED={seed}: {killed} of {rounds} runs killed, {within} of them by a write within a batch");
    assert!(killed * 4 >= rounds && within > 0, "{killed} of {rounds} runs were killed, {within} within a batch");
    last_call.set(u64::MAX, false);
    test_chain.finalise().await?;
    // A process that was killed after its run may be found dead only now.
    eventually("a whole run", async || Ok(process.follow().await?.then_some(()))).await?;
    indexer.assert_fresh_members(&test_chain).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chain_is_indexed_beside_one_without_nodes() -> Result<(), Error> {
    let test_chain = TestChain::start("beside-read-alone", 8).await?;
    let mut history = History::on(&test_chain, 43).await?;
    history.conversation(history.people[0]).await?;
    let indexer = Indexer::of(&test_chain, &[&test_chain.rpc_url]).await?;
    let ids = [test_chain.chain.id.0, READ_ALONE];
    let process = Process::of_chains(&ids, "read-alone-process", &test_chain, &indexer.dynamodb).await?;
    assert!(process.follow().await?);
    assert_eq!(indexer.moments().await?.len(), 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn largest_edition_fits_into_memory() -> Result<(), Error> {
    let tokens = number("TOKENS", TOKENS)?;
    let test_chain = TestChain::start("memory", 64).await?;
    let mut history = History::on(&test_chain, 41).await?;
    let (artist, collector) = (history.people[0], history.people[1]);
    let edition = history.edition(artist, collector).await?;
    let indexer = Indexer::of(&test_chain, &[&test_chain.rpc_url]).await?;
    let process = Process::start("memory-process", &test_chain, &indexer.dynamodb).await?;
    assert!(process.follow().await?);
    let before = process.peak_memory()?;

    // Logs what it is called with: CALLDATACOPY, LOG1.
    let mut code = vec![0x36, 0x60, 0, 0x60, 0, 0x37, 0x7f];
    code.extend(Minted::SIGNATURE_HASH);
    code.extend([0x36, 0x60, 0, 0xa1, 0]);
    test_chain.node.anvil_set_code(edition, Bytes::from(code)).await?;
    let minted = (U256::ZERO, collector, U256::from(tokens), U256::from(1_000)).abi_encode_params();
    let request = TransactionRequest::default().with_from(collector).with_to(edition).with_input(minted);
    assert!(test_chain.node.eth_send_transaction_sync(request).await?.status());
    let timelines = Timelines::new(indexer.table.clone());
    let filter = TimelineFilter { protocol: Some(Protocol::Editions), ..TimelineFilter::default() };
    let (start, mut runs, mut failed, mut listed) = (Instant::now(), 0, 0, 0);
    // The largest event may take more than one run, and a call may time out on a loaded machine.
    while listed < tokens + 4 {
        let is_whole = process.follow().await?;
        failed += u32::from(!is_whole);
        assert!(failed <= MAX_FAILED, "{failed} runs failed");
        runs += 1;
        let before = listed;
        listed = timelines.newest(test_chain.chain.id, Scope::Everyone, filter, 0, 0, 1).await?.total;
        println!("{listed} tokens after {:?}", start.elapsed());
        assert!(listed > before || !is_whole, "{listed} of {tokens} tokens after {runs} runs");
    }
    let peak = process.peak_memory()?;
    let took = start.elapsed();
    println!(
        "{tokens} tokens of one event in {took:?}, {runs} runs, {failed} failed: {peak} kB at most, {before} kB before"
    );
    assert!(peak <= MAX_MEMORY, "{peak} kB");
    assert_eq!(listed, tokens + 4);
    Ok(())
}
