//! Decisions of artists outlive the blocks that were the newest when they were carried into the rows.

use shared::{
    model::MomentRef,
    store::chain::{Comments, Scope, TimelineFilter, Timelines},
};
use tests::{Error, TestChain, history::History};

use crate::support::{Indexer, decisions::Decisions, shop::Shop};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn renames_hidings_and_erasures_survive_a_reorganisation_of_one_block() -> Result<(), Error> {
    let test_chain = TestChain::start("decisions", 64).await?;
    let people = History::on(&test_chain, 11).await?.people;
    let mut indexer = Indexer::of(&test_chain, &[&test_chain.rpc_url]).await?;
    let mut decisions = Decisions::of(&indexer.dynamodb).await?;
    let (ada, bob, second) = (people[0], people[1], people[2]);
    let (artist, leaver) = (decisions.sign_up(ada.into()).await?, decisions.sign_up(bob.into()).await?);
    decisions.rename(leaver, "bob").await?;
    decisions.connect(artist, second.into()).await?;
    let mut moments = Vec::new();
    for (seed, account) in (12..).zip([bob, second, ada, ada]) {
        let (collection, ..) = History::on(&test_chain, seed).await?.conversation(account).await?;
        let token = alloy::primitives::U256::ONE.into();
        moments.push(MomentRef { chain: test_chain.chain.id, collection: collection.into(), token });
    }
    indexer.follow().await?;

    decisions.rename(artist, "ada").await?;
    indexer.follow().await?;
    decisions.hide(artist, &moments[2], true).await?;
    decisions.disconnect(artist, second.into()).await?;
    decisions.erase(leaver).await?;
    indexer.follow().await?;
    indexer.assert_fresh_members(&test_chain).await?;

    for (depth, is_replaced) in [(1, true), (1, false), (3, true), (2, false)] {
        if is_replaced {
            test_chain.reorganise(depth).await?;
        } else {
            test_chain.roll_back(depth).await?;
        }
        let followed = indexer.follow().await?;
        assert!(followed.undone > 0, "nothing was undone");
        indexer.assert_fresh_members(&test_chain).await?;

        let comments = Comments::new(indexer.table.clone());
        for (moment, name) in moments.iter().zip(["", "", "ada"]) {
            let listed = comments.top_level(moment, 0).await?.comments;
            let names: Vec<_> = listed.iter().map(|listed| listed.comment.username.as_str()).collect();
            assert!(!names.is_empty() && names.iter().all(|shown| *shown == name), "{names:?} for {name}");
        }
        let curated = TimelineFilter { curated: true, ..TimelineFilter::default() };
        let timelines = Timelines::new(indexer.table.clone());
        let page = timelines.newest(test_chain.chain.id, Scope::Everyone, curated, 0, 0, 10).await?;
        let listed: Vec<_> = page.moments.into_iter().map(|listed| listed.place).collect();
        assert_eq!(listed, [moments[3]]);
    }
    Ok(())
}

/// Each artist has one collection, and far more events than are applied together: edges are within collections.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn moments_created_with_their_collection_are_curated_beyond_the_edge_of_a_batch() -> Result<(), Error> {
    const ARTISTS: usize = 5;
    const TOKENS: u64 = 50;
    let mut shop = Shop::open("edges", 64).await?;
    let mut indexer = Indexer::of(&shop.test_chain, &[&shop.test_chain.rpc_url]).await?;
    let mut decisions = Decisions::of(&indexer.dynamodb).await?;
    indexer.follow().await?;
    for number in 0..ARTISTS {
        let artist = decisions.sign_up(shop.account(number).into()).await?;
        decisions.rename(artist, &format!("artist{number}")).await?;
    }
    // The names are propagated before there is anything that they curate.
    indexer.follow().await?;
    for number in 0..ARTISTS {
        shop.create_collection(number, TOKENS).await?;
    }
    let followed = indexer.follow().await?;
    assert!(followed.events > 1_100, "only {} events", followed.events);
    let curated = TimelineFilter { curated: true, ..TimelineFilter::default() };
    let timelines = Timelines::new(indexer.table.clone());
    let page = timelines.newest(shop.test_chain.chain.id, Scope::Everyone, curated, 0, 0, 1).await?;
    // The shop's own moment is curated, too.
    assert_eq!(page.total, ARTISTS as u64 * TOKENS + 1);
    Ok(())
}
