//! EVM chains: configuration, nodes, contracts, accounts and transactions. Calls fail when nodes, KMS or tables do.

mod chains;
pub mod contracts;
pub mod node;
pub mod protocol;
mod served;
mod spending;
pub mod transaction;
pub mod wallet;

pub use self::{
    chains::{
        Chain, ChainAddresses, Chains, EditionsAddresses, FormerContract, InvalidChains, PROTOCOL_REWARDS,
        RegistryAddresses, Role, with_value,
    },
    served::ServedChains,
    spending::{History, Spending},
};
