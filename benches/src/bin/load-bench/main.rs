//! Load on a local stack with production's limits: `local load load-bench attack` puts one client at `ATTACK_RATE` requests
//! a second (500) on each route in turn, beside honest users; `mix` raises a mix as of a real day until it breaks, and
//! holds half of it for `SOAK_SECONDS`, beside which ten endpoints are measured. An attack fails below 99 % of honest
//! successes, or, unless `LATENCY=free`, above twice the quiet p99. `outage` kills all functions' processes for
//! `OUTAGE_SECONDS`; `short` is an attack and an outage.

mod attack;
mod endpoints;
mod honest;
mod outage;
mod record;
mod soak;

use std::{env, process::ExitCode, time::Duration};

use local::Error;

#[tokio::main]
async fn main() -> Result<ExitCode, Error> {
    let is_fine = match env::args().nth(1).as_deref() {
        Some("attack") => attack::measure().await?,
        Some("mix") => soak::measure().await?,
        Some("outage") => outage::measure().await?,
        Some("short") => attack::measure().await? & outage::measure().await?,
        _ => return Err("usage: local load load-bench attack|mix|outage|short".into()),
    };
    Ok(if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A number from the environment.
fn setting(name: &str, default: u64) -> Result<u64, Error> {
    match env::var(name) {
        Ok(text) => text.parse().map_err(|_| format!("{name} is {text}: give a whole number").into()),
        Err(_) => Ok(default),
    }
}

/// Calls `start` `rate` times a second until `seconds` are over, late or not.
async fn open_loop(rate: u64, seconds: u64, mut start: impl FnMut()) {
    // More than one at a time where ticks would come too fast for the timer.
    let at_once = rate.div_ceil(200).max(1);
    let mut ticks = tokio::time::interval(Duration::from_secs(1).mul_f64(at_once as f64 / rate.max(1) as f64));
    for _ in 0..rate * seconds / at_once {
        ticks.tick().await;
        (0..at_once).for_each(|_| start());
    }
}
