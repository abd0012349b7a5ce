//! What lanes and the guardian need goes through, and what needs no guard is refused by the Safes themselves.

use alloy::{
    primitives::{Address, B256, U256, keccak256},
    providers::Provider,
    signers::{SignerSync, local::PrivateKeySigner},
    sol_types::SolCall,
};

use super::{
    encoding::{Entry, Exec, NO_TOKEN, SENTINEL, Safe, multi_send, pack},
    setting::{Error, GUARDIAN, LANES, STOLEN, STOLEN_KEY, Setting, TARGET, THIEF},
};

const AN_EIGHTH: U256 = U256::from_limbs([125_000_000_000_000_000, 0, 0, 0]);

/// Sends a batch of the operator's Safe, which must go through. Returns the gas used.
async fn batch(setting: &Setting, lane: Address, entries: &[Entry]) -> Result<u64, Error> {
    let call = Exec::delegatecall(lane, setting.multi_send, multi_send(pack(entries))).encode();
    let answer = setting.try_call(lane, setting.operator, &call).await?;
    assert_eq!(answer, Ok(()), "a batch is refused");
    let receipt = setting.send(lane, setting.operator, call).await?;
    assert!(receipt.status());
    Ok(receipt.gas_used)
}

/// A write as the service sends it: with its gas capped.
fn write(setting: &Setting, account: Address, exec: Exec) -> Entry {
    let capped = Exec { safe_gas: 60_000, gas_price: 1, gas_token: NO_TOKEN, ..exec };
    let signatures = super::encoding::approved_by(setting.operator);
    Entry::new(account, Exec { signatures, ..capped }.encode())
}

#[tokio::test]
async fn every_lane_writes_for_every_account() -> Result<(), Error> {
    let setting = Setting::start("writes", true).await?;
    let to_target = || Exec { to: TARGET, ..Exec::default() };
    for lane in LANES {
        let writes: Vec<_> = setting.accounts.iter().map(|account| write(&setting, *account, to_target())).collect();
        batch(&setting, lane, &writes).await?;
        batch(&setting, lane, &writes[..1]).await?;
        batch(&setting, lane, &[]).await?;
    }
    assert_eq!(setting.calls_of(setting.account()).await?, 6);
    assert_eq!(setting.calls_of(setting.accounts[19]).await?, 3);
    Ok(())
}

#[tokio::test]
async fn accounts_run_batches_and_spend_their_own_money() -> Result<(), Error> {
    let setting = Setting::start("batches", true).await?;
    let entry = |value| Entry { value, ..Entry::new(TARGET, vec![1, 2, 3]) };
    let calls = multi_send(pack(&[entry(U256::ZERO), entry(AN_EIGHTH)]));
    let nested = Exec { to: setting.multi_send, data: calls, operation: 1, ..Exec::default() };
    let paying = Exec { to: TARGET, value: AN_EIGHTH, ..Exec::default() };
    let account = setting.account();
    let nested = Exec { safe_gas: 200_000, ..nested };
    let signatures = super::encoding::approved_by(setting.operator);
    let nested = Entry::new(account, Exec { signatures, ..nested }.encode());
    batch(&setting, LANES[0], &[nested, write(&setting, account, paying)]).await?;
    assert_eq!(setting.calls_of(account).await?, 3);
    assert_eq!(setting.node.get_balance(TARGET).await?, AN_EIGHTH + AN_EIGHTH);
    Ok(())
}

#[tokio::test]
async fn accounts_are_deployed_and_write_in_the_same_batch() -> Result<(), Error> {
    let setting = Setting::start("deployments", true).await?;
    let creation = Setting::creation(setting.singleton, setting.account_setup(), 1_000);
    let account = setting.creates(&creation).await?;
    // It reverts where the account is there already, so that a second deployment costs little.
    let empty = Safe::setupCall {
        owners: Vec::new(),
        threshold: U256::ZERO,
        to: Address::ZERO,
        data: [].into(),
        fallbackHandler: Address::ZERO,
        paymentToken: Address::ZERO,
        payment: U256::ZERO,
        paymentReceiver: Address::ZERO,
    };
    let calls = [Entry::new(account, empty.abi_encode()), Entry::new(setting.factory, creation)];
    let deployment = Exec {
        safe_gas: 400_000,
        gas_price: 1,
        gas_token: NO_TOKEN,
        ..Exec::delegatecall(setting.operator, setting.multi_send, multi_send(pack(&calls)))
    };
    let deployment = Entry::new(setting.utility, deployment.encode());
    let first = write(&setting, account, Exec { to: TARGET, ..Exec::default() });
    batch(&setting, LANES[0], &[deployment.clone(), first.clone()]).await?;
    batch(&setting, LANES[1], &[deployment, first]).await?;
    assert_eq!(setting.calls_of(account).await?, 2);
    let direct = Setting::creation(setting.singleton, setting.account_setup(), 1_001);
    let other = setting.creates(&direct).await?;
    batch(&setting, LANES[0], &[Entry::new(setting.factory, direct)]).await?;
    assert!(!setting.node.get_code_at(other).await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn the_guardian_replaces_a_lane_and_takes_the_guard_off() -> Result<(), Error> {
    let setting = Setting::start("guardian", true).await?;
    let new = THIEF;
    // Owners are listed newest first, and the stolen lane is the newest.
    setting.by_guardian(Safe::swapOwnerCall { previous: SENTINEL, old: STOLEN, new_: new }.abi_encode()).await?;
    let entry = write(&setting, setting.account(), Exec { to: TARGET, ..Exec::default() });
    batch(&setting, new, std::slice::from_ref(&entry)).await?;
    batch(&setting, LANES[0], std::slice::from_ref(&entry)).await?;
    let call = Exec::delegatecall(STOLEN, setting.multi_send, multi_send(pack(std::slice::from_ref(&entry)))).encode();
    assert!(!setting.send(STOLEN, setting.operator, call).await?.status(), "the old lane still writes");
    assert_eq!(setting.calls_of(setting.account()).await?, 2);
    setting.by_guardian(Safe::setGuardCall { guard: Address::ZERO }.abi_encode()).await?;
    let plain = Exec::call(LANES[0], TARGET, Vec::new()).encode();
    assert!(setting.send(LANES[0], setting.operator, plain).await?.status());
    assert_eq!(setting.calls_of(setting.operator).await?, 1);
    Ok(())
}

/// No guard is asked of these: the Safes themselves refuse them.
#[tokio::test]
async fn past_the_operators_safe_a_lanes_key_counts_for_nothing() -> Result<(), Error> {
    let setting = Setting::start("past", true).await?;
    let (operator, account, key) = (setting.operator, setting.account(), PrivateKeySigner::from_bytes(&STOLEN_KEY)?);
    let before = setting.state().await?;
    let take = Safe::swapOwnerCall { previous: SENTINEL, old: operator, new_: THIEF }.abi_encode();
    let mut exec = Exec::call(operator, account, take.clone());
    let hash = setting.hash(account, &exec).await?;
    let signature = key.sign_hash_sync(&hash)?.as_bytes().to_vec();
    // Of the operator's Safe as a contract (ERC-1271), in which the lane's signature would count.
    let contract = [
        operator.into_word().as_slice(),
        &U256::from(65).to_be_bytes::<32>(),
        &[0],
        &U256::from(signature.len()).to_be_bytes::<32>(),
        &signature,
    ]
    .concat();
    for (name, sender, signatures) in [
        ("approved by the lane as sender", STOLEN, super::encoding::approved_by(STOLEN)),
        ("approved by the operator's Safe, which isn't the sender", STOLEN, super::encoding::approved_by(operator)),
        ("signed by the lane", THIEF, signature.clone()),
        ("signed by the lane for the operator's Safe", THIEF, contract),
    ] {
        exec.signatures = signatures;
        assert!(!setting.send(sender, account, exec.encode()).await?.status(), "{name}");
        assert_eq!(setting.state().await?, before, "{name}");
    }
    for (name, data) in [
        (
            "a module's call",
            Safe::execTransactionFromModuleCall { to: operator, value: U256::ZERO, data: take.into(), operation: 0 }
                .abi_encode(),
        ),
        ("a new set-up", super::encoding::setup(THIEF, Address::ZERO)),
        ("a change of the guard", Safe::setGuardCall { guard: Address::ZERO }.abi_encode()),
    ] {
        for safe in [operator, setting.utility, account] {
            assert!(!setting.send(STOLEN, safe, data.clone()).await?.status(), "{name}");
        }
    }
    assert_eq!(setting.state().await?, before);
    Ok(())
}

/// An approval that a lane gives in advance is checked like anything else when it is used.
#[tokio::test]
async fn a_hash_that_a_lane_approved_in_advance_is_guarded_when_it_is_used() -> Result<(), Error> {
    let setting = Setting::start("approved", true).await?;
    let no_guard = Safe::setGuardCall { guard: Address::ZERO }.abi_encode();
    let exec = Exec::call(STOLEN, setting.operator, no_guard);
    let hash: B256 = setting.hash(setting.operator, &exec).await?;
    assert_ne!(hash, keccak256([]));
    let approve = Safe::approveHashCall { hash }.abi_encode();
    assert!(setting.send(STOLEN, setting.operator, approve).await?.status());
    let before = setting.state().await?;
    let answer = setting.try_call(GUARDIAN, setting.operator, &exec.encode()).await?;
    assert_eq!(answer, Err("NotABatch".to_owned()));
    assert!(!setting.send(GUARDIAN, setting.operator, exec.encode()).await?.status());
    assert_eq!(setting.state().await?, before);
    Ok(())
}

/// What a lane can do all the same (README.md of `contracts`): act as accounts, until the guardian removes it.
#[tokio::test]
async fn a_stolen_lane_spends_accounts_money() -> Result<(), Error> {
    let setting = Setting::start("spends", true).await?;
    let pays = Exec { to: THIEF, value: AN_EIGHTH, ..Exec::default() };
    let before = setting.node.get_balance(THIEF).await?;
    batch(&setting, STOLEN, &[write(&setting, setting.account(), pays)]).await?;
    assert_eq!(setting.node.get_balance(THIEF).await? - before, AN_EIGHTH);
    Ok(())
}

/// The guard's share of a write's gas; printed.
#[tokio::test]
async fn the_guards_gas_is_a_few_thousand_a_write() -> Result<(), Error> {
    let (guarded, plain) = tokio::try_join!(Setting::start("gas-guarded", true), Setting::start("gas-plain", false))?;
    for count in [1, 5, 20] {
        let mut used = [0, 0];
        for (setting, used) in [&guarded, &plain].into_iter().zip(&mut used) {
            let exec = || Exec { to: TARGET, data: vec![7; 200], ..Exec::default() };
            let writes: Vec<_> = setting.accounts[..count].iter().map(|one| write(setting, *one, exec())).collect();
            // The first time fills slots.
            batch(setting, LANES[0], &writes).await?;
            *used = batch(setting, LANES[0], &writes).await?;
        }
        let share = (used[0] - used[1]) / count as u64;
        println!("batch of {count}: {} gas, {} without the guard: {share} a write", used[0], used[1]);
        assert!(share < if count == 1 { 15_000 } else { 7_500 }, "{share}");
    }
    Ok(())
}
