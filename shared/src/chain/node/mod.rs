//! JSON-RPC nodes of a chain, and the classification of their errors.

mod client;
mod fault;
mod gathering;
mod health;
mod nonce;
mod pace;
mod pool;
mod proof;
mod reads;
mod receipt;
mod urls;

pub use self::{
    client::{BlockFacts, Node, NodeError, NonceFacts},
    fault::{NodeFault, halt_in_words},
    health::NodeTimes,
    pool::SendError,
    reads::MULTICALL,
    receipt::Receipt,
    urls::NodeUrls,
};
