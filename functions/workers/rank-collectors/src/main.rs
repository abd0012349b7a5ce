//! Ranks collectors, on a schedule.

use std::time::{Duration, Instant};

use lambda_runtime::LambdaEvent;
use rank_collectors::{RankError, Ranker};
use shared::{
    chain::Chains,
    clock,
    config::{self, StartError},
    store::{artist::ArtistTable, chain::ChainTable, engine::CommitError},
    telemetry::{
        self, Metric,
        trace::{self, ScheduledEvent},
    },
};
use tokio::sync::Mutex;

/// Longest run, well within the function's timeout.
const RUN: Duration = Duration::from_secs(240);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    let state = Mutex::new(State { ranker: ranker().await?, complete_at: Instant::now() });
    let state = &state;
    trace::run(move |_: LambdaEvent<ScheduledEvent>| async move {
        let mut state = state.lock().await;
        rank(&mut state).await?;
        // A run that fails measures nothing, which is what the alarm notices: another process would begin at 0.
        let age = i64::try_from(state.complete_at.elapsed().as_secs()).unwrap_or(i64::MAX);
        telemetry::record(&[], &[(Metric::RankingAge, age)]);
        Ok::<_, StartError>(())
    })
    .await
}

struct State {
    ranker: Ranker,
    /// When this process last had no payment left to count; at first, when it started.
    complete_at: Instant,
}

async fn ranker() -> Result<Ranker, StartError> {
    let aws = config::aws().await;
    let chains = Chains::from_env()?.iter().cloned().collect();
    Ok(Ranker::new(chains, ChainTable::from_env(&aws)?, ArtistTable::from_env(&aws)?))
}

async fn rank(state: &mut State) -> Result<(), StartError> {
    let end = Instant::now() + RUN;
    // Boxed: futures nested this deeply exceed the compiler's limits.
    match Box::pin(rank_until(&mut state.ranker, end)).await {
        Ok(payments) => {
            if Instant::now() < end {
                state.complete_at = Instant::now();
            }
            if payments > 0 {
                tracing::info!(payments, "collectors ranked");
            }
            Ok(())
        }
        Err(RankError::Commit(CommitError::Overtaken)) => {
            tracing::info!("collectors not ranked: another run is ranking them");
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
