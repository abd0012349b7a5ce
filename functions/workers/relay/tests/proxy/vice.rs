//! What a node that is asked first does wrong, while the one behind it is good.

use std::{
    mem,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
};

use alloy::primitives::B256;
use serde_json::{Value, json};

use super::{Act, Gate, Request};

/// A way to be bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vice {
    /// Says that it has what it is sent, and forgets it.
    Swallows,
    /// Knows no later block, and forgets what it is sent.
    StandsStill,
    /// Answers when it is good again.
    Hangs,
    /// Asks for fewer calls.
    Throttles,
    /// Asks for fewer calls at every third one.
    ThrottlesSome,
    /// Says that what was done failed.
    ForgesStatus,
    /// Says that each sender has sent a billion transactions.
    ForgesNonces,
    /// Has receipts before their block, by the hash of an unfinished one.
    TellsEarly,
    /// Has receipts of blocks that never come.
    InventsBlocks,
    /// Has blocks that nobody else has, and proofs by them.
    Forks,
    /// Proves that what it was sent failed, by a block that never comes.
    InventsProofs,
    /// Has later blocks without their receipts and logs.
    LacksLogs,
}

impl Vice {
    /// The last two prove what isn't the chain's, and can't be told from a good node.
    pub const ALL: [Self; 12] = [
        Self::Swallows,
        Self::StandsStill,
        Self::Hangs,
        Self::Throttles,
        Self::ThrottlesSome,
        Self::ForgesStatus,
        Self::ForgesNonces,
        Self::TellsEarly,
        Self::InventsBlocks,
        Self::LacksLogs,
        Self::Forks,
        Self::InventsProofs,
    ];

    /// All that prove nothing. A lone node's only delay.
    pub const UNPROVED: &'static [Self] = Self::ALL.split_at(10).0;

    /// What a node with this vice does, where `head` is the chain's newest block and `still` the one at which it stands, to
    /// its call with this number. One that it doesn't answer waits at the gate.
    fn act(self, request: &Request, (head, still): (u64, u64), call: usize, gate: Gate) -> Act {
        match (self, &*request.operation) {
            (Self::Swallows | Self::StandsStill, "eth_sendRawTransaction") => request.swallow(),
            (Self::StandsStill, _) => as_of(request, still),
            (Self::Hangs, _) => Act::Wait(gate),
            (Self::Throttles, _) => Act::Answer(429, "slow down".to_owned()),
            (Self::ThrottlesSome, _) if call.is_multiple_of(3) => Act::Answer(429, "slow down".to_owned()),
            (Self::ForgesStatus, "eth_getTransactionReceipt") => Act::add("status", json!("0x0")),
            (Self::ForgesStatus, "eth_getBlockReceipts") => Act::Change(Box::new(|receipts| {
                for receipt in receipts.as_array_mut().into_iter().flatten() {
                    receipt["status"] = json!("0x0");
                }
            })),
            (Self::ForgesNonces, "eth_getTransactionCount") => Act::Say(json!("0x3b9aca00")),
            (Self::TellsEarly, "eth_getTransactionReceipt") => early(request, head + 1),
            (Self::InventsBlocks, "eth_getTransactionReceipt") => early(request, head + 1_000),
            (Self::Forks, "eth_getTransactionReceipt" | "eth_getBlockByNumber" | "eth_getBlockReceipts") => Act::Fork,
            (Self::InventsProofs, "eth_getTransactionReceipt" | "eth_getBlockByNumber" | "eth_getBlockReceipts") => {
                Act::Invent(head + 1_000)
            }
            (Self::LacksLogs, "eth_getTransactionReceipt") => as_of(request, still),
            (Self::LacksLogs, "eth_getBlockReceipts" | "eth_getLogs") => Act::Change(Box::new(move |list| {
                if let Some(list) = list.as_array_mut() {
                    list.retain(|entry| number(&entry["blockNumber"]).is_none_or(|number| number <= still));
                }
            })),
            _ => Act::Forward,
        }
    }
}

/// A node that is good, or bad in one way at a time.
#[derive(Clone, Default)]
pub struct Wayward(Arc<State>);

#[derive(Default)]
struct State {
    /// Position of the vice, from 1; 0 for none.
    vice: AtomicUsize,
    head: AtomicU64,
    still: AtomicU64,
    calls: AtomicUsize,
    disturbed: AtomicUsize,
    /// Where calls wait for it to be good again.
    gate: Mutex<Gate>,
}

impl Wayward {
    /// Notes the chain's newest block.
    pub fn see(&self, head: u64) {
        self.0.head.store(head, Relaxed);
    }

    /// Turns bad, or good again.
    pub fn turn(&self, vice: Option<Vice>) {
        self.0.still.store(self.0.head.load(Relaxed), Relaxed);
        let position = Vice::ALL.iter().position(|known| Some(*known) == vice);
        self.0.vice.store(position.map_or(0, |position| position + 1), Relaxed);
        mem::take(&mut *self.0.gate.lock().unwrap_or_else(PoisonError::into_inner)).open();
    }

    /// Calls that weren't answered as they should.
    pub fn disturbed(&self) -> usize {
        self.0.disturbed.load(Relaxed)
    }

    /// What becomes of a request.
    pub fn act(&self, request: &Request) -> Act {
        // First: it is opened after the node has turned.
        let gate = self.0.gate.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let vice = self.0.vice.load(Relaxed).checked_sub(1).and_then(|at| Vice::ALL.get(at));
        let (head, still) = (self.0.head.load(Relaxed), self.0.still.load(Relaxed));
        let call = self.0.calls.fetch_add(1, Relaxed);
        let act = vice.map_or(Act::Forward, |vice| vice.act(request, (head, still), call, gate));
        self.0.disturbed.fetch_add(usize::from(!matches!(act, Act::Forward)), Relaxed);
        act
    }
}

/// A request to a node that has no block after this one.
fn as_of(request: &Request, block: u64) -> Act {
    let tag_at = match &*request.operation {
        "eth_blockNumber" => return Act::Say(json!(format!("{block:#x}"))),
        "eth_getTransactionReceipt" => {
            return Act::Change(Box::new(move |receipt| {
                if number(&receipt["blockNumber"]).is_some_and(|number| number > block) {
                    *receipt = Value::Null;
                }
            }));
        }
        "eth_getBlockByNumber" | "eth_getBlockReceipts" => 0,
        "eth_getTransactionCount"
        | "eth_getBalance"
        | "eth_getCode"
        | "eth_call"
        | "eth_estimateGas"
        | "eth_simulateV1"
        | "eth_feeHistory" => 1,
        _ => return Act::Forward,
    };
    let mut body = request.body.clone();
    let Some(tag) = body["params"].get_mut(tag_at) else { return Act::Forward };
    match number(tag) {
        Some(number) if number <= block => return Act::Forward,
        Some(_) if tag_at == 0 => return Act::Say(Value::Null),
        // A block by its hash.
        None if tag.as_str().is_some_and(|tag| tag.len() == 66) => return Act::Forward,
        _ => *tag = json!(format!("{block:#x}")),
    }
    Act::Instead(body)
}

/// A receipt by a block with this number that isn't the chain's, whether the transaction is in one or not.
fn early(request: &Request, number: u64) -> Act {
    Act::Say(receipt(&request.body["params"][0], true, (B256::repeat_byte(0x33), number)))
}

/// The receipt of a lone transaction of a block with this hash and number.
pub fn receipt(transaction: &Value, succeeded: bool, (block, number): (B256, u64)) -> Value {
    let zeros = |bytes: usize| format!("0x{}", "00".repeat(bytes));
    json!({
        "type": "0x2", "status": if succeeded { "0x1" } else { "0x0" }, "cumulativeGasUsed": "0x5208",
        "logsBloom": zeros(256), "logs": [], "transactionHash": transaction, "transactionIndex": "0x0",
        "blockHash": block, "blockNumber": format!("{number:#x}"), "gasUsed": "0x5208",
        "effectiveGasPrice": "0x1", "from": zeros(20), "to": zeros(20),
    })
}

fn number(value: &Value) -> Option<u64> {
    u64::from_str_radix(value.as_str()?.strip_prefix("0x")?, 16).ok()
}
