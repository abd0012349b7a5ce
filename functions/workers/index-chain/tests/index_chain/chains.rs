//! Chains side by side: one's trouble is no other's.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use index_chain::{ChainRun, Deliveries, Follower};
use local::patience::eventually;
use serde_json::json;
use shared::{
    chain::{Chain, node::Node},
    model::{ChainId, MomentRef},
    store::{
        artist::{Artists, Outbox},
        chain::{Comments, Scope, TimelineFilter, Timelines},
        engine::{Journal, UnitOfWork},
    },
};
use tests::{DatabaseProxy, Error, TestChain, history::History};
use uuid::Uuid;

use crate::support::{Indexer, decisions::Decisions};

/// More messages than are stored together.
const HIDINGS: usize = 120;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn live_chain_gets_every_change_beside_a_dead_one() -> Result<(), Error> {
    let test_chain = TestChain::start("beside", 64).await?;
    let mut history = History::on(&test_chain, 41).await?;
    let ada = history.people[0];
    let mut indexer = Indexer::of(&test_chain, &[&test_chain.rpc_url]).await?;
    let mut decisions = Decisions::of(&indexer.dynamodb).await?;
    let artist = decisions.sign_up(ada.into()).await?;
    let (collection, top, _) = history.conversation(ada).await?;
    indexer.follow().await?;

    let token = alloy::primitives::U256::ONE.into();
    let moment = MomentRef { chain: test_chain.chain.id, collection: collection.into(), token };
    // A message of a later version.
    let text = |value: String| AttributeValue::S(value);
    let unknown = indexer.client.put_item().table_name("ArtistTable").item("pk", text("INBOX".to_owned()));
    let unknown = unknown.item("sk", text(Uuid::now_v7().to_string())).item("change", text("mused".to_owned()));
    unknown.send().await?;
    for number in 0..HIDINGS {
        decisions.hide(artist, &moment, number % 2 == 0).await?;
    }
    decisions.rename(artist, "ada").await?;

    let dead_id = ChainId(1);
    let mut dead = dead_follower(&indexer, Chain { id: dead_id, ..test_chain.chain.clone() })?;
    let outbox = Outbox::new(indexer.artists.clone());
    let deliveries = Deliveries::new(outbox.clone(), [test_chain.chain.id, dead_id]);
    let (comments, time) = (Comments::new(indexer.table.clone()), Duration::from_secs(2));
    eventually("the new name in the replies", async || {
        let (lost, live) = tokio::join!(
            ChainRun::of(&mut dead).run(None, time, Some(&deliveries)),
            ChainRun::of(&mut indexer.follower).run(None, time, Some(&deliveries)),
        );
        assert!(lost.followed.is_err());
        assert!(live.followed?.is_some_and(|followed| followed.behind == 0));
        let replies = comments.replies(&moment, top.into(), 0).await?.comments;
        let is_done = !replies.is_empty() && replies.into_iter().all(|reply| reply.comment.username == "ada");
        Ok(is_done.then_some(()))
    })
    .await?;
    let timelines = Timelines::new(indexer.table.clone());
    let page = timelines.newest(moment.chain, Scope::Everyone, TimelineFilter::default(), 0, 0, 1).await?;
    assert_eq!(page.total, 1);
    // The dead chain has taken them, too, but for the one of a later version.
    assert!(outbox.oldest().await?.is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chain_without_a_live_node_shows_its_artists_changes_and_goes_on_with_one() -> Result<(), Error> {
    let test_chain = TestChain::start("dead-nodes", 64).await?;
    let mut history = History::on(&test_chain, 42).await?;
    let ada = history.people[0];
    let mut indexer = Indexer::of(&test_chain, &[&test_chain.rpc_url]).await?;
    let mut decisions = Decisions::of(&indexer.dynamodb).await?;
    let artist = decisions.sign_up(ada.into()).await?;
    let (collection, ..) = history.conversation(ada).await?;
    indexer.follow().await?;
    let token = alloy::primitives::U256::ONE.into();
    let moment = MomentRef { chain: test_chain.chain.id, collection: collection.into(), token };

    let outbox = Outbox::new(indexer.artists.clone());
    let deliveries = Deliveries::new(outbox.clone(), [moment.chain]);
    let chain = test_chain.chain.clone();
    let artists = Artists::new(indexer.artists.clone());
    let without = Follower::new(chain.clone(), &Node::none(), indexer.table.clone(), artists);
    let mut followers = [dead_follower(&indexer, chain)?, without];
    for (name, index) in [("ada", 0), ("lovelace", 0), ("countess", 1), ("byron", 1)] {
        decisions.rename(artist, name).await?;
        let lost = ChainRun::of(&mut followers[index]).run(None, Duration::ZERO, Some(&deliveries)).await;
        let is_failure = lost.followed.is_err();
        assert_eq!(is_failure, index == 0, "only dead nodes are a failure");
        let listed = Comments::new(indexer.table.clone()).top_level(&moment, 0).await?.comments;
        assert!(!listed.is_empty() && listed.iter().all(|listed| listed.comment.username == name), "{listed:?}");
        assert!(outbox.oldest().await?.is_empty());
    }
    let mut journal = Journal::new(indexer.table.clone(), moment.chain);
    journal.open(&mut UnitOfWork::new(indexer.table.clone())).await?;
    assert_eq!(journal.first_undoable(), None, "what no block will undo is kept");
    history.go_on(10).await?;
    indexer.follow().await?;
    indexer.assert_fresh_members(&test_chain).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_that_could_not_be_deleted_are_deleted_later_and_not_carried_out_again() -> Result<(), Error> {
    let test_chain = TestChain::start("undeleted", 64).await?;
    let proxy = DatabaseProxy::start().await?;
    let indexer = Indexer::through(&test_chain, &[&test_chain.rpc_url], Some(&proxy)).await?;
    let mut decisions = Decisions::of(&indexer.dynamodb).await?;
    let artist = decisions.sign_up(alloy::primitives::Address::repeat_byte(0xad).into()).await?;
    for name in ["ada", "lovelace", "byron"] {
        decisions.rename(artist, name).await?;
    }
    let (chain, outbox) = (test_chain.chain.id, Outbox::new(indexer.artists.clone()));
    let deliveries = Deliveries::new(outbox.clone(), [chain]);
    let changes = deliveries.pending(chain).await?;
    assert!(changes.len() >= 3, "{changes:?}");
    proxy.lead_to("http://127.0.0.1:1");
    assert!(deliveries.taken(chain, &changes).await.is_err());
    proxy.lead_to(&indexer.dynamodb);
    assert!(deliveries.pending(chain).await?.is_empty(), "they are carried out again");
    deliveries.taken(chain, &[]).await?;
    assert!(outbox.oldest().await?.is_empty());
    Ok(())
}

/// A follower of a chain whose only node doesn't answer.
fn dead_follower(indexer: &Indexer, chain: Chain) -> Result<Follower, Error> {
    let urls = json!({ chain.id.to_string(): ["http://127.0.0.1:1"] }).to_string().parse()?;
    let nodes = Node::paced(&urls, chain.id)?;
    Ok(Follower::new(chain, &nodes, indexer.table.clone(), Artists::new(indexer.artists.clone())))
}
