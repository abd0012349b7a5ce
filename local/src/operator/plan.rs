//! The transactions that make the operator's accounts what they should be.

use alloy::{
    primitives::{Address, Bytes, U256, hex},
    sol_types::SolCall,
};
use serde_json::{Value, json};
use shared::{
    chain::{
        contracts::safe::Safe,
        wallet::{Call, CallKind, OperatorAccount, batch, execution},
    },
    model::ChainId,
};

use super::{
    Setup,
    state::{SENTINEL, SafeState, State},
};

/// More gas than a module's transaction needs besides its changes.
const BASE_GAS: u64 = 150_000;
/// More gas than one change needs.
const CHANGE_GAS: u64 = 60_000;

/// A transaction and what it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// In words.
    pub name: String,
    /// The call.
    pub call: Call,
    /// Gas limit below which the call may have no effect; 0 where an estimate can be trusted.
    pub least_gas: u64,
}

/// Transactions that one signer makes, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The account that must sign all of them.
    pub signer: Address,
    /// The transactions; none if nothing is to be changed.
    pub steps: Vec<Step>,
}

/// Reason why there is no way to the set-up.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A contract that accounts need isn't deployed on the chain.
    #[error("the chain has no {0} at {1}: have it deployed first (docs/operations.md)")]
    Missing(&'static str, Address),
    /// The address of the operator Safe isn't the one that this guardian creates.
    #[error(
        "the operator Safe {safe} isn't deployed, and the guardian would create {created}: the guardian at its birth must"
    )]
    OtherBirth {
        /// Configured operator Safe.
        safe: Address,
        /// Operator Safe born of the guardian.
        created: Address,
    },
    /// Nobody may change the operator Safe any more.
    #[error("nobody can change the operator Safe: it has no module, and the guardian isn't its owner")]
    Unguarded,
    /// No lane is configured.
    #[error("OPERATOR_LANES names no lane")]
    NoLane,
}

impl Plan {
    /// The way from what is to what should be.
    pub fn new(setup: &Setup, state: &State) -> Result<Self, PlanError> {
        if let Some((name, address)) = state.missing.first() {
            return Err(PlanError::Missing(name, *address));
        }
        if setup.lanes.is_empty() {
            return Err(PlanError::NoLane);
        }
        let [safe_creation, _] = OperatorAccount::creation(setup.guardian);
        let mut steps = Vec::new();
        let mut step = |name: &str, call: &Call| {
            steps.push(Step { name: name.to_owned(), call: call.clone(), least_gas: 0 });
        };
        let born = SafeState::born_of(setup.guardian);
        let safe = match &state.safe {
            Some(safe) => safe,
            None => {
                let created = OperatorAccount::born_of(setup.guardian).safe;
                if created != setup.account.safe {
                    return Err(PlanError::OtherBirth { safe: setup.account.safe, created });
                }
                step("deploy the operator Safe", &safe_creation);
                &born
            }
        };
        if state.utility.is_none() {
            step("deploy the utility Safe", &setup.account.utility_creation());
        }
        if let Some(creation) =
            setup.guard.as_ref().filter(|_| !state.has_guard_code).and_then(|it| it.creation.as_ref())
        {
            step("deploy the guard", creation);
        }
        let (signer, is_module) = signer(setup, safe)?;
        let (names, changes) = changes(setup, safe);
        if !changes.is_empty() {
            let call = made_by(signer, is_module, setup.account.safe, &changes);
            // A module's transaction that runs out of gas doesn't revert, so an estimate can be too low.
            let least_gas = if is_module { BASE_GAS + CHANGE_GAS * changes.len() as u64 } else { 0 };
            steps.push(Step { name: names.join(", "), call, least_gas });
        }
        Ok(Self { signer, steps })
    }

    /// The file that the transaction builder of Safe's wallet reads.
    pub fn builder_file(&self, chain: ChainId) -> Value {
        let transactions: Vec<_> = self.steps.iter().map(|step| transaction(&step.call)).collect();
        let names: Vec<_> = self.steps.iter().map(|step| step.name.as_str()).collect();
        json!({
            "version": "1.0",
            "chainId": chain.to_string(),
            "createdAt": 0,
            "meta": {
                "name": "Moments: the operator's accounts",
                "description": names.join("; "),
                "createdFromSafeAddress": self.signer.to_string(),
            },
            "transactions": transactions,
        })
    }
}

fn transaction(call: &Call) -> Value {
    json!({
        "to": call.target.to_string(),
        "value": call.value.to_string(),
        "data": hex::encode_prefixed(&call.data),
        "contractMethod": null,
        "contractInputsValues": null,
    })
}

impl SafeState {
    fn born_of(guardian: Address) -> Self {
        Self {
            singleton: shared::chain::wallet::OPERATOR_SINGLETON,
            owners: vec![guardian],
            threshold: U256::ONE,
            modules: Vec::new(),
            guard: Address::ZERO,
            fallback_handler: Address::ZERO,
        }
    }
}

/// Who may change the Safe, and whether as its module: a module passes the guard, an owner may not.
fn signer(setup: &Setup, safe: &SafeState) -> Result<(Address, bool), PlanError> {
    let guardian = setup.guardian;
    match safe.modules.first() {
        _ if safe.modules.contains(&guardian) => Ok((guardian, true)),
        _ if safe.owners.contains(&guardian) => Ok((guardian, false)),
        Some(other) => Ok((*other, true)),
        None => Err(PlanError::Unguarded),
    }
}

/// The signer's transaction in which the Safe changes itself, all or nothing.
fn made_by(signer: Address, is_module: bool, safe: Address, changes: &[Call]) -> Call {
    let all = batch(changes);
    if !is_module {
        return Call::new(safe, &execution(&all, CallKind::DelegateCall, signer));
    }
    let operation = CallKind::DelegateCall as u8;
    Call::new(
        safe,
        &Safe::execTransactionFromModuleCall { to: all.target, value: all.value, data: all.data, operation },
    )
}

/// What the Safe must do to itself, with names. The guard comes last: it mustn't stop the others.
fn changes(setup: &Setup, safe: &SafeState) -> (Vec<String>, Vec<Call>) {
    let mut changes = Changes { safe: setup.account.safe, names: Vec::new(), calls: Vec::new() };
    changes.modules(setup.guardian, safe);
    changes.owners(&setup.lanes, safe);
    if safe.threshold != U256::ONE {
        changes.push("set the threshold to 1".to_owned(), &Safe::changeThresholdCall { _threshold: U256::ONE });
    }
    if safe.fallback_handler != Address::ZERO {
        let none = Safe::setFallbackHandlerCall { handler: Address::ZERO };
        changes.push("remove the fallback handler".to_owned(), &none);
    }
    let guard = setup.guard.as_ref().map_or(Address::ZERO, |guard| guard.address);
    if safe.guard != guard {
        changes.push(format!("set the guard to {guard}"), &Safe::setGuardCall { guard });
    }
    (changes.names, changes.calls)
}

struct Changes {
    safe: Address,
    names: Vec<String>,
    calls: Vec<Call>,
}

impl Changes {
    fn push(&mut self, name: String, function: &impl SolCall) {
        self.names.push(name);
        self.calls.push(Call::new(self.safe, function));
    }

    fn modules(&mut self, guardian: Address, safe: &SafeState) {
        let mut modules = safe.modules.clone();
        if !modules.contains(&guardian) {
            self.push(format!("make the guardian {guardian} a module"), &Safe::enableModuleCall { module: guardian });
            modules.insert(0, guardian);
        }
        while let Some(at) = modules.iter().position(|module| *module != guardian) {
            let (before, module) = (previous(&modules, at), modules.remove(at));
            let call = Safe::disableModuleCall { prevModule: before, module };
            self.push(format!("remove the module {module}"), &call);
        }
    }

    fn owners(&mut self, lanes: &[Address], safe: &SafeState) {
        let mut owners = safe.owners.clone();
        let missing: Vec<_> = lanes.iter().filter(|lane| !safe.owners.contains(lane)).collect();
        for lane in missing {
            match owners.iter().position(|owner| !lanes.contains(owner)) {
                Some(at) => {
                    let (before, old) = (previous(&owners, at), std::mem::replace(&mut owners[at], *lane));
                    let call = Safe::swapOwnerCall { prevOwner: before, oldOwner: old, newOwner: *lane };
                    self.push(format!("replace the owner {old} by the lane {lane}"), &call);
                }
                None => {
                    let call = Safe::addOwnerWithThresholdCall { owner: *lane, _threshold: safe.threshold };
                    self.push(format!("add the lane {lane}"), &call);
                    owners.insert(0, *lane);
                }
            }
        }
        while let Some(at) = owners.iter().position(|owner| !lanes.contains(owner)) {
            let (before, owner) = (previous(&owners, at), owners.remove(at));
            let call = Safe::removeOwnerCall { prevOwner: before, owner, _threshold: U256::ONE };
            self.push(format!("remove the owner {owner}"), &call);
        }
    }
}

/// What comes before an entry in a Safe's list.
fn previous(list: &[Address], at: usize) -> Address {
    at.checked_sub(1).map_or(SENTINEL, |before| list[before])
}

/// Whether a module's transaction would succeed: Safe answers `false` where it fails, and doesn't revert.
pub(super) fn reported_success(call: &Call, answer: &Bytes) -> bool {
    !call.data.starts_with(&Safe::execTransactionFromModuleCall::SELECTOR)
        || Safe::execTransactionFromModuleCall::abi_decode_returns(answer) == Ok(true)
}
