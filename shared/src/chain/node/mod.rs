//! JSON-RPC nodes of a chain, and the classification of their errors.

mod block;
mod client;
mod fault;
mod gathering;
mod health;
mod nonce;
mod pace;
mod pool;
mod reads;
mod receipt;
mod urls;

pub use self::{
    client::{BlockFacts, Node, NodeError},
    fault::{NodeFault, halt_in_words},
    health::NodeTimes,
    nonce::Nonce,
    pool::{Refusals, SendError},
    reads::MULTICALL,
    receipt::{Receipt, Standing},
    urls::NodeUrls,
};
