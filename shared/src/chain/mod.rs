//! What the service knows of EVM chains: which ones it serves, their contracts, their nodes, and the accounts it keeps
//! there for artists.

pub mod account;
pub mod contract_signature;
pub mod contracts;
pub mod currency;
pub mod destination;
pub mod engine;
pub mod node;
pub mod node_error;
pub mod other_protocols;
pub mod permission;
pub mod policy;
mod prepare;
pub mod publishing;
mod registry;
pub mod revert;
pub mod sale;
pub mod signer;
pub mod simulate;
pub mod splits;
mod write;

pub use registry::{Chain, ChainAddresses, Chains, EditionsAddresses, InvalidChains, RegistryAddresses};
