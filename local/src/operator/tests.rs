use alloy::{
    hex,
    primitives::{Address, U256, keccak256},
    providers::{Provider, RootProvider, ext::AnvilApi},
    rpc::types::TransactionRequest,
    sol_types::SolCall,
};
use shared::{
    chain::{
        Chains,
        contracts::safe::Safe,
        transaction::{Execution, Operation, attribute, pack},
        wallet::{Call, CallKind, EmbeddedWallet, OperatorAccount, batch, execution},
    },
    model::{ArtistId, ChainId},
};

use super::{Guard, Guardian, Plan, PlanError, Setup, State, differences, execute};
use crate::{
    Error,
    chains::LocalChain,
    cloud::{self, Endpoints},
    node::{testing::start_with_contracts, transact},
    paths::Paths,
};

const GUARDIAN: Address = Address::repeat_byte(0x6a);
const GUARD: Address = Address::repeat_byte(0x6d);
const STRANGER: Address = Address::repeat_byte(0x57);
/// Code of a contract that answers 1 to everything, and so is a guard that allows everything.
const ANSWERS_ONE: [u8; 10] = hex!("600160005260206000f3");

/// A chain on which the operator's accounts can be set up.
struct Site {
    _anvil: LocalChain,
    node: RootProvider,
    setup: Setup,
}

impl Site {
    async fn new() -> Result<Self, Error> {
        let chains: Chains = r#"[{"id": 8453}]"#.parse()?;
        let anvil = start_with_contracts(chains.get(ChainId::DEFAULT)?).await?;
        let node: RootProvider = RootProvider::connect(&anvil.rpc_url).await?;
        node.anvil_set_code(GUARD, ANSWERS_ONE.into()).await?;
        let lanes = node.get_accounts().await?.into_iter().skip(1).take(3).collect();
        let account = OperatorAccount::born_of(GUARDIAN);
        let guard = Some(Guard::at(GUARD));
        let setup = Setup { account, guardian: GUARDIAN, lanes, guard, low_lane_balance: 20_000_000 };
        let site = Self { _anvil: anvil, node, setup };
        site.act_for(GUARDIAN).await?;
        Ok(site)
    }

    async fn act_for(&self, account: Address) -> Result<(), Error> {
        self.node.anvil_impersonate_account(account).await?;
        Ok(self.node.anvil_set_balance(account, U256::from(u64::MAX)).await?)
    }

    /// Makes the plan's transactions as its signer.
    async fn carry_out(&self) -> Result<Plan, Error> {
        let plan = Plan::new(&self.setup, &State::read(&self.node, &self.setup).await?)?;
        for step in &plan.steps {
            let call = &step.call;
            let transaction = TransactionRequest::default().from(plan.signer).to(call.target).value(call.value);
            let transaction = transaction.input(call.data.clone().into());
            let gas = self.node.estimate_gas(transaction.clone()).await?.max(step.least_gas);
            let receipt = self.node.eth_send_transaction_sync(transaction.gas_limit(gas)).await?;
            assert!(receipt.status(), "{}", step.name);
        }
        Ok(plan)
    }

    async fn send(&self, from: Address, call: &Call) -> Result<(), Error> {
        let transaction = TransactionRequest::default().from(from).to(call.target).value(call.value);
        let transaction = transaction.input(call.data.clone().into()).gas_limit(3_000_000);
        let receipt = self.node.eth_send_transaction_sync(transaction).await?;
        if receipt.status() { Ok(()) } else { Err(format!("{} reverted", receipt.transaction_hash).into()) }
    }

    async fn differences(&self) -> Result<Vec<String>, Error> {
        Ok(differences(&self.setup, &State::read(&self.node, &self.setup).await?))
    }

    /// A function of the operator Safe that only itself may call, called past everything.
    async fn tamper(&self, function: &impl SolCall) -> Result<(), Error> {
        let safe = self.setup.account.safe;
        self.act_for(safe).await?;
        self.send(safe, &Call::new(safe, function)).await
    }

    /// Whether a lane can make the artist's account act, deploying it where needed.
    async fn writes(&self, lane: Address, artist: &EmbeddedWallet) -> Result<bool, Error> {
        let call = Call::payment(STRANGER, U256::ZERO);
        let operations = [
            Operation::deployment(&self.setup.account, artist),
            Operation::new(artist.address(), &[call], 30_000, true),
        ];
        let packed = pack(self.setup.account.safe, lane, &operations);
        let sent = transact(&self.node, "batch", lane, packed.to, U256::ZERO, packed.data.to_vec()).await;
        let Ok(receipt) = sent else { return Ok(false) };
        let done = attribute(receipt.logs(), &operations);
        Ok(matches!(done[1], Execution::Executed { succeeded: true, .. }))
    }
}

#[test]
fn slots_are_those_of_the_contracts() {
    for (name, slot) in [
        ("guard_manager.guard.address", super::state::GUARD_SLOT),
        ("fallback_manager.handler.address", super::state::FALLBACK_HANDLER_SLOT),
    ] {
        assert_eq!(keccak256(name), slot, "{name}");
    }
}

#[tokio::test]
async fn kms_guardian_sets_a_chain_up_and_verify_finds_nothing() -> Result<(), Error> {
    let mut site = Site::new().await?;
    let paths = Paths::of_checkout();
    let (aws, _kms) = cloud::start(&paths, &paths.workshop("operator")).await?;
    let endpoints = Endpoints { aws: aws.clone(), dynamodb: String::new() };
    let (address, key) = endpoints.create_lane().await?;
    let guardian = Guardian::new(aws_sdk_kms::Client::new(&endpoints.sdk_config(&aws).await), key, address);
    (site.setup.guardian, site.setup.account) = (address, OperatorAccount::born_of(address));
    site.setup.guard = Guard::of_checkout(&paths, &site.setup.account)?.or(site.setup.guard);
    let deploys_guard = site.setup.guard.as_ref().is_some_and(|guard| guard.creation.is_some());
    site.node.anvil_set_balance(address, U256::from(u64::MAX)).await?;

    let plan = Plan::new(&site.setup, &State::read(&site.node, &site.setup).await?)?;
    let mut done = 0;
    execute(&site.node, &plan, &guardian, |_| done += 1).await?;
    assert_eq!(done, 3 + usize::from(deploys_guard), "two accounts, their set-up, and the guard");
    assert_eq!(site.differences().await?, [""; 0]);
    let again = Plan::new(&site.setup, &State::read(&site.node, &site.setup).await?)?;
    assert_eq!(again.steps, []);

    site.setup.lanes.pop();
    let change = Plan::new(&site.setup, &State::read(&site.node, &site.setup).await?)?;
    execute(&site.node, &change, &guardian, |_| ()).await?;
    assert_eq!(site.differences().await?, [""; 0]);
    let other = Plan { signer: GUARDIAN, ..change };
    assert!(execute(&site.node, &other, &guardian, |_| ()).await.is_err(), "another signer's plan");
    Ok(())
}

#[tokio::test]
async fn lanes_are_added_replaced_and_removed_while_artists_keep_their_accounts() -> Result<(), Error> {
    let mut site = Site::new().await?;
    let plan = site.carry_out().await?;
    assert_eq!((plan.signer, plan.steps.len()), (GUARDIAN, 3));
    assert_eq!(site.differences().await?, [""; 0]);
    let artist = EmbeddedWallet::new(site.setup.account.safe, ArtistId::random());
    let [first, second, third] = *site.setup.lanes else { return Err("three lanes".into()) };
    assert!(site.writes(first, &artist).await? && site.writes(third, &artist).await?);

    let new = site.node.get_accounts().await?[7];
    for (lanes, words) in [
        (vec![first, new, third], "replace the owner"),
        (vec![first, new, third, second], "add the lane"),
        (vec![new], "remove the owner"),
        (vec![second, third], "replace the owner"),
    ] {
        let former = std::mem::replace(&mut site.setup.lanes, lanes);
        let plan = site.carry_out().await?;
        assert!(plan.steps.len() == 1 && plan.steps[0].name.contains(words), "{plan:?}");
        assert_eq!(site.differences().await?, [""; 0]);
        for lane in &site.setup.lanes {
            assert!(site.writes(*lane, &artist).await?, "{lane} of {:?}", site.setup.lanes);
        }
        for lane in former.iter().filter(|lane| !site.setup.lanes.contains(lane)) {
            assert!(!site.writes(*lane, &artist).await?, "{lane} was removed");
        }
    }
    assert_eq!(Safe::new(artist.address(), &site.node).getOwners().call().await?, [site.setup.account.safe]);
    Ok(())
}

#[tokio::test]
async fn guardian_hands_over_to_another() -> Result<(), Error> {
    let mut site = Site::new().await?;
    site.carry_out().await?;
    site.setup.guardian = STRANGER;
    let plan = site.carry_out().await?;
    assert_eq!(plan.signer, GUARDIAN, "the guardian there is signs");
    assert_eq!(site.differences().await?, [""; 0]);

    site.act_for(STRANGER).await?;
    site.setup.lanes.pop();
    assert_eq!(site.carry_out().await?.signer, STRANGER);
    assert_eq!(site.differences().await?, [""; 0]);
    Ok(())
}

#[tokio::test]
async fn wrong_set_ups_are_named_and_put_right() -> Result<(), Error> {
    let mut site = Site::new().await?;
    let found = site.differences().await?;
    let account = site.setup.account;
    for words in [format!("the operator Safe {} isn't deployed", account.safe), format!("{} isn't", account.utility)] {
        assert!(found.iter().any(|difference| difference.contains(&words)), "{found:?}");
    }
    site.carry_out().await?;

    let (safe, lane) = (account.safe, site.setup.lanes[0]);
    let owners = Safe::new(safe, &site.node).getOwners().call().await?;
    let wrongs: [(&str, Vec<u8>); 6] = [
        ("a stranger", Safe::addOwnerWithThresholdCall { owner: STRANGER, _threshold: U256::ONE }.abi_encode()),
        ("the guardian, ", Safe::addOwnerWithThresholdCall { owner: GUARDIAN, _threshold: U256::ONE }.abi_encode()),
        ("needs 2 owners", Safe::changeThresholdCall { _threshold: U256::from(2) }.abi_encode()),
        ("is a module", Safe::enableModuleCall { module: STRANGER }.abi_encode()),
        ("fallback handler", Safe::setFallbackHandlerCall { handler: STRANGER }.abi_encode()),
        ("guard is none", Safe::setGuardCall { guard: Address::ZERO }.abi_encode()),
    ];
    site.act_for(safe).await?;
    for (words, data) in wrongs {
        site.send(safe, &Call { data: data.into(), ..Call::payment(safe, U256::ZERO) }).await?;
        let found = site.differences().await?;
        assert!(found.len() == 1 && found[0].contains(words), "{words}: {found:?}");
        site.carry_out().await?;
        assert_eq!(site.differences().await?, [""; 0], "after {words}");
    }
    let previous = owners.iter().position(|owner| *owner == lane).and_then(|at| owners.get(at.checked_sub(1)?));
    let previous = previous.copied().unwrap_or(super::state::SENTINEL);
    site.tamper(&Safe::removeOwnerCall { prevOwner: previous, owner: lane, _threshold: U256::ONE }).await?;
    assert_eq!(site.differences().await?, [format!("the lane {lane} doesn't own the operator Safe")]);
    site.carry_out().await?;

    // What no transaction of the guardian puts right.
    site.node.anvil_set_balance(lane, U256::ONE).await?;
    site.node.anvil_set_code(GUARD, Default::default()).await?;
    site.node.anvil_set_storage_at(safe, U256::ZERO, STRANGER.into_word()).await?;
    site.node.anvil_set_code(STRANGER, site.node.get_code_at(shared::chain::wallet::SINGLETON).await?).await?;
    let utility = account.utility;
    site.act_for(utility).await?;
    let enable = Safe::enableModuleCall { module: STRANGER };
    site.send(utility, &Call::new(utility, &enable)).await?;
    site.node.anvil_set_code(shared::chain::wallet::FALLBACK_HANDLER, Default::default()).await?;
    let found = site.differences().await?;
    for words in
        ["0 gwei", "no code of the guard", "runs the code of", "utility Safe has a module", "no code of the fallback"]
    {
        assert!(found.iter().any(|difference| difference.contains(words)), "{words}: {found:?}");
    }
    assert_eq!(found.len(), 5, "{found:?}");
    let planned = Plan::new(&site.setup, &State::read(&site.node, &site.setup).await?);
    assert!(matches!(planned, Err(PlanError::Missing("fallback handler", _))), "{planned:?}");

    // Without a guard in the configuration, that of the chain is a difference.
    site.setup.guard = None;
    assert!(site.differences().await?.iter().any(|difference| difference.contains("none is configured")));
    Ok(())
}

#[tokio::test]
async fn plans_that_lead_nowhere_are_refused() -> Result<(), Error> {
    let mut site = Site::new().await?;
    site.setup.account = OperatorAccount::at(STRANGER);
    let state = State::read(&site.node, &site.setup).await?;
    assert!(matches!(Plan::new(&site.setup, &state), Err(PlanError::OtherBirth { .. })));

    site.setup.account = OperatorAccount::born_of(GUARDIAN);
    site.carry_out().await?;
    let sentinel = super::state::SENTINEL;
    site.tamper(&Safe::disableModuleCall { prevModule: sentinel, module: GUARDIAN }).await?;
    let state = State::read(&site.node, &site.setup).await?;
    assert_eq!(Plan::new(&site.setup, &state), Err(PlanError::Unguarded));
    assert!(differences(&site.setup, &state)[0].contains("isn't a module"));
    site.setup.lanes.clear();
    assert_eq!(Plan::new(&site.setup, &state), Err(PlanError::NoLane));
    Ok(())
}

/// The guardian is a Safe: its people make the file's transactions all at once, as Safe's transaction builder does.
#[tokio::test]
async fn safe_guardian_makes_the_transactions_of_the_builder_file() -> Result<(), Error> {
    let mut site = Site::new().await?;
    let person = site.node.get_accounts().await?[8];
    let [birth, _] = OperatorAccount::creation(person);
    site.send(person, &birth).await?;
    let guardian = OperatorAccount::born_of(person).safe;
    (site.setup.guardian, site.setup.account) = (guardian, OperatorAccount::born_of(guardian));

    for lanes in [3, 2] {
        site.setup.lanes.truncate(lanes);
        let plan = Plan::new(&site.setup, &State::read(&site.node, &site.setup).await?)?;
        assert_eq!(plan.signer, guardian);
        let file = plan.builder_file(ChainId::DEFAULT);
        assert_eq!((&file["chainId"], &file["version"]), (&"8453".into(), &"1.0".into()));
        assert_eq!(file["meta"]["createdFromSafeAddress"], guardian.to_string());
        let mut calls = Vec::new();
        for transaction in file["transactions"].as_array().ok_or("no transactions")? {
            let text = |field: &str| transaction[field].as_str().unwrap_or_default().to_owned();
            let data = hex::decode(text("data"))?;
            calls.push(Call { target: text("to").parse()?, value: text("value").parse()?, data: data.into() });
        }
        assert_eq!(calls.len(), plan.steps.len());
        let all = execution(&batch(&calls), CallKind::DelegateCall, person);
        site.send(person, &Call::new(guardian, &all)).await?;
        assert_eq!(site.differences().await?, [""; 0]);
    }
    Ok(())
}

#[tokio::test]
async fn nobody_but_the_guardian_owns_what_is_deployed_before_it() -> Result<(), Error> {
    let site = Site::new().await?;
    for call in OperatorAccount::creation(GUARDIAN) {
        site.send(site.setup.lanes[0], &call).await?;
    }
    assert_eq!(Safe::new(site.setup.account.safe, &site.node).getOwners().call().await?, [GUARDIAN]);
    let plan = site.carry_out().await?;
    assert_eq!(plan.steps.len(), 1, "the deployments are done");
    assert_eq!(site.differences().await?, [""; 0]);
    Ok(())
}
