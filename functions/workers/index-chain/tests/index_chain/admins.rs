//! A collection's new admin gets all of its moments listed, over more than one batch.

use alloy::{
    primitives::{Address, Bytes, U256},
    sol_types::SolCall,
};
use shared::{
    chain::contracts::native::Creator1155,
    model::{MomentRef, OPEN_EDITION},
    store::{
        artist::Artists,
        chain::{Scope, TimelineFilter, TimelineSubject, Timelines},
        engine::UnitOfWork,
    },
};
use tests::{Error, TestChain, history::History};

use crate::support::{Indexer, decisions::Decisions};

const MOMENTS_A_TRANSACTION: u64 = 75;
const TRANSACTIONS: u64 = 8;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_admin_is_listed_with_every_moment_until_revoked() -> Result<(), Error> {
    let test_chain = TestChain::start("admins", 4).await?;
    let mut history = History::on(&test_chain, 6).await?;
    let mut indexer = Indexer::of(&test_chain, &[&test_chain.rpc_url]).await?;
    let (artist, friend) = (history.people[0], history.people[1]);
    let (collection, ..) = history.conversation(artist).await?;
    let new = Creator1155::setupNewTokenCall { newURI: "ar://1".to_owned(), maxSupply: U256::from(OPEN_EDITION) };
    let new = Bytes::from(new.abi_encode());
    for _ in 0..TRANSACTIONS {
        let call = Creator1155::multicallCall { data: vec![new.clone(); usize::try_from(MOMENTS_A_TRANSACTION)?] };
        history.send(artist, collection, U256::ZERO, &call).await?.ok_or("no moments")?;
    }
    let mut decisions = Decisions::of(&indexer.dynamodb).await?;
    let id = decisions.sign_up(Address::repeat_byte(0xa0).into()).await?;
    decisions.connect(id, friend.into()).await?;
    indexer.follow().await?;

    let timelines = Timelines::new(indexer.table.clone());
    let listed = async |scope| {
        let page = timelines.newest(test_chain.chain.id, scope, TimelineFilter::default(), 0, 0, 1).await?;
        Ok::<_, Error>(page.total)
    };
    let all = 1 + TRANSACTIONS * MOMENTS_A_TRANSACTION;
    assert_eq!(listed(Scope::Of(artist.into())).await?, all);
    let (token, admin) = (U256::ZERO, U256::from(2));
    let grant = Creator1155::addPermissionCall { tokenId: token, user: friend, permissionBits: admin };
    history.send(artist, collection, U256::ZERO, &grant).await?.ok_or("not granted")?;
    indexer.follow().await?;
    // Nobody asked for that.
    assert_eq!((listed(Scope::Mutual(friend.into())).await?, listed(Scope::Of(friend.into())).await?), (0, 0));
    Artists::new(indexer.artists.clone()).accept_sender(id, artist.into()).await?;
    indexer.follow().await?;
    assert_eq!((listed(Scope::Mutual(friend.into())).await?, listed(Scope::Of(friend.into())).await?), (all, all));

    let revoke = Creator1155::removePermissionCall { tokenId: token, user: friend, permissionBits: admin };
    history.send(artist, collection, U256::ZERO, &revoke).await?.ok_or("not revoked")?;
    indexer.follow().await?;
    assert_eq!((listed(Scope::Mutual(friend.into())).await?, listed(Scope::Of(friend.into())).await?), (0, 0));
    Ok(())
}

/// Admins of one collection, none of them an artist.
const STRANGERS: u8 = 50;
/// Moments whose rows are counted.
const COUNTED: usize = 20;
/// Most rows of a moment whose creator has a username, however many admins there are.
const MOST_ROWS: usize = 32;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn admins_of_nobody_cost_no_rows_until_they_are_artists() -> Result<(), Error> {
    let test_chain = TestChain::start("strangers", 64).await?;
    let mut history = History::on(&test_chain, 7).await?;
    let mut indexer = Indexer::of(&test_chain, &[&test_chain.rpc_url]).await?;
    let mut decisions = Decisions::of(&indexer.dynamodb).await?;
    let (artist, friend) = (history.people[0], history.people[1]);
    let id = decisions.sign_up(artist.into()).await?;
    decisions.rename(id, "ada").await?;
    let (collection, ..) = history.conversation(artist).await?;
    let (token, admin) = (U256::ZERO, U256::from(2));
    let strangers = (1..STRANGERS).map(Address::repeat_byte).chain([friend]);
    let grants = strangers
        .map(|user| Creator1155::addPermissionCall { tokenId: token, user, permissionBits: admin }.abi_encode().into());
    let grants = Creator1155::multicallCall { data: grants.collect() };
    history.send(artist, collection, U256::ZERO, &grants).await?.ok_or("not granted")?;
    indexer.follow().await?;
    let before = indexer.rows().await?.len();

    let new = Creator1155::setupNewTokenCall { newURI: "ar://1".to_owned(), maxSupply: U256::from(OPEN_EDITION) };
    let call = Creator1155::multicallCall { data: vec![Bytes::from(new.abi_encode()); COUNTED] };
    history.send(artist, collection, U256::ZERO, &call).await?.ok_or("no moments")?;
    indexer.follow().await?;
    let rows = (indexer.rows().await?.len() - before) / COUNTED;
    println!("{rows} rows a moment with {STRANGERS} admins");
    assert!(rows <= MOST_ROWS, "{rows} rows a moment");

    let timelines = Timelines::new(indexer.table.clone());
    let listed = async |scope| {
        let page = timelines.newest(test_chain.chain.id, scope, TimelineFilter::default(), 0, 0, 1).await?;
        Ok::<_, Error>(page.total)
    };
    let all = 1 + COUNTED as u64;
    assert_eq!((listed(Scope::Of(artist.into())).await?, listed(Scope::Mutual(friend.into())).await?), (all, 0));
    decisions.connect(id, friend.into()).await?;
    indexer.follow().await?;
    assert_eq!((listed(Scope::Mutual(friend.into())).await?, listed(Scope::Of(friend.into())).await?), (all, all));
    indexer.assert_fresh_members(&test_chain).await?;

    decisions.disconnect(id, friend.into()).await?;
    indexer.follow().await?;
    assert_eq!((listed(Scope::Mutual(friend.into())).await?, listed(Scope::Of(friend.into())).await?), (0, 0));
    indexer.assert_fresh_members(&test_chain).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn group_that_changes_while_it_is_listed_again_goes_on_and_then_lists_what_it_had() -> Result<(), Error> {
    let test_chain = TestChain::start("toggled", 64).await?;
    let indexer = Indexer::of(&test_chain, &[&test_chain.rpc_url]).await?;
    let (chain, collection) = (test_chain.chain.id, Address::repeat_byte(0xc0).into());
    let group = TimelineSubject::Of(collection);
    let mut work = UnitOfWork::new(indexer.table.clone());
    for token in 1..=5 {
        work.note(&MomentRef { chain, collection, token: U256::from(token).into() }, &group).await?;
    }
    work.relist(chain, group.clone()).await?;
    let (mut listed, mut changes) = (Vec::new(), 2);
    while let Some(mut relisting) = work.relisting(chain, &group).await? {
        let (moments, is_done) = work.to_relist(chain, &relisting, 2).await?;
        relisting.done += moments.len() as u64;
        listed.extend(moments.iter().map(|moment| moment.token.to_string()));
        work.set_relisted(chain, relisting, is_done)?;
        if changes > 0 {
            changes -= 1;
            work.relist(chain, group.clone()).await?;
        }
    }
    // Changed after the second and after the fourth: all of them come once more after the later change.
    assert_eq!(listed.concat(), "123451234");
    Ok(())
}
