//! The parts: a chain with blocks at intervals, proxies in front of everything, and two relays' processes.

use std::{collections::BTreeMap, path::Path, process::Command, sync::Arc, time::Duration};

use alloy::{
    primitives::U256,
    providers::{Provider, RootProvider, ext::AnvilApi},
    rpc::types::anvil::ReorgOptions,
};
use local::{
    cloud::Endpoints,
    functions::{Emulator, environment},
    paths::Paths,
    workshop::Workshop,
};
use serde_json::json;
use template::Template;
use tokio::sync::Mutex;

use crate::{
    common::{Error, money::lanes_wei},
    faults::{Dice, Faults, L1_FEE},
    proxy::{self, Vice, Wayward},
};

const RELAY: &str = "relay";
/// Blocks that a batch needs to be final: more than the deepest reorganisation.
pub const REORG_DEPTH: u64 = 16;
/// Blocks after which the relay takes one for settled: more than the deepest reorganisation has.
const CONFIRMATIONS: u64 = 9;
const BLOCK_TIME: Duration = Duration::from_millis(500);
/// Balance of a funded lane: one ether, in wei.
const BALANCE: u64 = 1_000_000_000_000_000_000;

/// How the relays reach everything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// Two nodes, KMS and a database that fail now and then.
    Faults,
    /// A [`Wayward`] node in first place, and the chain's own one behind it.
    OneOfTwo,
    /// Two [`Wayward`] nodes in front, and the chain's own one behind them.
    TwoOfThree,
    /// A [`Wayward`] node alone.
    Alone,
}

impl Between {
    /// How many nodes are [`Wayward`].
    pub fn wayward(self) -> usize {
        match self {
            Self::Faults => 0,
            Self::OneOfTwo | Self::Alone => 1,
            Self::TwoOfThree => 2,
        }
    }
}

pub struct World {
    pub workshop: Workshop,
    pub node: RootProvider,
    pub faults: Arc<Faults>,
    /// The nodes in front.
    wayward: Vec<Wayward>,
    /// Wei that all lanes have at first.
    pub funds: U256,
    between: Between,
    /// Two relays; the second one's clock is a minute fast where `libfaketime` is installed.
    relays: Vec<Emulator>,
    pub is_skewed: bool,
    /// Held while the chain changes. Anvil empties its pool a moment after a block; a reorganisation in between would lose
    /// transactions that are sent again.
    chain: Arc<Mutex<()>>,
}

impl World {
    pub async fn start(seed: u64, between: Between) -> Result<Self, Error> {
        let name = format!("chaos-{between:?}-{seed}");
        let mut workshop = Workshop::start(&name).await?;
        workshop.add_lanes(3).await?;
        let node = workshop.node().await?;
        let faults: Arc<Faults> = Arc::default();
        let wayward = (0..between.wayward()).map(|_| Wayward::default()).collect();
        let (funds, relays, chain) = (lanes_wei(&workshop, &node).await?, Vec::new(), Arc::default());
        let mut world = Self { workshop, node, faults, wayward, funds, between, relays, is_skewed: false, chain };
        let library = faketime();
        world.is_skewed = library.is_some();
        for relay in 0..2 {
            let mut variables = world.environment(seed, relay).await?;
            if let Some(library) = library.filter(|_| relay == 1) {
                let skew = [("LD_PRELOAD", library), ("FAKETIME", "+60s"), ("FAKETIME_DONT_FAKE_MONOTONIC", "1")];
                variables.extend(skew.map(|(name, value)| (name.to_owned(), value.to_owned())));
            }
            let paths = Paths::of_checkout();
            let logs = paths.workshop(&name).join(relay.to_string());
            let mut emulator = Emulator::start(&paths, &logs, RELAY, 0, &template()?).await?;
            emulator.run(RELAY, 1, &variables)?;
            world.relays.push(emulator);
        }
        Ok(world)
    }

    /// Blocks come at intervals from now on, and the relays are woken again and again.
    pub async fn begin(&mut self) -> Result<(), Error> {
        // What was there before is never dropped.
        self.node.anvil_mine(Some(REORG_DEPTH), None).await?;
        self.node.anvil_set_auto_mine(false).await?;
        let (node, wayward, chain) = (self.node.clone(), self.wayward.clone(), Arc::clone(&self.chain));
        tokio::spawn(async move {
            loop {
                let _ = mine(&node, &wayward, &chain, 1).await;
                tokio::time::sleep(BLOCK_TIME).await;
            }
        });
        for relay in &mut self.relays {
            relay.schedule(RELAY, Duration::from_millis(200));
        }
        Ok(())
    }

    /// Whether nothing goes wrong but what nodes do, and none forgets a block that all have shown.
    pub fn has_bad_nodes_alone(&self) -> bool {
        self.between != Between::Faults
    }

    /// Turns the nodes in front bad, each in its way, or good again.
    pub async fn turn(&self, vices: &[Vice]) -> Result<(), Error> {
        // One that stands still has all blocks that it has shown.
        let _turn = self.chain.lock().await;
        let head = self.node.get_block_number().await?;
        for (number, wayward) in self.wayward.iter().enumerate() {
            wayward.see(head);
            wayward.turn(vices.get(number).copied());
        }
        Ok(())
    }

    /// Calls that the nodes in front didn't answer as they should.
    pub fn disturbed(&self) -> usize {
        self.wayward.iter().map(Wayward::disturbed).sum()
    }

    /// Makes so many blocks at once.
    pub async fn mine(&self, blocks: u64) -> Result<(), Error> {
        mine(&self.node, &self.wayward, &self.chain, blocks).await
    }

    /// Wei that each transaction costs beside its gas, as nodes tell it.
    pub fn l1_fee(&self) -> u64 {
        if self.between == Between::Faults { L1_FEE } else { 0 }
    }

    /// How a relay reaches nodes, KMS and the database.
    async fn ways(&self, seed: u64, relay: usize) -> Result<(Vec<String>, String, String), Error> {
        let workshop = &self.workshop;
        let mut nodes = Vec::new();
        if self.has_bad_nodes_alone() {
            for wayward in self.wayward.clone() {
                nodes.push(proxy::start(&workshop.rpc_url, move |request| wayward.act(request)).await?);
            }
            if self.between != Between::Alone {
                nodes.push(workshop.rpc_url.clone());
            }
            let Endpoints { aws, dynamodb } = workshop.endpoints.clone();
            return Ok((nodes, aws, dynamodb));
        }
        for backend in 0..2 {
            let (faults, dice) = (Arc::clone(&self.faults), Dice::new(seed, &format!("node {relay} {backend}")));
            nodes.push(proxy::start(&workshop.rpc_url, move |request| faults.of_node(&dice, request)).await?);
        }
        let (faults, dice) = (Arc::clone(&self.faults), Dice::new(seed, &format!("kms {relay}")));
        let kms = proxy::start(&workshop.endpoints.aws, move |request| faults.of_kms(&dice, request)).await?;
        let (faults, dice) = (Arc::clone(&self.faults), Dice::new(seed, &format!("store {relay}")));
        let store = proxy::start(&workshop.endpoints.dynamodb, move |_| faults.of_store(&dice)).await?;
        Ok((nodes, kms, store))
    }

    async fn environment(&self, seed: u64, relay: usize) -> Result<BTreeMap<String, String>, Error> {
        let workshop = &self.workshop;
        let (nodes, kms, store) = self.ways(seed, relay).await?;
        let template = template()?;
        let functions = template.functions()?;
        let function = functions.iter().find(|function| function.binary == RELAY).ok_or("no relay")?;
        let mut names = workshop.names.clone();
        let chain = workshop.chain.id;
        let settings =
            json!([{"id": chain, "firstBlock": 0, "confirmations": CONFIRMATIONS, "reorgDepth": REORG_DEPTH}]);
        names.insert("Chains".to_owned(), settings.to_string());
        names.insert("RpcUrls".to_owned(), json!({ chain.to_string(): nodes }).to_string());
        names.insert("OperatorSafe".to_owned(), format!("{:#x}", workshop.operator.safe));
        let mut variables = environment(function, &names, workshop.endpoints.environment())?;
        let list = |of: &dyn Fn(&(alloy::primitives::Address, String)) -> String| {
            workshop.lanes().iter().map(of).collect::<Vec<_>>().join(",")
        };
        variables.extend([
            ("OPERATOR_LANES".to_owned(), list(&|(address, _)| format!("{address:#x}"))),
            ("OPERATOR_LANE_KEYS".to_owned(), list(&|(_, key)| key.clone())),
            ("AWS_ENDPOINT_URL".to_owned(), kms),
            ("AWS_ENDPOINT_URL_DYNAMODB".to_owned(), store),
        ]);
        Ok(variables)
    }

    pub async fn kill(&self, relay: u64) -> Result<(), Error> {
        self.relays[relay as usize % 2].crash(RELAY, 0).await
    }

    /// Stops a relay's process, or lets it go on.
    pub fn pause(&self, relay: u64, stops: bool) -> Result<(), Error> {
        let processes = self.relays[relay as usize % 2].processes();
        let ids = processes.borrow().get(RELAY).cloned().unwrap_or_default();
        for id in ids {
            let signal = if stops { "-STOP" } else { "-CONT" };
            // It may have just ended on its own.
            Command::new("kill").args([signal, &id.to_string()]).stderr(std::process::Stdio::null()).status()?;
        }
        Ok(())
    }

    pub async fn reorganise(&self, depth: u64) -> Result<(), Error> {
        let _turn = self.chain.lock().await;
        Ok(self.node.anvil_reorg(ReorgOptions { depth, tx_block_pairs: Vec::new() }).await?)
    }

    /// Takes all money from a lane, or gives it back.
    pub async fn fund(&self, lane: u64, is_funded: bool) -> Result<(), Error> {
        let (lane, _) = self.workshop.lanes()[lane as usize % self.workshop.lanes().len()];
        let balance = if is_funded { U256::from(BALANCE) } else { U256::ZERO };
        Ok(self.node.anvil_set_balance(lane, balance).await?)
    }

    /// Moves the base fee, as if others had filled or left blocks.
    pub async fn set_base_fee(&self, wei: u64) -> Result<(), Error> {
        Ok(self.node.anvil_set_next_block_base_fee_per_gas(wei.into()).await?)
    }

    /// Sends an empty transaction with a lane's key, past the relay.
    pub async fn use_key_elsewhere(&self, lane: u64) -> Result<(), Error> {
        let (lane, _) = self.workshop.lanes()[lane as usize % self.workshop.lanes().len()];
        // A lane without money can't.
        let _ = self.workshop.use_lane(lane).await;
        Ok(())
    }
}

/// Makes blocks, which the nodes in front see before the next ones come.
async fn mine(node: &RootProvider, wayward: &[Wayward], chain: &Mutex<()>, blocks: u64) -> Result<(), Error> {
    let _turn = chain.lock().await;
    node.anvil_mine(Some(blocks), None).await?;
    let head = node.get_block_number().await?;
    wayward.iter().for_each(|wayward| wayward.see(head));
    Ok(())
}

fn template() -> Result<Template, Error> {
    Ok(Paths::of_checkout().template()?)
}

/// Debian's library that gives a process another clock.
fn faketime() -> Option<&'static str> {
    let libraries =
        ["/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1", "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1"];
    libraries.into_iter().find(|path| Path::new(path).exists())
}
