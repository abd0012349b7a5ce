use std::collections::BTreeMap;

use alloy::{
    primitives::{Address, B256, U256, address, b256},
    providers::{Provider, RootProvider},
};
use shared::chain::{contracts::safe::Safe, wallet};

use super::Setup;
use crate::{Error, contracts::SINGLETON_FACTORY};

/// Start and end of a Safe's lists of owners and modules.
pub(super) const SENTINEL: Address = address!("0000000000000000000000000000000000000001");
/// keccak256("guard_manager.guard.address")
pub(super) const GUARD_SLOT: B256 = b256!("4a204f620c8c5ccdca3fd54d003badd85ba500436a431f0cbda4f558c93c34c8");
/// keccak256("fallback_manager.handler.address")
pub(super) const FALLBACK_HANDLER_SLOT: B256 =
    b256!("6c9a6c4a39284e37ed1cf53d337577d14212a4870fb976a4366c693b939918d5");
/// More modules than anyone enables.
const MODULES: u64 = 50;

/// Contracts of others that accounts need, by name, at the same address on every chain.
const CANONICAL: [(&str, Address); 6] = [
    ("deterministic deployer", SINGLETON_FACTORY),
    ("proxy factory", wallet::PROXY_FACTORY),
    ("singleton of artists' accounts", wallet::SINGLETON),
    ("singleton of the operator Safe", wallet::OPERATOR_SINGLETON),
    ("fallback handler", wallet::FALLBACK_HANDLER),
    ("MultiSendCallOnly", wallet::MULTI_SEND_CALL_ONLY),
];

/// What the operator's accounts are on one chain.
#[derive(Clone, Debug)]
pub struct State {
    /// Canonical contracts without code.
    pub missing: Vec<(&'static str, Address)>,
    /// The operator Safe; `None` if nothing is deployed at its address.
    pub safe: Option<SafeState>,
    /// The utility Safe; `None` if nothing is deployed at its address.
    pub utility: Option<SafeState>,
    /// Whether a contract is deployed at the guard's address; `false` without a guard.
    pub has_guard_code: bool,
    /// Lanes' balances, in wei.
    pub balances: BTreeMap<Address, U256>,
}

/// The configuration of a Safe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SafeState {
    /// Address of its code.
    pub singleton: Address,
    /// Owners, in the order of the Safe's list.
    pub owners: Vec<Address>,
    /// Approvals that a transaction needs.
    pub threshold: U256,
    /// Modules, in the order of the Safe's list.
    pub modules: Vec<Address>,
    /// Its guard, zero for none.
    pub guard: Address,
    /// Its fallback handler, zero for none.
    pub fallback_handler: Address,
}

impl State {
    /// Reads the state from one node.
    pub async fn read(node: &RootProvider, setup: &Setup) -> Result<Self, Error> {
        let mut missing = Vec::new();
        for (name, address) in CANONICAL {
            if !has_code(node, address).await? {
                missing.push((name, address));
            }
        }
        let mut balances = BTreeMap::new();
        for lane in &setup.lanes {
            balances.insert(*lane, node.get_balance(*lane).await?);
        }
        let has_guard_code = match &setup.guard {
            Some(guard) => has_code(node, guard.address).await?,
            None => false,
        };
        Ok(Self {
            missing,
            safe: SafeState::read(node, setup.account.safe).await?,
            utility: SafeState::read(node, setup.account.utility).await?,
            has_guard_code,
            balances,
        })
    }
}

impl SafeState {
    async fn read(node: &RootProvider, address: Address) -> Result<Option<Self>, Error> {
        if !has_code(node, address).await? {
            return Ok(None);
        }
        let stored = async |slot: B256| node.get_storage_at(address, slot.into()).await.map(|word| low_address(&word));
        let safe = Safe::new(address, node);
        Ok(Some(Self {
            singleton: stored(B256::ZERO).await?,
            owners: safe.getOwners().call().await?,
            threshold: safe.getThreshold().call().await?,
            modules: safe.getModulesPaginated(SENTINEL, U256::from(MODULES)).call().await?.array,
            guard: stored(GUARD_SLOT).await?,
            fallback_handler: stored(FALLBACK_HANDLER_SLOT).await?,
        }))
    }
}

async fn has_code(node: &RootProvider, address: Address) -> Result<bool, Error> {
    Ok(!node.get_code_at(address).await?.is_empty())
}

fn low_address(word: &U256) -> Address {
    Address::from_word(B256::from(*word))
}
