//! What a write costs, and gas caps.

use alloy::{
    primitives::{Address, U256},
    providers::{Provider, ext::AnvilApi},
    rpc::types::TransactionRequest,
    sol_types::SolCall,
};
use local::{Error, workshop};
use shared::chain::{
    contracts::native::{Creator1155, FixedPriceMinter},
    protocol::permission::Permission,
    transaction::{Load, MAX_TRANSACTION_BYTES, MAX_TRANSACTION_GAS, Operation, SimulationError, gas_cap},
    wallet::{Call, EmbeddedWallet},
};

use crate::site::{Hostile, Site};

/// A change of a sale that is set already, with new values in each slot.
fn call_sale(site: &Site, collection: Address, seed: u64) -> Call {
    let config = FixedPriceMinter::SalesConfig {
        saleStart: seed,
        saleEnd: 1 << 63,
        maxTokensPerAddress: 0,
        pricePerToken: alloy::primitives::Uint::from(1_000_000_000_000_000_u64 + seed),
        fundsRecipient: Address::repeat_byte(9),
    };
    let sale = FixedPriceMinter::setSaleCall { tokenId: U256::ONE, salesConfig: config };
    let sales_config = site.chain.addresses.fixed_price_minter;
    Call::new(
        collection,
        &Creator1155::callSaleCall { tokenId: U256::ONE, salesConfig: sales_config, data: sale.abi_encode().into() },
    )
}

/// The design's table: gas of one `callSale` by the size of its batch, without a guard. The guard may add 6,000 to a
/// lone write and 900 to each of many.
const TABLE: [(usize, u64, u64); 4] =
    [(1, 131_000, 6_000), (5, 85_500, 1_900), (20, 77_100, 1_200), (50, 75_500, 1_000)];

#[tokio::test]
async fn a_write_costs_what_the_design_says() -> Result<(), Error> {
    let site = Site::new("gas").await?;
    let artists = site.artists(50).await?;
    let mut collections = Vec::new();
    for artist in &artists {
        let minter = site.chain.addresses.fixed_price_minter;
        let permission = U256::from(Permission::Minter as u8);
        let grant = Creator1155::addPermissionCall { tokenId: U256::ONE, user: minter, permissionBits: permission };
        let (factory, admins) = (site.chain.addresses.factory, [artist.address()]);
        let url = site.rpc_url();
        collections.push(workshop::publish(url, factory, &admins, vec![grant.abi_encode()]).await?);
    }
    let mut seed = 0;
    let mut batch = |count: usize| -> Vec<Operation> {
        artists
            .iter()
            .zip(&collections)
            .take(count)
            .map(|(artist, collection)| {
                seed += 1;
                Operation::new(artist.address(), &[call_sale(&site, *collection, seed)], 120_000, false)
            })
            .collect()
    };
    // The first sale fills the slots, later ones change them.
    assert_eq!(site.send(site.lanes[0], &batch(50)).await?.succeeded(), [true; 50]);
    println!("gas of a write (callSale), guarded: {}", site.is_guarded);
    for (count, table, guard) in TABLE {
        let sent = site.send(site.lanes[0], &batch(count)).await?;
        assert_eq!(sent.succeeded(), vec![true; count]);
        let each = sent.receipt.gas_used / count as u64;
        let allowed = (table + if site.is_guarded { guard } else { 0 }) * 105 / 100;
        println!("batch of {count:>2}: {each:>7} gas a write, {table} in the design, {allowed} allowed");
        assert!(each <= allowed, "a write in a batch of {count} costs {each}");
    }
    Ok(())
}

#[tokio::test]
async fn caps_are_enough_for_writes_of_deployed_and_new_accounts() -> Result<(), Error> {
    let site = Site::new("caps").await?;
    let old = site.artists(1).await?.remove(0);
    let new = site.new_artist();
    let (minter, factory) = (site.chain.addresses.fixed_price_minter, site.chain.addresses.factory);
    let admins = [old.address(), new.address()];
    let permission = U256::from(Permission::Minter as u8);
    let grant = Creator1155::addPermissionCall { tokenId: U256::ONE, user: minter, permissionBits: permission };
    let collection = workshop::publish(site.rpc_url(), factory, &admins, vec![grant.abi_encode()]).await?;
    // Tokens that come to the account call it back.
    let mint = |to: &EmbeddedWallet| {
        let (recipient, quantity) = (to.address(), U256::ONE);
        let mint = Creator1155::adminMintCall { recipient, tokenId: U256::ONE, quantity, data: Vec::new().into() };
        Creator1155::multicallCall { data: vec![mint.abi_encode().into(); 6] }
    };
    let write = |count: u64| site.call(&Hostile::writeCall { seed: U256::from(count), count: U256::from(count) });
    let paying = write(2).with_value(U256::from(1_000));
    for artist in [&new, &old] {
        site.node.anvil_set_balance(artist.address(), U256::from(1_000_000)).await?;
        for calls in [
            vec![Call::new(collection, &mint(artist))],
            vec![call_sale(&site, collection, 1)],
            vec![write(5)],
            vec![write(3), write(4)],
            vec![paying.clone(), write(1), call_sale(&site, collection, 2)],
            vec![Call::payment(Address::repeat_byte(0x31), U256::ONE)],
        ] {
            let cap = gas_cap(&site.asked, artist.address(), &calls).await?;
            let operations =
                [Operation::deployment(&site.account, artist), Operation::new(artist.address(), &calls, cap, true)];
            let snapshot = site.node.anvil_snapshot().await?;
            let sent = site.send(site.lanes[0], &operations).await?;
            assert!(sent.succeeded()[1], "{cap} gas aren't enough for {calls:?}");
            let used = sent.gas(1);
            println!("cap {cap:>7}, used {used:>7}, {} calls", calls.len());
            assert!(cap <= used + used / 2 + 40_000, "a cap of {cap} for {used}");
            workshop::revert(&site.node, snapshot).await?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn caps_of_calls_that_fail_are_their_reasons() -> Result<(), Error> {
    let site = Site::new("uncapped").await?;
    let artist = site.new_artist().address();
    let cap = async |call: Call| gas_cap(&site.asked, artist, &[call]).await;
    for (call, words) in [
        (site.call(&Hostile::failCall { code: U256::ONE }), "The contract refuses with error 0xc3b28518"),
        (site.call(&Hostile::failSilentlyCall {}), "The contract refuses without a reason"),
        (site.call(&Hostile::takeCall {}), "The contract refuses: sold out"),
        (site.call(&Hostile::burnCall {}), "The contract ran into an invalid instruction"),
        (site.call(&Hostile::loopCall {}), "The call ran out of gas"),
    ] {
        let refused = cap(call).await.err().map(|error| error.to_string());
        assert_eq!(refused.as_deref(), Some(words));
    }
    let write = site.call(&Hostile::writeCall { seed: U256::ONE, count: U256::ONE });
    let overdraft = cap(write.with_value(U256::ONE)).await;
    assert!(matches!(overdraft, Err(SimulationError::CannotPay)), "{overdraft:?}");

    // What wants more gas than a transaction has room for doesn't fit, and nothing needs to be sent to learn it.
    let greedy = cap(site.call(&Hostile::demandCall { least: U256::from(16_500_000) })).await?;
    let call = site.call(&Hostile::demandCall { least: U256::from(16_500_000) });
    let operation = Operation::new(artist, &[call], greedy, true);
    assert!(!Load::default().with(&operation).fits(MAX_TRANSACTION_GAS, MAX_TRANSACTION_BYTES));
    Ok(())
}

#[tokio::test]
async fn lanes_share_artists_within_one_block() -> Result<(), Error> {
    let site = Site::new("lanes").await?;
    let artist = site.artists(1).await?.remove(0);
    site.node.anvil_set_auto_mine(false).await?;
    let mut hashes = Vec::new();
    for seed in 0..9 {
        let lane = site.lanes[seed as usize % 3];
        let packed = shared::chain::transaction::pack(site.account.safe, lane, &[site.write(&artist, seed)]);
        let transaction = TransactionRequest::default().from(lane).to(packed.to).input(packed.data.into());
        hashes.push(*site.node.send_transaction(transaction.gas_limit(packed.gas_limit)).await?.tx_hash());
    }
    site.node.evm_mine(None).await?;
    site.node.anvil_set_auto_mine(true).await?;
    for hash in hashes {
        let receipt = site.node.get_transaction_receipt(hash).await?.ok_or("not mined")?;
        assert!(receipt.status());
    }
    let nonce = shared::chain::contracts::safe::Safe::new(artist.address(), &site.node).nonce().call().await?;
    assert_eq!(nonce, U256::from(10), "one at deployment and nine now");
    Ok(())
}
