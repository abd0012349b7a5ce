//! Renamed artists: comments show the new name, and earlier moments become curated.

use std::time::Instant;

use index_chain::Follower;
use serde_json::json;
use shared::{
    model::{ArtistId, MomentRef},
    store::{
        artist::{Artist, Artists, Outbox, ProfileChange},
        chain::{Comments, Scope, TimelineFilter, Timelines},
    },
};
use tests::{Error, TestChain, history::History};

use crate::support::Indexer;

/// Propagates the outbox's messages, as the function does.
async fn propagate(follower: &mut Follower, outbox: &Outbox) -> Result<(), Error> {
    let changes = outbox.oldest().await?;
    follower.follow(None, None, &changes).await?;
    for change in changes {
        outbox.remove(change.id).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn renames_have_their_share_of_a_run_that_a_history_takes_up() -> Result<(), Error> {
    let test_chain = TestChain::start("busy-names", 4).await?;
    let mut history = History::on(&test_chain, 9).await?;
    let mut indexer = Indexer::of(&test_chain, &[&test_chain.rpc_url]).await?;
    let (artists, outbox) = (Artists::new(indexer.artists.clone()), Outbox::new(indexer.artists.clone()));
    let ada = history.people[0];
    let artist = Artist { artist_id: ArtistId::random(), embedded_wallet: ada.into() };
    artists.create(&"ada@example.com".parse()?, &artist, 0).await?;
    let (collection, ..) = history.conversation(ada).await?;
    indexer.follow().await?;
    history.go_on(20).await?;
    let change = ProfileChange { username: Some("ada".parse()?), ..ProfileChange::default() };
    artists.update_profile(artist.artist_id, &change, 100).await?.map_err(|refused| format!("{refused:?}"))?;

    // The time for blocks is over before it begins.
    let changes = outbox.oldest().await?;
    let followed = indexer.follower.follow(None, Some(Instant::now()), &changes).await?;
    assert!(followed.behind > 0 && followed.events == 0, "{followed:?}");
    let token = alloy::primitives::U256::ONE.into();
    let moment = MomentRef { chain: test_chain.chain.id, collection: collection.into(), token };
    let listed = Comments::new(indexer.table.clone()).top_level(&moment, 0).await?.comments;
    assert!(!listed.is_empty() && listed.iter().all(|listed| listed.comment.username == "ada"), "{listed:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_name_is_shown_with_comments_and_replies_and_curates_earlier_moments() -> Result<(), Error> {
    let test_chain = TestChain::start("names", 4).await?;
    let mut history = History::on(&test_chain, 5).await?;
    let Indexer { mut follower, table, artists: artist_table, .. } =
        Indexer::of(&test_chain, &[&test_chain.rpc_url]).await?;
    let (artists, outbox) = (Artists::new(artist_table.clone()), Outbox::new(artist_table));
    let ada = history.people[0];
    let artist = Artist { artist_id: ArtistId::random(), embedded_wallet: ada.into() };
    artists.create(&"ada@example.com".parse()?, &artist, 0).await?;

    let (collection, top, _) = history.conversation(ada).await?;
    follower.follow(None, None, &[]).await?;
    let moment = MomentRef {
        chain: test_chain.chain.id,
        collection: collection.into(),
        token: alloy::primitives::U256::ONE.into(),
    };
    let (comments, timelines) = (Comments::new(table.clone()), Timelines::new(table));
    let shown = async || {
        let listed = comments.top_level(&moment, 0).await?.comments;
        let replies = comments.replies(&moment, top.into(), 0).await?.comments;
        let names = listed
            .iter()
            .flat_map(|top| std::iter::once(&top.comment).chain(&top.replies).map(|comment| comment.username.clone()));
        let replies = replies.iter().map(|reply| reply.comment.username.clone());
        Ok::<_, Error>(names.chain(replies).collect::<Vec<_>>())
    };
    let curated = async || {
        let filter = TimelineFilter { curated: true, ..TimelineFilter::default() };
        let page = timelines.newest(test_chain.chain.id, Scope::Everyone, filter, 0, 0, 10).await?;
        Ok::<_, Error>(page.moments.into_iter().map(|listed| listed.place).collect::<Vec<_>>())
    };
    assert!(shown().await?.iter().all(String::is_empty));
    assert_eq!(curated().await?, []);

    for (name, block) in [("ada", 0_u64), ("ada.lovelace", 1)] {
        let change = ProfileChange { username: Some(name.parse()?), ..ProfileChange::default() };
        artists
            .update_profile(artist.artist_id, &change, 100 + block)
            .await?
            .map_err(|refused| format!("{refused:?}"))?;
        propagate(&mut follower, &outbox).await?;
        let shown = shown().await?;
        assert!(shown.len() >= 5 && shown.iter().all(|shown| shown == name), "{}", json!(shown));
        assert_eq!(curated().await?, [moment]);
        assert!(outbox.oldest().await?.is_empty());
    }
    Ok(())
}
