//! Nobody publishes under an artist's name.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use alloy::{eips::BlockNumberOrTag, primitives::B256, providers::Provider};
use shared::{
    model::{Address, EventId, MomentRef},
    store::{
        artist::{AcceptanceRefusal, Artists, NewAttribution},
        chain::{Moments, Scope, TimelineFilter, Timelines},
    },
};
use tests::{DatabaseProxy, Error};

use crate::support::{Indexer, decisions::Decisions, shop::Shop};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_work_is_theirs_whoever_they_name() -> Result<(), Error> {
    let mut shop = Shop::open("creators", 64).await?;
    let mut indexer = Indexer::of(&shop.test_chain, &[&shop.test_chain.rpc_url]).await?;
    Artists::new(indexer.artists.clone()).attributed_since(0).await?;
    let mut decisions = Decisions::of(&indexer.dynamodb).await?;
    let [artist, wallet, stranger, nobody, later] = [1, 2, 3, 4, 0].map(|number| shop.account(number));
    let id = decisions.sign_up(artist.into()).await?;
    decisions.rename(id, "ada").await?;
    decisions.connect(id, wallet.into()).await?;
    let mut created = Vec::new();
    for (named, sender) in [(artist, stranger), (wallet, artist), (nobody, stranger), (later, stranger)] {
        created.push(shop.create_collection_for(named, sender, 2).await?);
    }
    indexer.follow().await?;

    let (moments, timelines) = (Moments::new(indexer.table.clone()), Timelines::new(indexer.table.clone()));
    let chain = shop.test_chain.chain.id;
    let creators = async |created: &[alloy::primitives::Address]| {
        let mut creators: Vec<Address> = Vec::new();
        for collection in created {
            let collection = moments.collection(chain, (*collection).into()).await?.ok_or("no collection")?;
            let token = alloy::primitives::U256::ONE.into();
            let place = MomentRef { chain, collection: collection.address, token };
            let moment = moments.moment(&place).await?.ok_or("no moment")?;
            assert_eq!(moment.creator, collection.creator);
            creators.push(moment.creator);
        }
        Ok::<_, Error>(creators)
    };
    let expected: Vec<Address> = [stranger, wallet, nobody, later].map(Into::into).into();
    assert_eq!(creators(&created).await?, expected);
    let count = async |scope, curated| {
        let filter = TimelineFilter { curated, ..TimelineFilter::default() };
        Ok::<_, Error>(timelines.newest(chain, scope, filter, 0, 0, 1).await?.total)
    };
    assert_eq!(count(Scope::Made(artist.into()), false).await?, 0);
    assert_eq!(count(Scope::Made(stranger.into()), false).await?, 2);
    // Those of the artist's other wallet alone.
    assert_eq!(count(Scope::Everyone, true).await?, 2);

    // What is decided stays so, for an index that is made anew, too.
    decisions.disconnect(id, wallet.into()).await?;
    decisions.sign_up(later.into()).await?;
    indexer.follow().await?;
    indexer.assert_fresh_members(&shop.test_chain).await?;
    assert_eq!(creators(&created).await?, expected);

    // Who was named accepts one collection, and what the sender makes from now on; nobody else can.
    let artists = Artists::new(indexer.artists.clone());
    let named = moments.collection(chain, created[0].into()).await?.ok_or("no collection")?;
    let refused = artists.accept_collection(id, &[wallet.into()], &named, 1).await?;
    assert_eq!(refused, Some(AcceptanceRefusal::NotNamed));
    assert_eq!(artists.accept_collection(id, &[artist.into()], &named, 1).await?, None);
    assert_eq!(artists.accept_sender(id, stranger.into()).await?, None);
    created.push(shop.create_collection_for(artist, stranger, 2).await?);
    indexer.follow().await?;
    let expected: Vec<Address> = [artist, wallet, nobody, later, artist].map(Into::into).into();
    assert_eq!(creators(&created).await?, expected);
    assert_eq!(count(Scope::Made(artist.into()), false).await?, 4);
    assert_eq!(count(Scope::Made(stranger.into()), false).await?, 0);
    assert_eq!(count(Scope::Everyone, true).await?, 4);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attributions_of_a_chunk_are_read_together() -> Result<(), Error> {
    const COLLECTIONS: usize = 8;
    let mut shop = Shop::open("creators-together", 64).await?;
    let proxy = DatabaseProxy::start().await?;
    let mut indexer = Indexer::through(&shop.test_chain, &[&shop.test_chain.rpc_url], Some(&proxy)).await?;
    let mut decisions = Decisions::of(&indexer.dynamodb).await?;
    let [artist, stranger] = [1, 2].map(|number| shop.account(number));
    decisions.sign_up(artist.into()).await?;
    Artists::new(indexer.artists.clone()).attributed_since(0).await?;
    indexer.follow().await?;
    let mut created = Vec::new();
    for _ in 0..COLLECTIONS {
        created.push(shop.create_collection_for(artist, stranger, 1).await?);
    }
    let calls = Arc::new(Mutex::new(BTreeMap::<String, usize>::new()));
    let counts = Arc::clone(&calls);
    proxy.observe(move |target, request, _| {
        let request = String::from_utf8_lossy(request);
        if request.contains("ATTRIBUTED#") && !request.contains("#SINCE") {
            *counts.lock().expect("nobody panicked").entry(target.to_owned()).or_default() += 1;
        }
    });
    indexer.follow().await?;

    let (moments, chain) = (Moments::new(indexer.table.clone()), shop.test_chain.chain.id);
    for collection in created {
        let collection = moments.collection(chain, collection.into()).await?.ok_or("no collection")?;
        assert_eq!(collection.creator, stranger.into());
    }
    let calls = calls.lock().expect("nobody panicked").clone();
    let of = |operation: &str| -> usize {
        calls.iter().filter(|(target, _)| target.ends_with(operation)).map(|(_, count)| count).sum()
    };
    // The new blocks come in few ranges.
    let (reads, writes) = (of(".BatchGetItem"), of(".TransactWriteItems"));
    assert!((1..COLLECTIONS / 2).contains(&reads) && (1..COLLECTIONS / 2).contains(&writes), "{calls:?}");
    assert_eq!(of(".GetItem"), 0, "{calls:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_another_run_decided_meanwhile_is_kept_if_it_is_the_same() -> Result<(), Error> {
    let shop = Shop::open("creators-raced", 64).await?;
    let indexer = Indexer::of(&shop.test_chain, &[&shop.test_chain.rpc_url]).await?;
    let artists = Artists::new(indexer.artists.clone());
    let (named, sender) = (Address::from(shop.account(1)), Address::from(shop.account(2)));
    let decided = |number: u8, creator| {
        let creation = EventId::new(shop.test_chain.chain.id, B256::repeat_byte(number), 0);
        NewAttribution { creation, named, creator }
    };
    let [first, second, third] = [1, 2, 3].map(|number| decided(number, sender));
    artists.keep_attributions(&[first, second]).await?;

    artists.keep_attributions(&[second, third]).await?;
    artists.keep_attributions(&[first, second, third]).await?;
    assert!(artists.keep_attributions(&[decided(3, named), decided(4, named)]).await.is_err());

    let all = [first, second, third, decided(4, named)].map(|decided| decided.creation);
    let kept = artists.attributed(&all).await?;
    assert_eq!(kept, [first, second, third].map(|decided| (decided.creation, sender)).into());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_older_than_the_rule_stays_as_it_was() -> Result<(), Error> {
    let mut shop = Shop::open("older-creators", 64).await?;
    let mut indexer = Indexer::of(&shop.test_chain, &[&shop.test_chain.rpc_url]).await?;
    let mut decisions = Decisions::of(&indexer.dynamodb).await?;
    let [artist, stranger] = [1, 2].map(|number| shop.account(number));
    decisions.sign_up(artist.into()).await?;
    let older = shop.create_collection_for(artist, stranger, 1).await?;
    let last = shop.test_chain.node.get_block_by_number(BlockNumberOrTag::Latest).await?.ok_or("no block")?;
    let artists = Artists::new(indexer.artists.clone());
    let since = last.header.timestamp + 1;
    assert_eq!(artists.attributed_since(since).await?, since);
    let _: serde_json::Value = shop.test_chain.node.raw_request("evm_increaseTime".into(), (60,)).await?;
    let newer = shop.create_collection_for(artist, stranger, 1).await?;
    indexer.follow().await?;
    assert_eq!(artists.attributed_since(since + 1_000).await?, since, "it begins once");

    let (moments, chain) = (Moments::new(indexer.table.clone()), shop.test_chain.chain.id);
    for (collection, creator) in [(older, artist), (newer, stranger)] {
        let collection = moments.collection(chain, collection.into()).await?.ok_or("no collection")?;
        assert_eq!(collection.creator, creator.into());
    }
    // An index that is made anew shows the same.
    indexer.assert_fresh_members(&shop.test_chain).await
}
