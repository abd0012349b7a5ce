//! Calls of nodes: how many a write takes, and which wait for each other.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::Ordering::Relaxed},
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
    model::{Address, MomentRef, Plan},
    store::artist::{ArtistTable, MadeCollections},
};
use tokio::time::timeout;

use crate::{
    proxy::{self, Act, Gate},
    support::{
        Error, FOREVER, answer_always, asks, counting, counting_if, policy, queue, relay, rename, renaming, run, stage,
        token_creation, transaction, until,
    },
};

/// Calls of a node, and where those wait that have come lately.
#[derive(Clone, Default)]
struct Trips(Arc<Mutex<(Vec<String>, Gate)>>);

impl Trips {
    /// A way to the node on which each call waits.
    async fn hold(&self, url: &str) -> Result<String, Error> {
        let trips = self.clone();
        proxy::start(url, move |request| {
            let (calls, gate) = &mut *trips.lock();
            calls.push(request.operation.clone());
            Act::Wait(gate.clone())
        })
        .await
    }

    /// Answers no call of a round trip, which has so many, before all of them have come: those that don't wait for each
    /// other's answers.
    async fn answer(&self, sizes: &[usize]) -> Result<(), Error> {
        let mut expected = 0;
        for size in sizes {
            expected += size;
            until("a trip", async || Ok(self.lock().0.len() >= expected)).await?;
            mem::take(&mut self.lock().1).open();
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, (Vec<String>, Gate)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

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
    let trips = Trips::default();
    let node = workshop.node_at(&trips.hold(&workshop.rpc_url).await?)?;
    let planner = Planner::new(workshop.chain.clone(), node, workshop.operator, policy());
    let caller = workshop.transactions().caller(artist.artist_id, workshop.chain.id, None).await?.ok_or("nobody")?;
    let token = token_creation(&artist, collection, "ar://next")?.plan;
    let uri = Plan::Calls { calls: vec![rename(collection, "ar://renamed")] };
    let (uri, token) =
        ((uri, Permission::Metadata, [1, 4].as_slice()), (token, Permission::Admin, [1, 1, 4].as_slice()));
    for (plan, permission, sizes) in [uri, token] {
        trips.lock().0.clear();
        let write = async {
            let moment = MomentRef { chain: workshop.chain.id, collection: collection.into(), token: U256::ONE.into() };
            let permissions = Permissions::of(planner.node(), artist.embedded_wallet.into(), &moment).await?;
            assert!(permissions.exists && permissions.may(permission));
            planner.plan(&caller, plan, None).await?;
            Ok::<_, Error>(())
        };
        timeout(PATIENCE, async { tokio::try_join!(write, trips.answer(sizes)) }).await??;

        let calls = &trips.lock().0;
        assert_eq!(calls.len(), sizes.iter().sum::<usize>(), "{calls:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn batch_takes_five_round_trips_once_its_lane_is_known() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-batch-round-trips", 1).await?;
    let oracle = workshop.chain.spending.l1_fee_oracle.ok_or("no oracle")?;
    answer_always(&workshop.node().await?, oracle, 1).await?;
    // The lanes are opened, and it is known who made the collection.
    run(&relay(&workshop, &workshop.rpc_url)?).await?;
    let made = MadeCollections::new(ArtistTable::new(&workshop.dynamodb, "ArtistTable"));
    made.add(workshop.chain.id, [Address::from(collection)].into()).await?;
    let trips = Trips::default();
    let mut relay = relay(&workshop, &trips.hold(&workshop.rpc_url).await?)?;
    // Nothing is read again, however slow the machine is.
    relay.times.fresh = FOREVER;
    queue(&workshop, &artists[0], vec![token_creation(&artists[0], collection, "ar://batch")?]).await?;
    // The chain's id, the operator Safe's owners, each lane's balance and nonce.
    let start = [1, 1, 2 * workshop.lanes().len()];
    // Fees, the newest block, the next token and the artist's account, the fee for data and the trial, the batch.
    let batch = [1, 1, 2, 2, 1];
    let sizes = [start.as_slice(), &batch].concat();

    tokio::select! {
        report = run(&relay) => return Err(format!("it is over: {report:?}").into()),
        answered = trips.answer(&sizes) => answered?,
    }

    let calls = &trips.lock().0;
    let sent = calls.iter().position(|method| method == "eth_sendRawTransaction").ok_or("nothing sent")?;
    assert_eq!(sent + 1, sizes.iter().sum::<usize>(), "{calls:?}");
    Ok(())
}
