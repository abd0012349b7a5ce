//! Updates of moments, whose calls are made of what the chain has when their transaction is signed.

use std::sync::atomic::Ordering::Relaxed;

use alloy::{
    primitives::{Address, B256, U256},
    providers::ext::AnvilApi,
    sol_types::SolCall,
};
use local::{
    contracts::DEPLOYER,
    workshop::{Workshop, publish},
};
use shared::{
    chain::{
        contracts::native::{Creator1155, Erc20Minter, FixedPriceMinter},
        node::MULTICALL,
        protocol::{
            permission::Permission,
            publishing::{minter, set_sale},
            sale::CurrentSale,
        },
    },
    model::{
        self, Amount, Call, Collection, Creation, EventId, MomentEdit, MomentUpdate, Plan, Protocol, Sale, SaleEdit,
        SaleTerms, TransactionStatus, WriteKind,
    },
    store::{
        artist::{Artist, NewTransaction, Transaction},
        chain::ChainTable,
        engine::{BlockId, Journal, UnitOfWork},
    },
};

use crate::{
    proxy::Request,
    support::{
        Error, RESERVE, act_as, asks, counting_if, done, queue, relay, renaming, run, spawn, stage, transaction, until,
        until_pooled, until_sent,
    },
};

const GAS: u64 = 200_000;
const START: u64 = 100;
const END: u64 = 1_000_000;
const PRICE: u64 = 20_000;

fn update(collection: Address, edit: MomentEdit) -> NewTransaction {
    update_of(collection, U256::ONE, edit)
}

fn update_of(collection: Address, token: U256, edit: MomentEdit) -> NewTransaction {
    let plan = Plan::Moment(MomentUpdate { collection: collection.into(), token: token.into(), edit });
    NewTransaction {
        plan,
        kind: WriteKind::Plain,
        gas: GAS,
        creation: Creation::Nothing,
        reserve: RESERVE,
        valid_until: None,
    }
}

fn sale_update(collection: Address, edit: SaleEdit) -> NewTransaction {
    update(collection, MomentEdit::Sale(edit))
}

/// A collection whose token 1 is sold in this currency, or in the chain's own.
async fn sold(workshop: &Workshop, artists: &[Artist], currency: Option<Address>) -> Result<Address, Error> {
    let terms = SaleTerms { start: START, end: END, max_per_address: 3 };
    let price = Amount(U256::from(PRICE));
    let sale = match currency {
        Some(currency) => Sale::Erc20 { terms, price, currency: currency.into() },
        None => Sale::FixedPrice { terms, price },
    };
    let (token, strategy) = (U256::ONE, minter(&workshop.chain.addresses, &sale));
    let data = set_sale(token, &sale, Address::repeat_byte(7), "");
    let actions = vec![
        Permission::Minter.grant(token, strategy).abi_encode(),
        Creator1155::callSaleCall { tokenId: token, salesConfig: strategy, data }.abi_encode(),
    ];
    let admins: Vec<_> = artists.iter().map(|artist| artist.embedded_wallet.into()).collect();
    publish(&workshop.rpc_url, workshop.chain.addresses.factory, &admins, actions).await
}

async fn sale(workshop: &Workshop, collection: Address, currency: Option<Address>) -> Result<CurrentSale, Error> {
    let (node, addresses) = (workshop.node().await?, &workshop.chain.addresses);
    Ok(match currency {
        Some(_) => Erc20Minter::new(addresses.erc20_minter, &node).sale(collection, U256::ONE).call().await?.into(),
        None => {
            FixedPriceMinter::new(addresses.fixed_price_minter, &node).sale(collection, U256::ONE).call().await?.into()
        }
    })
}

/// An edit of one or two fields that no other edit of these can make invalid.
fn edit(number: u64) -> SaleEdit {
    let mut edit = SaleEdit::default();
    for field in [number % 5, (number / 5) % 5] {
        match field {
            0 => edit.price = Some(Amount(U256::from(PRICE + 1 + number))),
            1 => edit.start = Some(START + 1 + number),
            2 => edit.end = Some(END + 1 + number),
            3 => edit.max_per_address = Some(10 + number),
            _ => edit.funds_recipient = Some(model::Address::from(Address::with_last_byte(100 + number as u8))),
        }
    }
    edit
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_sale_edits_of_two_admins_are_all_kept_in_both_currencies() -> Result<(), Error> {
    const EDITS: u64 = 12;
    let (workshop, artists, _) = stage("relay-sales", 2).await?;
    let usdc = workshop.chain.addresses.usdc;
    let mut rows: Vec<(Artist, Transaction, Option<Address>, SaleEdit)> = Vec::new();
    let places = [None, Some(usdc)];
    let collections = [sold(&workshop, &artists, None).await?, sold(&workshop, &artists, Some(usdc)).await?];
    for number in 0..EDITS {
        for (currency, collection) in places.into_iter().zip(collections) {
            let (artist, edit) = (artists[(number % 2) as usize], edit(number * 7));
            let id = queue(&workshop, &artist, vec![sale_update(collection, edit)]).await?[0];
            rows.push((artist, transaction(&workshop, &artist, id).await?, currency, edit));
        }
    }

    let (first, second) = (relay(&workshop, &workshop.rpc_url)?, relay(&workshop, &workshop.rpc_url)?);
    let (one, other) = tokio::join!(run(&first), run(&second));
    one?;
    other?;

    // In the queue's order, whoever queued them.
    rows.sort_by(|(_, one, ..), (_, other, ..)| one.place.cmp(&other.place));
    for (currency, collection) in places.into_iter().zip(collections) {
        let terms = SaleTerms { start: START, end: END, max_per_address: 3 };
        let mut expected = CurrentSale {
            terms,
            price: U256::from(PRICE),
            funds_recipient: Address::repeat_byte(7),
            ..sale(&workshop, collection, currency).await?
        };
        for (artist, row, _, edit) in rows.iter().filter(|(_, _, own, _)| *own == currency) {
            let row = transaction(&workshop, artist, row.id).await?;
            assert_eq!(row.status, TransactionStatus::Mined, "{row:?}");
            expected = edit.applied_to(expected).map_err(|(field, error)| format!("{field} {error}"))?;
        }
        assert_eq!(sale(&workshop, collection, currency).await?, expected);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn sales_of_many_moments_are_read_in_one_trip() -> Result<(), Error> {
    const COUNT: usize = 8;
    let (workshop, artists, _) = stage("relay-sales-one-trip", COUNT).await?;
    let (asks, together) = (asks(FixedPriceMinter::saleCall::SELECTOR), format!("{MULTICALL:#x}"));
    let is_asked_together = move |request: &Request| asks(request) && request.body["params"][0]["to"] == together;
    let (url, asked) = counting_if(&workshop.rpc_url, is_asked_together).await?;
    for artist in &artists {
        let collection = sold(&workshop, &[*artist], None).await?;
        queue(&workshop, artist, vec![sale_update(collection, edit(3))]).await?;
    }

    let report = run(&relay(&workshop, &url)?).await?;

    assert_eq!((report.ended, report.batches), (COUNT, 1));
    assert_eq!(asked.load(Relaxed), 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn sale_that_others_change_while_an_edit_waits_keeps_their_change() -> Result<(), Error> {
    const LATER: u64 = END + 7;
    let (workshop, artists, other) = stage("relay-sale-meanwhile", 3).await?;
    let (node, collection) = (workshop.node().await?, sold(&workshop, &artists, None).await?);
    let (url, asked) = counting_if(&workshop.rpc_url, asks(FixedPriceMinter::saleCall::SELECTOR)).await?;
    node.anvil_set_auto_mine(false).await?;
    let first = queue(&workshop, &artists[0], vec![renaming(other, "ar://first-lane")]).await?[0];
    let mut running = spawn(relay(&workshop, &url)?);
    until_pooled(&workshop, &until_sent(&workshop, &artists[0], first).await?).await?;
    let second = queue(&workshop, &artists[1], vec![renaming(other, "ar://second-lane")]).await?[0];
    until_pooled(&workshop, &until_sent(&workshop, &artists[1], second).await?).await?;
    // Each lane has a batch under way: what was read of the sale is of the block before theirs.
    let edit = SaleEdit { price: Some(Amount(U256::from(PRICE + 1))), ..SaleEdit::default() };
    let id = queue(&workshop, &artists[2], vec![sale_update(collection, edit)]).await?[0];
    until("asked", async || Ok(asked.load(Relaxed) > 0)).await?;

    let terms = SaleTerms { start: START, end: LATER, max_per_address: 3 };
    let longer = Sale::FixedPrice { terms, price: Amount(U256::from(PRICE)) };
    let (strategy, data) =
        (minter(&workshop.chain.addresses, &longer), set_sale(U256::ONE, &longer, Address::repeat_byte(7), ""));
    let longer = Creator1155::callSaleCall { tokenId: U256::ONE, salesConfig: strategy, data };
    act_as(&workshop, DEPLOYER, Call::new(collection, &longer)).await?;
    node.anvil_mine(Some(1), None).await?;
    until_pooled(&workshop, &until_sent(&workshop, &artists[2], id).await?).await?;
    node.anvil_mine(Some(1), None).await?;
    node.anvil_set_auto_mine(true).await?;
    running.done().await?;

    assert_eq!(transaction(&workshop, &artists[2], id).await?.status, TransactionStatus::Mined);
    let now = sale(&workshop, collection, None).await?;
    assert_eq!((now.price, now.terms.end), (U256::from(PRICE + 1), LATER));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn sale_edit_that_an_earlier_one_makes_invalid_fails_with_the_field() -> Result<(), Error> {
    let (workshop, artists, unsold) = stage("relay-sale-refused", 2).await?;
    let collection = sold(&workshop, &artists, None).await?;
    let later = SaleEdit { start: Some(5_000), ..SaleEdit::default() };
    let sooner = SaleEdit { end: Some(4_000), ..SaleEdit::default() };
    let ids = [
        queue(&workshop, &artists[0], vec![sale_update(collection, later)]).await?[0],
        queue(&workshop, &artists[1], vec![sale_update(collection, sooner)]).await?[0],
        queue(&workshop, &artists[0], vec![sale_update(unsold, later)]).await?[0],
    ];

    run(&relay(&workshop, &workshop.rpc_url)?).await?;

    assert_eq!(transaction(&workshop, &artists[0], ids[0]).await?.status, TransactionStatus::Mined);
    let refused = transaction(&workshop, &artists[1], ids[1]).await?;
    assert_eq!(refused.status, TransactionStatus::Failed);
    assert_eq!(refused.reason.as_deref(), Some("saleEnd must not be before saleStart"));
    let unsold = transaction(&workshop, &artists[0], ids[2]).await?;
    assert_eq!(unsold.status, TransactionStatus::Failed);
    assert_eq!(unsold.reason.as_deref(), Some("The moment's sale is no longer there"));
    let now = sale(&workshop, collection, None).await?;
    assert_eq!((now.terms.start, now.terms.end), (5_000, END));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn updates_of_a_moment_by_two_admins_are_done_in_queue_order() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-updates", 2).await?;
    let (mut rows, friend) = (Vec::new(), Address::repeat_byte(9));
    for number in 0..8 {
        let artist = artists[number % 2];
        let uri = format!("ar://{number}");
        let id = queue(&workshop, &artist, vec![update(collection, MomentEdit::Uri(uri.parse()?))]).await?[0];
        rows.push((transaction(&workshop, &artist, id).await?.place, uri));
    }
    for edit in [MomentEdit::GrantAdmin(friend.into()), MomentEdit::RevokeAdmin(friend.into())] {
        queue(&workshop, &artists[0], vec![update(collection, edit)]).await?;
    }

    let (first, second) = (relay(&workshop, &workshop.rpc_url)?, relay(&workshop, &workshop.rpc_url)?);
    let (one, other) = tokio::join!(run(&first), run(&second));
    let ended = one?.ended + other?.ended;

    assert_eq!(ended, 10);
    rows.sort();
    let expected: Vec<_> = rows.into_iter().map(|(_, uri)| uri).collect();
    let (given, _) = done(&workshop, &[collection]).await?;
    assert_eq!(given.into_iter().filter(|uri| uri != "ar://first").collect::<Vec<_>>(), expected);
    let node = workshop.node().await?;
    let bits = Creator1155::new(collection, &node).permissions(U256::ONE, friend).call().await?;
    assert!(bits.is_zero(), "granted, then revoked");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn grants_and_revocations_leave_an_accounts_other_permissions() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-permissions", 1).await?;
    let (node, friend) = (workshop.node().await?, Address::repeat_byte(9));
    let other = Permission::Sales.grant(U256::ONE, friend);
    queue(&workshop, &artists[0], vec![crate::support::calls(vec![Call::new(collection, &other)], GAS)]).await?;
    let bits =
        async || Ok::<_, Error>(Creator1155::new(collection, &node).permissions(U256::ONE, friend).call().await?);
    for (edit, expected) in
        [(MomentEdit::GrantAdmin(friend.into()), 8 | 2), (MomentEdit::RevokeAdmin(friend.into()), 8)]
    {
        queue(&workshop, &artists[0], vec![update(collection, edit)]).await?;
        run(&relay(&workshop, &workshop.rpc_url)?).await?;
        assert_eq!(bits().await?, U256::from(expected));
    }
    Ok(())
}

/// Adds a collection with these admins to the index.
async fn index(workshop: &Workshop, collection: Address, admins: &[Artist]) -> Result<(), Error> {
    let (table, chain) = (ChainTable::new(&workshop.dynamodb, "ChainTable"), workshop.chain.id);
    let (mut work, mut journal) = (UnitOfWork::new(table.clone()), Journal::new(table, chain));
    journal.open(&mut work).await?;
    work.add_collection(&Collection {
        id: EventId::new(chain, B256::ZERO, 0),
        chain_id: chain,
        address: collection.into(),
        protocol: Protocol::Native,
        name: "Workshop".to_owned(),
        uri: "ar://collection".to_owned(),
        creator: admins[0].embedded_wallet,
        admins: admins.iter().map(|admin| admin.embedded_wallet).collect(),
        royalty: None,
        is_withheld: false,
        created_at: 0,
        updated_at: 0,
    })?;
    Ok(journal.commit(&mut work, 1, BlockId { number: 1, hash: B256::ZERO }, Some(1)).await?)
}

#[tokio::test(flavor = "multi_thread")]
async fn last_of_admins_who_leave_at_once_stays() -> Result<(), Error> {
    const COUNT: usize = 3;
    let (workshop, artists, collection) = stage("relay-leaving", COUNT).await?;
    index(&workshop, collection, &artists).await?;
    let node = workshop.node().await?;
    let admins = async || {
        let mut admins = Vec::new();
        for artist in &artists {
            let account = artist.embedded_wallet.into();
            let bits = Creator1155::new(collection, &node).permissions(U256::ZERO, account).call().await?;
            admins.extend(Permission::Admin.is_among(bits).then_some(*artist));
        }
        Ok::<_, Error>(admins)
    };
    let leave = async |artist: Artist| {
        let own = MomentEdit::RevokeAdmin(artist.embedded_wallet);
        Ok::<_, Error>((artist, queue(&workshop, &artist, vec![update_of(collection, U256::ZERO, own)]).await?[0]))
    };
    let mut left = Vec::new();
    for artist in &artists {
        left.push(leave(*artist).await?);
    }

    run(&relay(&workshop, &workshop.rpc_url)?).await?;

    let last = admins().await?;
    assert_eq!(last.len(), 1);
    // By itself, too.
    left.push(leave(last[0]).await?);
    run(&relay(&workshop, &workshop.rpc_url)?).await?;

    assert_eq!(admins().await?, last);
    for (artist, id) in left {
        let row = transaction(&workshop, &artist, id).await?;
        let reason = "You are the last admin of this collection: make somebody else one first";
        let (status, reason) = match artist == last[0] {
            true => (TransactionStatus::Failed, Some(reason)),
            false => (TransactionStatus::Mined, None),
        };
        assert_eq!((row.status, row.reason.as_deref()), (status, reason), "{row:?}");
    }
    Ok(())
}
