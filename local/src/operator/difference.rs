use alloy::primitives::{Address, U256};
use shared::chain::wallet;

use super::{
    Setup,
    state::{SafeState, State},
};

/// Wei in a billionth of the currency.
const GWEI: u64 = 1_000_000_000;

/// Every difference between what the accounts should be and what they are, a sentence each; none if all is well.
pub fn differences(setup: &Setup, state: &State) -> Vec<String> {
    let mut found: Vec<String> =
        state.missing.iter().map(|(name, address)| format!("no code of the {name} at {address}")).collect();
    if setup.lanes.is_empty() {
        found.push("no lane is configured".to_owned());
    }
    match &state.safe {
        Some(safe) => operator_safe(setup, safe, &mut found),
        None => found.push(format!("the operator Safe {} isn't deployed", setup.account.safe)),
    }
    match &state.utility {
        Some(utility) => utility_safe(setup, utility, &mut found),
        None => found.push(format!("the utility Safe {} isn't deployed", setup.account.utility)),
    }
    if let Some(guard) = setup.guard.as_ref().filter(|_| !state.has_guard_code) {
        found.push(format!("no code of the guard at {}", guard.address));
    }
    let least = U256::from(setup.low_lane_balance) * U256::from(GWEI);
    for (lane, balance) in state.balances.iter().filter(|(_, balance)| **balance < least) {
        found.push(format!(
            "the lane {lane} has {} gwei, less than {}",
            balance / U256::from(GWEI),
            setup.low_lane_balance
        ));
    }
    found
}

fn operator_safe(setup: &Setup, safe: &SafeState, found: &mut Vec<String>) {
    let guardian = setup.guardian;
    if safe.singleton != wallet::OPERATOR_SINGLETON {
        found.push(format!("the operator Safe runs the code of {}", safe.singleton));
    }
    if safe.threshold != U256::ONE {
        found.push(format!("the operator Safe needs {} owners for a transaction, not 1", safe.threshold));
    }
    for lane in setup.lanes.iter().filter(|lane| !safe.owners.contains(lane)) {
        found.push(format!("the lane {lane} doesn't own the operator Safe"));
    }
    for owner in safe.owners.iter().filter(|owner| !setup.lanes.contains(owner)) {
        let who = if *owner == guardian { "the guardian" } else { "a stranger" };
        found.push(format!("{who}, {owner}, owns the operator Safe"));
    }
    if !safe.modules.contains(&guardian) {
        found.push(format!("the guardian {guardian} isn't a module of the operator Safe"));
    }
    for module in safe.modules.iter().filter(|module| **module != guardian) {
        found.push(format!("a stranger, {module}, is a module of the operator Safe"));
    }
    if safe.fallback_handler != Address::ZERO {
        found.push(format!("the operator Safe has the fallback handler {}", safe.fallback_handler));
    }
    match &setup.guard {
        Some(guard) if safe.guard != guard.address => {
            let has = if safe.guard == Address::ZERO { "none".to_owned() } else { safe.guard.to_string() };
            found.push(format!("the operator Safe's guard is {has} instead of {}", guard.address));
        }
        None if safe.guard != Address::ZERO => {
            found.push(format!("the operator Safe has the guard {}, and none is configured", safe.guard));
        }
        _ => {}
    }
}

fn utility_safe(setup: &Setup, utility: &SafeState, found: &mut Vec<String>) {
    if utility.owners != [setup.account.safe] || utility.threshold != U256::ONE {
        found.push(format!("the utility Safe {} isn't the operator Safe's alone", setup.account.utility));
    }
    if utility.singleton != wallet::SINGLETON {
        found.push(format!("the utility Safe runs the code of {}", utility.singleton));
    }
    if !utility.modules.is_empty() || utility.guard != Address::ZERO {
        found.push("the utility Safe has a module or a guard".to_owned());
    }
}
