use std::time::Duration;

use local::Error;
use tokio::time::{Instant, sleep};

use super::{
    endpoints,
    honest::{Honest, KINDS},
    record::Taken,
    setting,
};

/// Longest wait until everything is well again.
const PATIENCE: Duration = Duration::from_secs(60);

/// Kills every function's processes again and again for `OUTAGE_SECONDS`, as when a region's functions are lost. Returns
/// whether all requests succeed afterwards, and no write stays open.
pub async fn measure() -> Result<bool, Error> {
    let seconds = setting("OUTAGE_SECONDS", 10)?;
    let honest = Honest::new(4, false).await?;
    println!("| functions | successes | p99 {} (ms) |\n| --- | --- | --- |", KINDS.join(", "));
    tell("well", &honest.live(seconds).await);
    let lost = async {
        loop {
            endpoints::kill(|_| true).await?;
            sleep(Duration::from_millis(100)).await;
        }
    };
    let during = tokio::select! {
        taken = honest.live(seconds) => taken,
        failed = lost => return failed,
    };
    tell("lost", &during);
    let back = Instant::now();
    let is_well = loop {
        let taken = honest.live(1).await;
        let (successes, all) = taken.successes();
        if successes == all || back.elapsed() > PATIENCE {
            tell("back", &taken);
            break successes == all;
        }
    };
    let well_after = back.elapsed().saturating_sub(Duration::from_secs(1));
    let mut open = honest.open_transactions().await?;
    while open > 0 && back.elapsed() < PATIENCE {
        sleep(Duration::from_millis(200)).await;
        open = honest.open_transactions().await?;
    }
    println!("\nall requests succeed after {} ms; writes still open: {open}", well_after.as_millis());
    Ok(is_well && open == 0)
}

fn tell(name: &str, taken: &Taken) {
    let (successes, all) = taken.successes();
    let times = KINDS.map(|kind| taken.percentile(kind, 99).to_string()).join(", ");
    println!("| {name} | {successes} of {all} | {times} |");
}
