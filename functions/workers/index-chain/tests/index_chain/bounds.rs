//! Events that are large, many or worthless, and many collections: batches, and the work of a poll, stay bounded.
//! `TOKENS=<number>` sets how many one event mints, `COLLECTIONS=<number>` how many collections there are.

use std::time::Instant;

use alloy::{
    primitives::{Address, B256, Bytes, U256},
    providers::Provider,
    sol,
};
use aws_sdk_dynamodb::types::{AttributeValue, PutRequest, WriteRequest};
use local::recorder::Recorder;
use shared::{
    chain::{
        FormerContract, Role,
        contracts::native::CommentsProtocol::{self, CommentIdentifier},
    },
    model::{MomentRef, Protocol},
    store::chain::{Comments, Documents, Scope, TimelineFilter, Timelines},
};
use tests::{DatabaseProxy, Error, TestChain, history::History};

use crate::support::{Indexer, NodeBehavior, NodeProxy, Rows, number};

sol! {
    interface Calls {
        function setBaseURI(address edition, uint8 tier, string uri) external;
        function safeTransferFrom(address from, address to, uint256 id, uint256 value, bytes data) external;
    }
}

/// More than fit into a batch of 6,000 rows: a token has ten at least.
const TOKENS: u64 = 800;

/// Collections, where there are few.
const FEW: u64 = 100;
/// Where there are many: a node is asked about 500 at once.
const MANY: u64 = 3_000;
/// Polls of a minute without new blocks.
const IDLE_POLLS: u32 = 58;
/// Most units of one publication of final blocks.
const PUBLICATION: f64 = 20.0;
/// Blocks that are indexed one by one.
const NEW_BLOCKS: usize = 15;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_event_is_split_over_batches_and_survives_a_crash_between_them() -> Result<(), Error> {
    let tokens = number("TOKENS", TOKENS)?;
    let test_chain = TestChain::start("large-edition", 64).await?;
    let mut history = History::on(&test_chain, 31).await?;
    let (artist, collector) = (history.people[0], history.people[1]);
    let edition = history.edition(artist, collector).await?;
    let proxy = DatabaseProxy::start().await?;
    let mut indexer = Indexer::through(&test_chain, &[&test_chain.rpc_url], Some(&proxy)).await?;
    indexer.follow().await?;
    history.mint_tier(edition, 0, collector, tokens).await?.ok_or("not minted")?;

    let mut is_split = false;
    for allowed_for_a_thousand in [40, 400, 500, 600] {
        let allowed = i64::try_from(allowed_for_a_thousand * tokens / 1_000)?;
        proxy.left.store(allowed, std::sync::atomic::Ordering::Relaxed);
        let failed = indexer.follow().await.is_err();
        proxy.left.store(i64::MAX, std::sync::atomic::Ordering::Relaxed);
        let checkpoint = indexer.all_rows().await?.remove(&("CHECKPOINT#8453".into(), "CHECKPOINT".into()));
        is_split |= failed && checkpoint.is_some_and(|row| row.contains_key("within"));
        indexer.restart().await?;
    }
    assert!(is_split, "no batch ended within the event");
    indexer.follow().await?;
    indexer.assert_fresh_members(&test_chain).await?;

    let timelines = Timelines::new(indexer.table.clone());
    let filter = TimelineFilter { protocol: Some(Protocol::Editions), ..TimelineFilter::default() };
    let listed = timelines.newest(test_chain.chain.id, Scope::Everyone, filter, 0, 0, 1).await?;
    assert_eq!(listed.total, tokens + 4);
    let queued = indexer.all_rows().await?;
    let queued =
        |uri: &str| queued.contains_key(&(format!("METADATA#8453#{}", Documents::uri_hash(uri)), "DOCUMENT".into()));
    assert!(queued("ar://tier/1") && queued("ar://other/1") && queued(&format!("ar://tier/{}", tokens + 3)));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transfers_of_nothing_and_tiers_of_no_edition_leave_no_row() -> Result<(), Error> {
    let test_chain = TestChain::start("nothing", 64).await?;
    let mut history = History::on(&test_chain, 32).await?;
    let (artist, other) = (history.people[0], history.people[1]);
    let (collection, ..) = history.conversation(artist).await?;
    let mut indexer = Indexer::of(&test_chain, &[&test_chain.rpc_url]).await?;
    indexer.follow().await?;
    let before = indexer.rows().await?;
    let data = Bytes::new();
    let single = Calls::safeTransferFromCall { from: artist, to: other, id: U256::ONE, value: U256::ZERO, data };
    history.send(artist, collection, U256::ZERO, &single).await?.ok_or("not sent")?;
    history.transfer_nothing(collection, artist, other, 1_000).await?;
    let metadata = test_chain.chain.addresses.editions.ok_or("no editions")?.metadata;
    let of_none = Calls::setBaseURICall { edition: other, tier: 7, uri: "ar://none".to_owned() };
    history.send(other, metadata, U256::ZERO, &of_none).await?.ok_or("not set")?;
    assert_eq!(indexer.follow().await?.events, 3);
    assert_eq!(indexer.rows().await?, before);
    Ok(())
}

/// Writes rows of collections that the chain doesn't have.
async fn add_collections(indexer: &Indexer, count: u64) -> Result<(), Error> {
    let addresses: Vec<_> =
        (1..=count).map(|number| Address::from_word(B256::from(U256::from(number << 40)))).collect();
    for addresses in addresses.chunks(25) {
        let text = |value: &str| AttributeValue::S(value.to_owned());
        let put = |address: &Address| {
            let row = PutRequest::builder().item("pk", text("COLLECTIONS#8453"));
            let row = row.item("sk", text(&format!("{address:#x}"))).item("protocol", text("native"));
            Ok::<_, Error>(WriteRequest::builder().put_request(row.build()?).build())
        };
        let rows = addresses.iter().map(put).collect::<Result<Vec<_>, _>>()?;
        indexer.client.batch_write_item().request_items("ChainTable", rows).send().await?;
    }
    Ok(())
}

fn units(recorder: &Recorder) -> f64 {
    recorder.take_calls().iter().map(|call| call.capacity).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cost_of_a_poll_does_not_depend_on_the_number_of_collections() -> Result<(), Error> {
    let test_chain = TestChain::start("many-collections", 4).await?;
    let mut history = History::on(&test_chain, 33).await?;
    let many = number("COLLECTIONS", MANY)?;
    let mut idle_units = Vec::new();
    for collections in [FEW, many] {
        let proxy = NodeProxy::in_front_of(&test_chain.rpc_url, NodeBehavior::Healthy).await?;
        let indexer = Indexer::of(&test_chain, &[&proxy.url]).await?;
        add_collections(&indexer, collections).await?;
        let recorder = Recorder::in_front_of(&indexer.dynamodb).await?;
        let mut indexer = indexer.behind(&[&proxy.url], &test_chain, &recorder.url).await?;
        indexer.follow().await?;
        indexer.restart().await?;
        units(&recorder);
        indexer.follow().await?;
        let begun = units(&recorder);

        let (before, mut times) = (proxy.calls_of("eth_getLogs"), Vec::new());
        let first = test_chain.node.get_block_number().await?;
        for _ in 0..NEW_BLOCKS {
            history.go_on(1).await?;
            let start = Instant::now();
            indexer.follower.pass(None, None, &[]).await?;
            times.push(start.elapsed());
        }
        times.sort_unstable();
        let blocks = test_chain.node.get_block_number().await? - first;
        let calls = (proxy.calls_of("eth_getLogs") - before) as u64;
        assert!(calls <= blocks + 2, "{calls} calls for {blocks} blocks of {collections} collections");
        let new_block = times[NEW_BLOCKS / 2];

        indexer.follower.finish().await?;
        units(&recorder);
        let (before, start) = (indexer.follower.usage(), Instant::now());
        for _ in 0..IDLE_POLLS {
            indexer.follower.pass(None, None, &[]).await?;
        }
        indexer.follower.finish().await?;
        let (took, (calls, of_database)) = (start.elapsed() / IDLE_POLLS, indexer.follower.usage());
        let (calls, minute) = (calls - before.0, units(&recorder));
        println!(
            "{collections} collections: {begun} units to begin, a new block after {new_block:?}; {IDLE_POLLS} idle polls: \
             {calls} calls of nodes, {minute} units, {took:?} each"
        );
        assert!(calls <= 4 * u64::from(IDLE_POLLS), "{calls} calls");
        // That blocks became final may be published meanwhile.
        assert!(of_database.writes <= before.1.writes + 2, "{of_database:?}");
        idle_units.push(minute);
        let others = |rows: Rows| rows.into_keys().filter(|(pk, _)| pk != "COLLECTIONS#8453").count();
        assert_eq!(others(indexer.rows().await?), others(Indexer::fresh_rows(&test_chain).await?));
    }
    assert!((idle_units[0] - idle_units[1]).abs() <= PUBLICATION, "units of an idle minute: {idle_units:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn backfilled_comment_and_its_original_are_one() -> Result<(), Error> {
    let test_chain = TestChain::start("backfilled", 64).await?;
    let mut history = History::on(&test_chain, 34).await?;
    history.go_on(150).await?;
    let logs = test_chain.node.get_logs(&alloy::rpc::types::Filter::new().from_block(0)).await?;
    let said = logs.iter().find_map(|log| {
        let said = log.log_decode::<shared::chain::contracts::native::MintCommenter::MintComment>().ok()?;
        Some((said.inner.data, log.transaction_hash?))
    });
    let (said, transaction) = said.ok_or("nobody commented")?;
    let mut indexer = Indexer::of(&test_chain, &[&test_chain.rpc_url]).await?;
    indexer.follow().await?;
    let moment =
        MomentRef { chain: test_chain.chain.id, collection: said.tokenContract.into(), token: said.tokenId.into() };
    let comments = Comments::new(indexer.table.clone());
    let before = comments.top_level(&moment, 0).await?.comments;

    let backfill = |transaction: B256, nonce: u8| CommentsProtocol::backfillBatchAddCommentCall {
        commentIdentifiers: vec![CommentIdentifier {
            commenter: said.sender,
            contractAddress: said.tokenContract,
            tokenId: said.tokenId,
            nonce: B256::repeat_byte(nonce),
        }],
        texts: vec![said.comment.clone()],
        timestamps: vec![U256::from(1_600_000_000)],
        originalTransactionIds: vec![transaction],
    };
    let (deployer, protocol) = (test_chain.node.get_accounts().await?[0], test_chain.chain.addresses.comments);
    history.send(deployer, protocol, U256::ZERO, &backfill(transaction, 1)).await?.ok_or("not backfilled")?;
    indexer.follow().await?;
    let after = comments.top_level(&moment, 0).await?.comments;
    assert_eq!(after.len(), before.len());
    let adopted: Vec<_> = after.iter().filter(|after| after.comment.comment_id.is_some()).collect();
    let known = before.iter().filter(|before| before.comment.comment_id.is_some()).count();
    assert_eq!(adopted.len(), known + 1);

    // A comment whose original isn't known is one of its own.
    history.send(deployer, protocol, U256::ZERO, &backfill(B256::repeat_byte(7), 2)).await?.ok_or("not backfilled")?;
    indexer.follow().await?;
    assert_eq!(comments.top_level(&moment, 0).await?.comments.len(), before.len() + 1);
    indexer.assert_fresh(&test_chain, "at the end").await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_of_former_contracts_are_indexed() -> Result<(), Error> {
    let mut test_chain = TestChain::start("former", 64).await?;
    let mut history = History::on(&test_chain, 35).await?;
    history.go_on(60).await?;
    let expected = Indexer::fresh_rows(&test_chain).await?;
    let known = &mut test_chain.chain.addresses;
    let moved = [
        (Role::Factory, &mut known.factory),
        (Role::FixedPriceMinter, &mut known.fixed_price_minter),
        (Role::Erc20Minter, &mut known.erc20_minter),
        (Role::TimedMinter, &mut known.timed_minter),
        (Role::Comments, &mut known.comments),
        (Role::SplitFactory, &mut known.split_factory),
    ];
    let mut former = Vec::new();
    for (number, (role, address)) in (1..).zip(moved) {
        former.push(FormerContract { role, address: *address, first_block: 0 });
        *address = Address::repeat_byte(number);
    }
    known.former = former;
    assert_eq!(Indexer::fresh_rows(&test_chain).await?, expected);
    Ok(())
}
