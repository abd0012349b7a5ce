//! JSON-RPC nodes of a chain, and the classification of their errors.

mod client;
mod fault;
mod nonce;

pub use self::{
    client::{BlockFacts, Node, NodeError, NodeUrls, NonceFacts, Receipt, SendError},
    fault::{NodeFault, halt_in_words},
};
