//! Ranks those who collect, on a schedule.

use std::time::{Duration, Instant};

use lambda_runtime::{LambdaEvent, service_fn};
use rank_collectors::{RankError, Ranker};
use serde::Deserialize;
use shared::{
    chain::Chains,
    clock, config,
    http::StartError,
    store::{CommitError, Table},
    telemetry,
};
use tokio::sync::Mutex;

/// How long one run goes on: well within the function's time.
const RUN: Duration = Duration::from_secs(240);

/// The schedule's own event, of which nothing matters.
#[derive(Debug, Deserialize)]
struct Tick {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    let ranker = Mutex::new(ranker().await?);
    let ranker = &ranker;
    lambda_runtime::run(service_fn(move |_: LambdaEvent<Tick>| async move { rank(&mut *ranker.lock().await).await }))
        .await
}

async fn ranker() -> Result<Ranker, StartError> {
    let aws = config::aws().await;
    let chains = Chains::from_env()?.iter().cloned().collect();
    Ok(Ranker::new(chains, Table::chain(&aws)?, Table::artists(&aws)?))
}

async fn rank(ranker: &mut Ranker) -> Result<(), StartError> {
    let end = Instant::now() + RUN;
    // Boxed: the compiler gives up on so many futures inside each other.
    match Box::pin(rank_until(ranker, end)).await {
        Ok(0) => Ok(()),
        Ok(payments) => {
            tracing::info!(payments, "collectors ranked");
            Ok(())
        }
        Err(RankError::Commit(CommitError::Overtaken)) => {
            tracing::info!("another run ranks collectors");
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

async fn rank_until(ranker: &mut Ranker, end: Instant) -> Result<usize, RankError> {
    ranker.open().await?;
    ranker.move_wallets().await?;
    let mut payments = 0;
    while Instant::now() < end {
        match ranker.step(clock::now().unwrap_or_default().as_secs()).await? {
            0 => break,
            some => payments += usize::from(some),
        }
    }
    Ok(payments)
}
