//! Ponder on the same chain: `benches/peers/ponder`, installed by `make bench`.

use std::{
    fs,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use local::{Error, paths::Paths, process::free_port};
use shared::chain::Chain;
use tokio::process::Command;

/// Longest time that it may take.
const PATIENCE: Duration = Duration::from_secs(900);

/// Seconds from the first answer of its server until it has indexed all blocks; its start isn't counted. `None` if it isn't
/// installed.
pub async fn index(paths: &Paths, rpc_url: &str, chain: &Chain, last: u64) -> Result<Option<f64>, Error> {
    let folder = paths.root().join("benches/peers/ponder");
    let program = folder.join("node_modules/.bin/ponder");
    if !program.exists() {
        return Ok(None);
    }
    forget(&folder)?;
    let port = free_port()?;
    let log = fs::File::create(paths.local("workshops/ponder.log"))?;
    let mut process = Command::new(program)
        .args(["start", "--schema", "bench", "--port", &port.to_string()])
        .current_dir(&folder)
        .env("RPC", rpc_url)
        .env("FACTORY", chain.addresses.factory.to_string())
        .env("MINTER", chain.addresses.fixed_price_minter.to_string())
        .env("END", last.to_string())
        .env("PONDER_TELEMETRY_DISABLED", "true")
        .stdout(Stdio::from(log.try_clone()?))
        .stderr(Stdio::from(log))
        .kill_on_drop(true)
        .spawn()?;
    let client = reqwest::Client::new();
    let status = async |path: &str| {
        let answer = client.get(format!("http://127.0.0.1:{port}{path}")).send().await;
        answer.ok().map(|answer| answer.status().as_u16())
    };
    let (begin, mut first) = (Instant::now(), None);
    let seconds = loop {
        if let Some(ended) = process.try_wait()? {
            return Err(format!("Ponder ended with {ended}: see .local/workshops/ponder.log").into());
        }
        if first.is_none() && status("/health").await == Some(200) {
            first = Some(Instant::now());
        }
        if let Some(first) = first.filter(|_| begin.elapsed() < PATIENCE) {
            if status("/ready").await == Some(200) {
                break first.elapsed().as_secs_f64();
            }
        } else if begin.elapsed() >= PATIENCE {
            return Err("Ponder took too long: see .local/workshops/ponder.log".into());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    process.kill().await?;
    forget(&folder)?;
    Ok(Some(seconds))
}

/// Removes what it keeps of earlier runs.
fn forget(folder: &Path) -> Result<(), Error> {
    for name in [".ponder", "generated"] {
        let kept = folder.join(name);
        if kept.exists() {
            fs::remove_dir_all(kept)?;
        }
    }
    Ok(())
}
