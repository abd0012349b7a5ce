//! A collection's new admin gets all of its moments listed, over more than one batch.

use alloy::{
    primitives::{Bytes, U256},
    sol_types::SolCall,
};
use shared::{
    chain::contracts::native::Creator1155,
    model::OPEN_EDITION,
    store::chain::{Scope, TimelineFilter, Timelines},
};
use tests::{Error, TestChain, history::History};

use crate::support::Indexer;

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
    assert_eq!((listed(Scope::Mutual(friend.into())).await?, listed(Scope::Of(friend.into())).await?), (all, all));

    let revoke = Creator1155::removePermissionCall { tokenId: token, user: friend, permissionBits: admin };
    history.send(artist, collection, U256::ZERO, &revoke).await?.ok_or("not revoked")?;
    indexer.follow().await?;
    assert_eq!((listed(Scope::Mutual(friend.into())).await?, listed(Scope::Of(friend.into())).await?), (0, 0));
    Ok(())
}
