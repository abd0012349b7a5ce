//! Calls of nodes: how many a write takes, and which wait for each other.

use std::{
    mem,
    sync::{Arc, Mutex, atomic::Ordering::Relaxed},
};

use alloy::{
    primitives::{Bytes, U256},
    providers::ext::AnvilApi,
    sol_types::SolCall,
};
use local::patience::PATIENCE;
use shared::{
    chain::{
        contracts::native::Creator1155,
        node::MULTICALL,
        protocol::permission::{Permission, Permissions},
        transaction::Planner,
    },
    model::{MomentRef, Plan},
};
use tokio::time::timeout;

use crate::{
    proxy::{self, Act, Gate},
    support::{
        Error, answer_always, asks, counting, counting_if, policy, queue, relay, rename, renaming, run, stage,
        token_creation, transaction, until,
    },
};

#[tokio::test(flavor = "multi_thread")]
async fn next_tokens_of_many_collections_are_read_in_one_call() -> Result<(), Error> {
    const COUNT: usize = 8;
    let (workshop, artists, _) = stage("relay-one-call", COUNT).await?;
    let node = workshop.node().await?;
    let (url, asked) = counting_if(&workshop.rpc_url, asks(Creator1155::nextTokenIdCall::SELECTOR)).await?;
    let mut collections = Vec::new();
    for artist in &artists {
        collections.push(workshop.collection(&[*artist]).await?);
    }
    // Where the chain lacks the contract for it, each is asked on its own.
    for (code, calls) in [(None, 1), (Some(Bytes::new()), 1 + COUNT)] {
        if let Some(code) = code {
            node.anvil_set_code(MULTICALL, code).await?;
        }
        for (artist, collection) in artists.iter().zip(&collections) {
            queue(&workshop, artist, vec![token_creation(artist, *collection, "ar://together")?]).await?;
        }
        asked.store(0, Relaxed);

        let report = run(&relay(&workshop, &url)?).await?;

        assert_eq!((report.ended, report.batches), (COUNT, 1));
        assert_eq!(asked.load(Relaxed), calls);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn block_of_a_batch_is_downloaded_once_until_it_is_final() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-downloads", 1).await?;
    let (url, downloads) = counting(&workshop.rpc_url, "eth_getBlockReceipts").await?;
    let id = queue(&workshop, &artists[0], vec![renaming(collection, "ar://once")]).await?[0];
    run(&relay(&workshop, &url)?).await?;
    let lane = transaction(&workshop, &artists[0], id).await?.batch.ok_or("no batch")?.lane;

    workshop.node().await?.anvil_mine(Some(workshop.chain.reorg_depth), None).await?;
    until("final", async || {
        run(&relay(&workshop, &url)?).await?;
        let state = workshop.transactions().lane(workshop.chain.id, lane).await?.ok_or("no lane")?;
        Ok(state.unfinalized.is_empty())
    })
    .await?;

    assert_eq!(downloads.load(Relaxed), 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn write_takes_three_round_trips_once_the_caller_is_known() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-round-trips", 1).await?;
    let artist = artists[0];
    queue(&workshop, &artist, vec![renaming(collection, "ar://first-write")]).await?;
    run(&relay(&workshop, &workshop.rpc_url)?).await?;
    let oracle = workshop.chain.spending.l1_fee_oracle.ok_or("no oracle")?;
    answer_always(&workshop.node().await?, oracle, 1).await?;
    // Each call waits until those that don't wait for its answer have come.
    let calls = Arc::new(Mutex::new((Vec::new(), Gate::default())));
    let log = Arc::clone(&calls);
    let url = proxy::start(&workshop.rpc_url, move |request| {
        let (calls, gate) = &mut *log.lock().unwrap();
        calls.push(request.operation.clone());
        Act::Wait(gate.clone())
    })
    .await?;
    let planner = Planner::new(workshop.chain.clone(), workshop.node_at(&url)?, workshop.operator, policy());
    let caller = workshop.transactions().caller(artist.artist_id, workshop.chain.id, None).await?.ok_or("nobody")?;
    let token = token_creation(&artist, collection, "ar://next")?.plan;
    let uri = Plan::Calls { calls: vec![rename(collection, "ar://renamed")] };
    let (uri, token) =
        ((uri, Permission::Metadata, [1, 4].as_slice()), (token, Permission::Admin, [1, 1, 4].as_slice()));
    for (plan, permission, trips) in [uri, token] {
        calls.lock().unwrap().0.clear();
        let write = async {
            let moment = MomentRef { chain: workshop.chain.id, collection: collection.into(), token: U256::ONE.into() };
            let permissions = Permissions::of(planner.node(), artist.embedded_wallet.into(), &moment).await?;
            assert!(permissions.exists && permissions.may(permission));
            planner.plan(&caller, plan, None).await?;
            Ok::<_, Error>(())
        };
        // None of a trip's calls is answered before all of them have come.
        let answers = async {
            let mut expected = 0;
            for count in trips {
                expected += count;
                until("a trip", async || Ok(calls.lock().unwrap().0.len() >= expected)).await?;
                mem::take(&mut calls.lock().unwrap().1).open();
            }
            Ok::<_, Error>(())
        };
        timeout(PATIENCE, async { tokio::try_join!(write, answers) }).await??;

        let calls = &calls.lock().unwrap().0;
        assert_eq!(calls.len(), trips.iter().sum::<usize>(), "{calls:?}");
    }
    Ok(())
}
