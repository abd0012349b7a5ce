//! The registry and the editions protocol.

use alloy::primitives::U256;
use shared::{
    model::{Address, MomentRef, Payment, Protocol, SaleType},
    store::chain::Moments,
};
use tests::{Error, TestChain, history::History};

use crate::support::Indexer;

fn place(test_chain: &TestChain, collection: alloy::primitives::Address, token: u64) -> MomentRef {
    MomentRef { chain: test_chain.chain.id, collection: collection.into(), token: U256::from(token).into() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn registry_events_become_collections_moments_sales_and_payments() -> Result<(), Error> {
    let test_chain = TestChain::start("registry", 64).await?;
    let mut history = History::on(&test_chain, 3).await?;
    let (artist, buyer) = (history.people[0], history.people[1]);
    let release = history.release(artist, buyer).await?;
    let mut indexer = Indexer::of(&test_chain, &[&test_chain.rpc_url]).await?;
    indexer.follow().await?;

    let moments = Moments::new(indexer.table.clone());
    let collection = moments.collection(test_chain.chain.id, release.into()).await?.ok_or("no collection")?;
    let (artist, buyer) = (Address::from(artist), Address::from(buyer));
    assert_eq!(
        (collection.protocol, collection.creator, &*collection.uri),
        (Protocol::Registry, artist, "ar://release")
    );
    let mut both = vec![artist, buyer];
    both.sort_unstable();
    assert_eq!(collection.admins, both);
    let one = moments.moment(&place(&test_chain, release, 1)).await?.ok_or("no moment")?;
    assert_eq!((&*one.uri, one.creator, &*one.admins), ("ar://release/1", artist, &[buyer][..]));
    let sale = one.sale().ok_or("no sale")?;
    assert_eq!(
        (sale.strategy, sale.price.0, sale.funds_recipient),
        (SaleType::Erc20, U256::from(2_500_000), Some(artist))
    );
    assert_eq!((one.minted.0, one.fee_recipients[0].address), (U256::from(3), artist));
    let two = moments.moment(&place(&test_chain, release, 2)).await?.ok_or("no moment")?;
    assert_eq!((&*two.uri, two.sale()), ("ar://release/2b", None));

    let payments: Vec<Payment> = indexer.list(&format!("PAYMENTS#{}", test_chain.chain.id)).await?;
    let [payment] = &payments[..] else { return Err(format!("{payments:?}").into()) };
    assert_eq!((payment.amount.0, payment.paid.0), (U256::from(7_500_000), U256::from(7_500_000)));
    assert_eq!((payment.buyer, payment.creator, payment.quantity.0), (buyer, artist, U256::from(3)));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_token_of_an_edition_becomes_a_moment() -> Result<(), Error> {
    let test_chain = TestChain::start("editions", 64).await?;
    let mut history = History::on(&test_chain, 4).await?;
    let (artist, collector) = (history.people[0], history.people[1]);
    let edition = history.edition(artist, collector).await?;
    let mut indexer = Indexer::of(&test_chain, &[&test_chain.rpc_url]).await?;
    indexer.follow().await?;

    let moments = Moments::new(indexer.table.clone());
    let collection = moments.collection(test_chain.chain.id, edition.into()).await?.ok_or("no collection")?;
    assert_eq!(
        (collection.protocol, &*collection.name, &*collection.uri),
        (Protocol::Editions, "Numbered", "ar://edition")
    );
    assert_eq!(collection.royalty.map(|royalty| royalty.bps), Some(700));
    assert_eq!((collection.creator, collection.admins), (artist.into(), vec![collector.into()]));
    for (token, uri) in [(1, "ar://tier/1"), (2, "ar://tier/2"), (3, "ar://other/1"), (4, "ar://tier/3")] {
        let moment = moments.moment(&place(&test_chain, edition, token)).await?.ok_or("no moment")?;
        assert_eq!((&*moment.uri, moment.max_supply.0), (uri, U256::ONE));
    }
    assert!(moments.moment(&place(&test_chain, edition, 5)).await?.is_none());
    Ok(())
}
