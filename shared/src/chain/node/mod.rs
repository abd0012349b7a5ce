//! JSON-RPC nodes of a chain, and the classification of their errors.

mod client;
mod fault;
mod health;
mod nonce;
mod pace;
mod pool;
mod receipt;
mod urls;

pub use self::{
    client::{BlockFacts, Node, NodeError, NonceFacts},
    fault::{NodeFault, halt_in_words},
    pool::SendError,
    receipt::Receipt,
    urls::NodeUrls,
};
