//! What goes wrong, drawn from a seed.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use alloy::primitives::keccak256;
use local::patience::eventually;
use serde_json::json;

use crate::{
    common::Error,
    proxy::{Act, Request},
};

/// Wei that each transaction costs beside its gas.
pub const L1_FEE: u64 = 10_000_000_000_000;

/// Pseudorandom numbers of a seed and a name: each part has its own, so that parts don't disturb each other's.
#[derive(Clone)]
pub struct Dice {
    origin: String,
    turn: Arc<AtomicU64>,
}

impl Dice {
    pub fn new(seed: u64, name: &str) -> Self {
        Self { origin: format!("{seed} {name}"), turn: Arc::default() }
    }

    /// A number below `sides`.
    pub fn roll(&self, sides: u64) -> u64 {
        let hash = keccak256(format!("{} {}", self.origin, self.turn.fetch_add(1, Relaxed)));
        hash.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes)) % sides
    }
}

/// What is broken now, and how often something was.
#[derive(Default)]
pub struct Faults {
    /// Nothing is, once this is set.
    pub is_over: AtomicBool,
    pub node_is_down: AtomicBool,
    pub kms_is_down: AtomicBool,
    pub store_is_down: AtomicBool,
    /// Disturbed calls.
    pub disturbed: AtomicUsize,
    /// Signatures of lanes that were asked for.
    pub signatures: AtomicUsize,
}

impl Faults {
    /// Waits until so many calls were disturbed in all.
    pub async fn reach(&self, calls: usize) -> Result<(), Error> {
        let is_reached = async || Ok((self.disturbed.load(Relaxed) >= calls).then_some(()));
        eventually(format!("{calls} calls are disturbed"), is_reached).await
    }

    /// Waits until so many more calls were disturbed.
    pub async fn more(&self, calls: u64) -> Result<(), Error> {
        self.reach(self.disturbed.load(Relaxed) + usize::try_from(calls)?).await
    }

    fn count(&self, act: Act) -> Act {
        self.disturbed.fetch_add(1, Relaxed);
        act
    }

    /// A node: 30 of 100 calls are disturbed. Receipts have a fee for data, as on chains that take one.
    pub fn of_node(&self, dice: &Dice, request: &Request) -> Act {
        match self.disturb_node(dice, request) {
            Act::Forward | Act::Late(_) if request.operation == "eth_getTransactionReceipt" => {
                Act::add("l1Fee", json!(format!("{L1_FEE:#x}")))
            }
            act => act,
        }
    }

    fn disturb_node(&self, dice: &Dice, request: &Request) -> Act {
        if self.is_over.load(Relaxed) {
            return Act::Forward;
        }
        if self.node_is_down.load(Relaxed) {
            return self.count(Act::Answer(503, "down".to_owned()));
        }
        if dice.roll(100) >= 30 {
            return Act::Forward;
        }
        let is_sent = request.operation == "eth_sendRawTransaction";
        self.count(if is_sent { sending(dice, request) } else { reading(dice) })
    }

    /// KMS: 15 of 100 calls are disturbed.
    pub fn of_kms(&self, dice: &Dice, request: &Request) -> Act {
        self.signatures.fetch_add(usize::from(request.operation == "Sign"), Relaxed);
        self.of_aws(dice, &self.kms_is_down, 15)
    }

    /// DynamoDB: 4 of 100 calls are disturbed.
    pub fn of_store(&self, dice: &Dice) -> Act {
        self.of_aws(dice, &self.store_is_down, 4)
    }

    fn of_aws(&self, dice: &Dice, is_down: &AtomicBool, percent: u64) -> Act {
        if self.is_over.load(Relaxed) {
            return Act::Forward;
        }
        if is_down.load(Relaxed) {
            return self.count(Act::Answer(500, "{}".to_owned()));
        }
        if dice.roll(100) >= percent {
            return Act::Forward;
        }
        self.count(match dice.roll(4) {
            0 => Act::Answer(500, "{}".to_owned()),
            1 => Act::throttle(),
            2 => Act::Lose,
            _ => Act::Late(Duration::from_millis(200 + dice.roll(1_500))),
        })
    }
}

fn sending(dice: &Dice, request: &Request) -> Act {
    match dice.roll(9) {
        0 => Act::Lose,
        1 => Act::Answer(500, "internal server error".to_owned()),
        // Forgotten.
        2 => request.swallow(),
        3 => Act::Refuse("nonce too low"),
        4 => Act::Refuse("already known"),
        5 => Act::Refuse("replacement transaction underpriced"),
        6 => Act::Refuse("insufficient funds for gas * price + value"),
        7 => Act::Refuse("txpool is full"),
        // Overtaken by later ones.
        _ => Act::Hold(Duration::from_millis(500 + dice.roll(3_000))),
    }
}

fn reading(dice: &Dice) -> Act {
    match dice.roll(6) {
        0 => Act::Answer(500, "internal server error".to_owned()),
        1 => Act::Answer(429, "slow down".to_owned()),
        2 => Act::Lose,
        3 => Act::Late(Duration::from_millis(dice.roll(1_500))),
        // Another backend, which lags.
        _ => Act::Old,
    }
}
