//! Follows every configured chain and keeps what the service's contracts say, on a schedule.
//!
//! Reading a block twice changes no row: an operator may ask for any range again by invoking the function with
//! `{"chainId", "fromBlock", "toBlock"}`, which leaves the checkpoint alone.

mod apply;
mod event;
mod follow;

use lambda_runtime::{LambdaEvent, service_fn};
use serde::{Deserialize, Serialize};
use shared::{
    chain::{
        Chains,
        node::{Node, NodeUrls},
    },
    config,
    http::StartError,
    model::ChainId,
    store::{Artists, Checkpoints, Comments, Moments, Table},
    telemetry,
};
use tokio::sync::Mutex;

use crate::{
    apply::Index,
    follow::{Follower, IndexError},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    let followers = Mutex::new(followers().await?);
    let followers = &followers;
    lambda_runtime::run(service_fn(move |event: LambdaEvent<IndexRequest>| async move {
        index(&mut followers.lock().await, &event.payload).await.map_err(StartError::from)
    }))
    .await
}

/// What to read: the schedule's own event has none of these fields and means whatever is new on every chain.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct IndexRequest {
    /// The chain to read again.
    chain_id: Option<ChainId>,
    /// First block to read again; the chain's first unless given.
    from_block: Option<u64>,
    /// Last block to read again; the newest unless given.
    to_block: Option<u64>,
}

/// What was read of one chain.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct IndexedRange {
    chain_id: ChainId,
    /// First block that isn't read yet, or would be next.
    next_block: u64,
    /// Events of the service's contracts in the blocks read.
    events: usize,
}

async fn followers() -> Result<Vec<Follower>, StartError> {
    let aws = config::aws().await;
    let (table, artists, urls) = (Table::chain(&aws)?, Artists::new(Table::artists(&aws)?), NodeUrls::from_env()?);
    let follower = |chain| {
        let index = Index::new(Moments::new(table.clone()), Comments::new(table.clone()), artists.clone());
        Ok(Follower::new(Clone::clone(chain), Node::new(&urls, chain.id)?, Checkpoints::new(table.clone()), index))
    };
    Chains::from_env()?.iter().map(follower).collect()
}

/// One chain's failure doesn't keep the others from being read; the run fails at its end, so that the alarm sees it.
async fn index(followers: &mut [Follower], request: &IndexRequest) -> Result<Vec<IndexedRange>, IndexError> {
    let mut ranges = Vec::new();
    let mut failure = None;
    for follower in followers {
        let chain = follower.chain_id();
        let read = match request.chain_id {
            None => follower.follow().await,
            Some(wanted) if wanted == chain => follower.read_again(request.from_block, request.to_block).await,
            Some(_) => continue,
        };
        match read {
            Ok((next_block, events)) => ranges.push(IndexedRange { chain_id: chain, next_block, events }),
            Err(error) => {
                tracing::error!(chain.id = chain.0, error = telemetry::chain(&error), "chain not read");
                failure = Some(error);
            }
        }
    }
    failure.map_or(Ok(ranges), Err)
}
