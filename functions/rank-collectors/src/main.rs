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
    telemetry::{self, Metric},
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
    let ranking = Mutex::new(Ranking { ranker: ranker().await?, made_at: Instant::now() });
    let ranking = &ranking;
    lambda_runtime::run(service_fn(move |_: LambdaEvent<Tick>| async move {
        let mut ranking = ranking.lock().await;
        let outcome = rank(&mut ranking).await;
        let age = i64::try_from(ranking.made_at.elapsed().as_secs()).unwrap_or(i64::MAX);
        telemetry::record(&[], &[(Metric::RankingAge, age)]);
        outcome
    }))
    .await
}

/// What ranks, and when its rankings were whole last, as far as this process knows.
struct Ranking {
    ranker: Ranker,
    made_at: Instant,
}

async fn ranker() -> Result<Ranker, StartError> {
    let aws = config::aws().await;
    let chains = Chains::from_env()?.iter().cloned().collect();
    Ok(Ranker::new(chains, Table::chain(&aws)?, Table::artists(&aws)?))
}

async fn rank(ranking: &mut Ranking) -> Result<(), StartError> {
    let end = Instant::now() + RUN;
    // Boxed: the compiler gives up on so many futures inside each other.
    match Box::pin(rank_until(&mut ranking.ranker, end)).await {
        Ok(payments) => {
            if Instant::now() < end {
                ranking.made_at = Instant::now();
            }
            if payments > 0 {
                tracing::info!(payments, "collectors ranked");
            }
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
