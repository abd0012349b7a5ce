//! Hostile operations spend their own gas and nothing else.

use alloy::{
    primitives::{Address, B256, Bytes, U256},
    providers::{Provider, ext::AnvilApi},
    rpc::types::TransactionRequest,
    sol_types::{SolCall, SolEvent},
};
use local::Error;
use shared::chain::{
    contracts::safe::Safe,
    transaction::{Execution, Load, MAX_TRANSACTION_BYTES, MAX_TRANSACTION_GAS, Operation, pack, refusal},
    wallet::{Call, CallKind, EmbeddedWallet, batch, execution},
};

use crate::site::{Hostile, Site};

/// A hostile operation by its name, and whether its own call succeeds.
type Case = (&'static str, Operation, bool);

/// The calls and the cap of the account with this index.
type Plan<'a> = Box<dyn Fn(usize) -> (Vec<Call>, u64) + 'a>;

/// The hostile operations of an account whose neighbour is in the same batch.
fn cases(site: &Site, artist: &EmbeddedWallet, neighbour: &EmbeddedWallet) -> Vec<Case> {
    let by = |calls: &[Call], gas| Operation::new(artist.address(), calls, gas, false);
    let one = |function: &dyn Fn() -> Vec<u8>, gas| {
        by(&[Call { data: function().into(), ..Call::payment(site.hostile, U256::ZERO) }], gas)
    };
    let inner = Call::payment(Address::repeat_byte(0x77), U256::ONE);
    let of_neighbour = execution(&inner, CallKind::Call, site.account.safe).abi_encode();
    let again = Operation::new(neighbour.address(), std::slice::from_ref(&inner), 50_000, false);
    let of_operator = pack(site.account.safe, site.lanes[0], &[again]).data;
    let reenter =
        |to: Address, data: &[u8]| by(&[site.call(&Hostile::reenterCall { to, data: data.to_vec().into() })], 400_000);
    let bomb = |succeeds| one(&|| Hostile::bombCall { size: U256::from(1_000_000), succeeds }.abi_encode(), 3_000_000);
    let to = |target, data: &[u8]| Call { data: Bytes::copy_from_slice(data), ..Call::payment(target, U256::ZERO) };
    let fail = site.call(&Hostile::failCall { code: U256::ONE });
    let write = site.call(&Hostile::writeCall { seed: U256::ONE, count: U256::ONE });
    vec![
        ("reverts", by(std::slice::from_ref(&fail), 150_000), false),
        ("one of its calls reverts", by(&[write.clone(), fail], 150_000), false),
        (
            "runs out of gas",
            one(&|| Hostile::writeCall { seed: U256::MAX, count: U256::from(9) }.abi_encode(), 150_000),
            false,
        ),
        ("loops", one(&|| Hostile::loopCall {}.abi_encode(), 500_000), false),
        ("burns all", one(&|| Hostile::burnCall {}.abi_encode(), 500_000), false),
        ("burns all in a batch of its own", by(&[write, site.call(&Hostile::burnCall {})], 500_000), false),
        ("pays a burner", by(&[Call::payment(site.hostile, U256::ONE)], 150_000), false),
        ("reverts with a megabyte", bomb(false), false),
        ("answers a megabyte", bomb(true), true),
        (
            "burns what is beyond its estimate",
            one(&|| Hostile::spiteCall { threshold: U256::from(20_000) }.abi_encode(), 150_000),
            false,
        ),
        (
            "demands much more than it uses",
            one(&|| Hostile::demandCall { least: U256::from(13_800_000) }.abi_encode(), 200_000),
            false,
        ),
        ("pays more than it has", by(&[Call::payment(Address::repeat_byte(1), U256::MAX)], 50_000), false),
        ("forges events", one(&|| Hostile::forgeCall { hash: B256::repeat_byte(1) }.abi_encode(), 100_000), true),
        ("reenters the operator Safe", reenter(site.account.safe, &of_operator), true),
        ("reenters another account", reenter(neighbour.address(), &of_neighbour), true),
        ("calls the operator Safe as the account", by(&[to(site.account.safe, &of_operator)], 400_000), false),
        ("calls another account as the account", by(&[to(neighbour.address(), &of_neighbour)], 400_000), false),
    ]
}

#[tokio::test]
async fn hostile_operations_leave_the_others_alone_wherever_they_are() -> Result<(), Error> {
    let site = Site::new("hostile").await?;
    let artists = site.artists(5).await?;
    let mut seed = 0;
    for (name, hostile, succeeds) in cases(&site, &artists[0], &artists[1]) {
        for at in [0, 2, 4] {
            seed += 10;
            let good = artists[1..].iter().zip(seed..).map(|(artist, seed)| site.write(artist, seed));
            let mut operations: Vec<_> = good.collect();
            operations.insert(at, hostile.clone());
            let paid = site.node.get_balance(Address::repeat_byte(0x77)).await?;
            let sent = site.send(site.lanes[0], &operations).await;
            if site.is_guarded && !hostile.passes_guard(site.account.safe) {
                assert!(sent.is_err(), "{name}: the guard refuses the batch");
                continue;
            }
            let sent = sent.map_err(|error| format!("{name}: {error}"))?;
            let mut expected = vec![true; 5];
            expected[at] = succeeds;
            assert_eq!(sent.succeeded(), expected, "{name} at {at}");
            let most = hostile.gas + 3_100 + if hostile.call.value.is_zero() { 0 } else { 34_000 };
            assert!(sent.gas(at) <= most, "{name} used {}", sent.gas(at));
            assert_eq!(site.node.get_balance(Address::repeat_byte(0x77)).await?, paid, "{name} paid for another");
            for (index, artist) in (0..5).filter(|index| *index != at).zip(&artists[1..]) {
                let Execution::Executed { gas, logs, .. } = &sent.executions[index] else { continue };
                let wrote: Vec<_> = logs.iter().filter_map(|log| log.log_decode::<Hostile::Wrote>().ok()).collect();
                assert!(logs.len() == 1 && wrote[0].inner.by == artist.address(), "{name}: {logs:?}");
                assert!((70_000..75_000).contains(gas), "{name}: a write used {gas}");
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn guard_refuses_batches_with_what_is_known_not_to_pass_it() -> Result<(), Error> {
    let site = Site::new("guard").await?;
    let artists = site.artists(2).await?;
    let (own, safe) = (artists[0].address(), site.account.safe);
    let pay = |target| Call::payment(target, U256::ZERO);
    let fine = pay(artists[1].address());
    for (passes, calls) in [
        (true, vec![fine.clone()]),
        (true, vec![fine.clone(), fine.clone()]),
        (false, vec![pay(safe)]),
        (false, vec![pay(own)]),
        (false, vec![pay(Address::ZERO)]),
        (false, vec![fine.clone(), pay(safe)]),
        (false, vec![pay(own), fine.clone()]),
        (false, vec![fine.clone(), pay(Address::ZERO)]),
    ] {
        let operation = Operation::new(own, &calls, 60_000, false);
        assert_eq!(operation.passes_guard(safe), passes, "{calls:?}");
        if site.is_guarded {
            assert_eq!(site.send(site.lanes[0], &[operation]).await.is_ok(), passes, "{calls:?}");
        }
    }
    let foreign = Operation { kind: CallKind::DelegateCall, ..Operation::new(own, &[fine], 60_000, false) };
    assert!(!foreign.passes_guard(safe), "an account runs no foreign code");
    Ok(())
}

#[tokio::test]
async fn reentry_is_refused_by_every_safe() -> Result<(), Error> {
    let site = Site::new("reentry").await?;
    let artists = site.artists(2).await?;
    for (name, operation, _) in
        cases(&site, &artists[0], &artists[1]).into_iter().filter(|it| it.0.contains("reenters"))
    {
        let sent = site.send(site.lanes[0], &[operation]).await?;
        let Execution::Executed { logs, .. } = &sent.executions[0] else { return Err(name.into()) };
        let told =
            logs.iter().find(|log| log.topic0() == Some(&Hostile::Reentered::SIGNATURE_HASH)).ok_or("no event")?;
        assert!(!told.log_decode::<Hostile::Reentered>()?.inner.succeeded, "{name}");
    }
    Ok(())
}

/// As many operations as a transaction holds, each of which burns all that it may: the computed limit is enough for
/// all of them, so each fails on its own.
#[tokio::test]
async fn full_batches_of_burners_never_revert() -> Result<(), Error> {
    let site = Site::new("burners").await?;
    let artists = site.artists(110).await?;
    let burn = |extra: usize| {
        let mut call = site.call(&Hostile::burnCall {});
        call.data = [&call.data[..], &vec![7; extra]].concat().into();
        call
    };
    let pay = Call::payment(site.hostile, U256::ONE);
    // Accounts that nothing has touched: a payment creates them, a call finds them cold.
    let strange = |index: usize| Address::repeat_byte(0x80 + u8::try_from(index % 100).unwrap_or_default());
    let plans: [(&str, Plan); 12] = [
        ("burn 100,000", Box::new(|_| (vec![burn(0)], 100_000))),
        ("burn 30,000 with 1 kB", Box::new(|_| (vec![burn(1_000)], 30_000))),
        ("burn 300,000 with 10 kB", Box::new(|_| (vec![burn(10_000)], 300_000))),
        ("burn 1,000,000", Box::new(|_| (vec![burn(0)], 1_000_000))),
        ("burn in batches of three", Box::new(|_| (vec![burn(0), pay.clone(), burn(100)], 150_000))),
        (
            "burn after 60 calls of nothing",
            Box::new(|_| {
                let nothing = Call::payment(site.lanes[2], U256::ZERO);
                ([vec![nothing; 60], vec![burn(0)]].concat(), 120_000)
            }),
        ),
        ("burn all of a transaction", Box::new(|_| (vec![burn(0)], 15_000_000))),
        ("burn all of a transaction of 60 kB", Box::new(|_| (vec![burn(60_000)], 13_000_000))),
        ("pay the burner", Box::new(|_| (vec![pay.clone()], 60_000))),
        ("pay newcomers", Box::new(|index| (vec![Call::payment(strange(index), U256::ONE)], 1))),
        ("burn 1", Box::new(|_| (vec![burn(0)], 1))),
        (
            "small ones, then a large one",
            Box::new(|index| (vec![burn(0)], if index < 60 { 60_000 } else { 4_000_000 })),
        ),
    ];
    let mut lines = Vec::new();
    for (name, plan) in &plans {
        let (mut load, mut operations) = (Load::default(), Vec::new());
        for (index, artist) in artists.iter().enumerate() {
            let (calls, gas) = plan(index);
            let operation = Operation::new(artist.address(), &calls, gas, false);
            if !load.with(&operation).fits(MAX_TRANSACTION_GAS, MAX_TRANSACTION_BYTES) {
                break;
            }
            load = load.with(&operation);
            operations.push(operation);
        }
        let sent = site.send(site.lanes[1], &operations).await.map_err(|error| format!("{name}: {error}"))?;
        assert!(sent.executions.iter().all(|it| matches!(it, Execution::Executed { .. })), "{name}");
        for (index, operation) in operations.iter().enumerate().filter(|_| name.contains("burn")) {
            // Sent value comes with 2,300 gas for the receiver.
            let least = operation.gas - operation.gas / 50;
            assert!(sent.gas(index) >= least, "{name}: {index} got {} of {}", sent.gas(index), operation.gas);
        }
        let used = sent.receipt.gas_used;
        lines.push(format!("{name}: {} operations, {used} of {} gas", operations.len(), sent.gas_limit));
        assert!(used <= sent.gas_limit);
    }
    println!("guarded: {}\n{}", site.is_guarded, lines.join("\n"));
    Ok(())
}

#[tokio::test]
async fn account_of_another_owner_is_told_before_it_reverts_a_batch() -> Result<(), Error> {
    let site = Site::new("foreign").await?;
    let artists = site.artists(3).await?;
    let (gone, new_owner) = (artists[1].address(), Address::repeat_byte(0x99));
    let operations: Vec<_> = artists.iter().zip(1..).map(|(artist, seed)| site.write(artist, seed)).collect();
    let check =
        async || refusal(&site.asked, site.lanes[0], &pack(site.account.safe, site.lanes[0], &operations)).await;
    assert_eq!(check().await?, None);

    // Past the guard, which keeps lanes from handing accounts over.
    site.node.anvil_impersonate_account(gone).await?;
    let (sentinel, old) = (Address::with_last_byte(1), site.account.safe);
    let swap = Safe::swapOwnerCall { prevOwner: sentinel, oldOwner: old, newOwner: new_owner };
    let transaction = TransactionRequest::default().from(gone).to(gone).input(swap.abi_encode().into());
    assert!(site.node.eth_send_transaction_sync(transaction).await?.status());

    assert!(check().await?.is_some(), "the batch would revert");
    assert!(site.send(site.lanes[0], &operations).await.is_err(), "and it does");
    // In halves, as the relay does it, the others' writes go through.
    assert_eq!(site.send(site.lanes[0], &operations[..1]).await?.succeeded(), [true]);
    assert_eq!(site.send(site.lanes[0], &operations[2..]).await?.succeeded(), [true]);
    Ok(())
}

#[tokio::test]
async fn second_deployment_costs_little_and_leaves_the_first_write_alone() -> Result<(), Error> {
    let site = Site::new("deployment").await?;
    let artist = site.new_artist();
    let first = |seed| Operation { may_be_first: true, ..site.write(&artist, seed) };
    let operations = |seed| [Operation::deployment(&site.account, &artist), first(seed)];

    // Two lanes deploy the same account in one block.
    site.node.anvil_set_auto_mine(false).await?;
    let mut hashes = Vec::new();
    for (lane, seed) in site.lanes.iter().take(2).zip(1..) {
        let packed = pack(site.account.safe, *lane, &operations(seed));
        let transaction = TransactionRequest::default().from(*lane).to(packed.to).input(packed.data.into());
        hashes.push(*site.node.send_transaction(transaction.gas_limit(packed.gas_limit)).await?.tx_hash());
    }
    site.node.evm_mine(None).await?;
    site.node.anvil_set_auto_mine(true).await?;
    let mut deployments = Vec::new();
    for (hash, seed) in hashes.iter().zip(1..) {
        let receipt = site.node.get_transaction_receipt(*hash).await?.ok_or("not mined")?;
        assert!(receipt.status());
        let done = shared::chain::transaction::attribute(receipt.logs(), &operations(seed));
        assert!(matches!(done[1], Execution::Executed { succeeded: true, .. }), "{done:?}");
        let Execution::Executed { succeeded, gas, .. } = done[0] else { return Err("no deployment".into()) };
        deployments.push((succeeded, gas));
    }
    deployments.sort_unstable();
    let [(false, refused), (true, deployed)] = deployments[..] else { return Err(format!("{deployments:?}").into()) };
    println!("deployment: {deployed} gas; one that comes too late: {refused}");
    assert!(refused < 12_000 && deployed < 250_000);
    Ok(())
}

#[tokio::test]
async fn writes_of_accounts_that_are_not_deployed_are_absent() -> Result<(), Error> {
    let site = Site::new("absent").await?;
    let artists = site.artists(1).await?;
    let operations = [site.write(&site.new_artist(), 1), site.write(&artists[0], 2)];
    let sent = site.send(site.lanes[0], &operations).await?;
    assert_eq!(sent.executions[0], Execution::Absent);
    assert_eq!(sent.succeeded(), [false, true]);
    Ok(())
}

/// Only what a lane is made for; the guard's own tests have the attacks on it.
#[tokio::test]
async fn strangers_and_former_lanes_send_nothing() -> Result<(), Error> {
    let site = Site::new("strangers").await?;
    let artists = site.artists(1).await?;
    let stranger = site.node.get_accounts().await?[8];
    assert!(site.send(stranger, &[site.write(&artists[0], 1)]).await.is_err());
    let direct = execution(&site.call(&Hostile::burnCall {}), CallKind::Call, stranger).abi_encode();
    let calls = batch(&[Call { data: direct.into(), ..Call::payment(artists[0].address(), U256::ZERO) }]);
    let transaction = TransactionRequest::default().from(stranger).to(calls.target).input(calls.data.into());
    assert!(site.node.estimate_gas(transaction).await.is_err());
    Ok(())
}
