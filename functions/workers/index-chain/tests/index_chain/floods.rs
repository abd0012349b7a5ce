//! Many changes of artists at once: they hold up neither the operator's decisions nor each other.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use alloy::primitives::{Address, B256, U256};
use aws_sdk_dynamodb::types::AttributeValue;
use index_chain::{Deliveries, IndexError};
use shared::{
    model::{Action, ArtistChanged, MomentRef, Reason, Subject},
    store::{
        artist::{Decision, Moderation, Outbox},
        chain::{Comments, Moments},
    },
};
use tests::{DatabaseProxy, Error, TestChain, history::History};
use uuid::Uuid;

use crate::support::{Indexer, decisions::Decisions};

/// More than two reads of the outbox.
const SIGN_UPS: u64 = 200;

/// Transactions for them at most; each alone took one.
const COMMITS: u64 = 16;

/// An account that nobody uses on the chain.
fn account(number: u64) -> Address {
    Address::from_word(B256::from(U256::from(number + 1)))
}

/// A decision of the operator.
fn hiding(subject: Subject) -> Decision {
    Decision {
        subject,
        action: Action::Hide,
        reason: Reason::Spam,
        note: String::new(),
        by: "the night shift".to_owned(),
        at: 1_000,
        until: None,
        with: None,
    }
}

/// Passes of the index until the outbox is empty. Changes are taken if a pass stored them.
async fn carry_out(indexer: &mut Indexer, deliveries: &Deliveries, passes: usize) -> Result<Option<IndexError>, Error> {
    let (outbox, mut last) = (Outbox::new(indexer.artists.clone()), None);
    let chain = indexer.follower.chain_id();
    for _ in 0..passes {
        let changes = deliveries.pending(chain).await?;
        last = indexer.follower.pass(None, None, &changes).await.err();
        if last.as_ref().is_none_or(IndexError::keeps_changes) {
            deliveries.taken(chain, &changes).await?;
        }
        if last.is_none() && outbox.oldest().await?.is_empty() {
            break;
        }
    }
    Ok(last)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_sign_ups_are_few_commits() -> Result<(), Error> {
    let test_chain = TestChain::start("sign-ups", 64).await?;
    let mut history = History::on(&test_chain, 45).await?;
    let mut indexer = Indexer::of(&test_chain, &[&test_chain.rpc_url]).await?;
    let mut decisions = Decisions::of(&indexer.dynamodb).await?;
    history.conversation(history.people[0]).await?;
    indexer.follow().await?;
    for number in 0..SIGN_UPS {
        decisions.sign_up(account(number).into()).await?;
    }
    let before = indexer.commits().await?;
    let deliveries = Deliveries::new(Outbox::new(indexer.artists.clone()), [test_chain.chain.id]);
    let failure = carry_out(&mut indexer, &deliveries, 5).await?;
    assert!(failure.is_none(), "{failure:?}");
    assert!(Outbox::new(indexer.artists.clone()).oldest().await?.is_empty(), "the outbox isn't empty");
    let waiting = indexer.all_rows().await?.into_keys().filter(|(pk, _)| pk.starts_with("CHANGES#")).count();
    assert_eq!(waiting, 0);
    let commits = indexer.commits().await? - before;
    assert!(commits <= COMMITS, "{commits} commits");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn decisions_go_before_sign_ups() -> Result<(), Error> {
    let test_chain = TestChain::start("decisions-first", 64).await?;
    let mut history = History::on(&test_chain, 46).await?;
    let proxy = DatabaseProxy::start().await?;
    let mut indexer = Indexer::through(&test_chain, &[&test_chain.rpc_url], Some(&proxy)).await?;
    let mut decisions = Decisions::of(&indexer.dynamodb).await?;
    let mut moments = Vec::new();
    for person in [history.people[0], history.people[1]] {
        let (collection, ..) = history.conversation(person).await?;
        let token = U256::ONE.into();
        moments.push(MomentRef { chain: test_chain.chain.id, collection: collection.into(), token });
    }
    indexer.follow().await?;

    for number in 0..SIGN_UPS {
        decisions.sign_up(account(number).into()).await?;
    }
    let moderation = Moderation::new(indexer.artists.clone());
    for moment in &moments {
        assert!(moderation.decide(hiding(Subject::Moment(*moment)), None, "2026-11").await?);
    }
    let (outbox, chain) = (Outbox::new(indexer.artists.clone()), test_chain.chain.id);
    let posted = outbox.since(ArtistChanged::FIRST_DECISION, usize::MAX, &BTreeSet::new()).await?;
    assert_eq!(posted.len(), moments.len());
    // One in the form of the version before, whose place is behind all sign-ups.
    let id = Uuid::from_u128(posted[1].id.as_u128() ^ ArtistChanged::FIRST_DECISION.as_u128());
    let text = |value: String| AttributeValue::S(value);
    let former = indexer.client.put_item().table_name("ArtistTable").item("pk", text("INBOX".to_owned()));
    let former = former.item("sk", text(id.to_string())).item("kind", text("decided".to_owned()));
    let former = former.item("artist_id", text(posted[1].artist_id.to_string()));
    former.item("subject", text(Subject::Moment(moments[1]).to_string())).send().await?;
    outbox.remove(posted[1].id).await?;

    let order = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&order);
    proxy.observe(move |target, request, _| {
        let request = String::from_utf8_lossy(request);
        let is_decision = request.contains(r#""is_withheld":{"BOOL":true}"#);
        let is_change = request.contains(r#""Delete"#) && request.contains("CHANGES#");
        if target.contains("Write") && (is_decision || is_change) {
            seen.lock().expect("nobody panicked").push(is_decision);
        }
    });
    let deliveries = Deliveries::new(outbox, [chain]);
    let failure = carry_out(&mut indexer, &deliveries, 5).await?;
    assert!(failure.is_none(), "{failure:?}");
    let order = order.lock().expect("nobody panicked").clone();
    assert!(order.len() > 2 && order[0], "sign-ups went first: {order:?}");
    let stored = Moments::new(indexer.table.clone());
    for moment in &moments {
        assert!(stored.moment(moment).await?.is_some_and(|moment| moment.is_withheld), "{moment} is shown");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn change_that_fails_holds_no_other_up() -> Result<(), Error> {
    let test_chain = TestChain::start("failing-change", 64).await?;
    let mut history = History::on(&test_chain, 47).await?;
    let proxy = DatabaseProxy::start().await?;
    let mut indexer = Indexer::through(&test_chain, &[&test_chain.rpc_url], Some(&proxy)).await?;
    let mut decisions = Decisions::of(&indexer.dynamodb).await?;
    let (ada, bob) = (history.people[0], history.people[1]);
    let artist = decisions.sign_up(ada.into()).await?;
    let mut moments = Vec::new();
    for person in [ada, bob] {
        let (collection, ..) = history.conversation(person).await?;
        let token = U256::ONE.into();
        moments.push(MomentRef { chain: test_chain.chain.id, collection: collection.into(), token });
    }
    indexer.follow().await?;

    decisions.hide(artist, &moments[1], true).await?;
    decisions.rename(artist, "ada").await?;
    proxy.refuse(Some(format!("MOMENTS#{}#{}", moments[1].chain, moments[1].collection)));
    let (outbox, chain) = (Outbox::new(indexer.artists.clone()), test_chain.chain.id);
    let deliveries = Deliveries::new(outbox.clone(), [chain]);
    let failure = carry_out(&mut indexer, &deliveries, 4).await?;
    assert!(matches!(failure, Some(IndexError::Changes(_))), "{failure:?}");
    assert!(outbox.oldest().await?.is_empty(), "messages are taken again and again");
    let listed = Comments::new(indexer.table.clone()).top_level(&moments[0], 0).await?.comments;
    assert!(!listed.is_empty() && listed.iter().all(|listed| listed.comment.username == "ada"), "{listed:?}");

    proxy.refuse(None);
    let failure = carry_out(&mut indexer, &deliveries, 2).await?;
    assert!(failure.is_none(), "{failure:?}");
    let hidden = Moments::new(indexer.table.clone()).moment(&moments[1]).await?;
    assert_eq!(hidden.and_then(|moment| moment.hidden_by), Some(artist));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn decisions_and_changes_of_one_artist_in_one_read_end_alike_in_any_order() -> Result<(), Error> {
    let test_chain = TestChain::start("one-read", 64).await?;
    let mut history = History::on(&test_chain, 48).await?;
    let mut indexer = Indexer::of(&test_chain, &[&test_chain.rpc_url]).await?;
    let mut decisions = Decisions::of(&indexer.dynamodb).await?;
    let (first, second) = (history.people[0], history.people[1]);
    let mut collections: Vec<shared::model::Address> = Vec::new();
    for person in [first, second] {
        collections.push(history.conversation(person).await?.0.into());
    }
    indexer.follow().await?;
    let (stored, chain) = (Moments::new(indexer.table.clone()), test_chain.chain.id);
    let is_withheld = async || {
        let mut marks = Vec::new();
        for collection in &collections {
            let token = U256::ONE.into();
            let moment = stored.moment(&MomentRef { chain, collection: *collection, token }).await?;
            marks.push(stored.collection(chain, *collection).await?.ok_or("no collection")?.is_withheld);
            marks.push(moment.ok_or("no moment")?.is_withheld);
        }
        Ok::<_, Error>(marks)
    };
    let deliveries = Deliveries::new(Outbox::new(indexer.artists.clone()), [chain]);

    let artist = decisions.sign_up(first.into()).await?;
    decisions.connect(artist, second.into()).await?;
    let (moderation, decision) = (Moderation::new(indexer.artists.clone()), hiding(Subject::Artist(first.into())));
    assert!(moderation.decide(decision.clone(), None, "2026-11").await?);
    let failure = carry_out(&mut indexer, &deliveries, 2).await?;
    assert!(failure.is_none(), "{failure:?}");
    assert_eq!(is_withheld().await?, [true; 4]);

    // The end of the decision, which goes first, no longer names the wallet.
    decisions.disconnect(artist, second.into()).await?;
    assert!(moderation.undo(decision, None, "the night shift", 1_001).await?);
    let failure = carry_out(&mut indexer, &deliveries, 2).await?;
    assert!(failure.is_none(), "{failure:?}");
    assert_eq!(is_withheld().await?, [false; 4]);
    Ok(())
}
