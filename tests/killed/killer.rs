use std::{
    cell::Cell,
    collections::BTreeMap,
    process::Stdio,
    time::{Duration, Instant},
};

use tests::{Stack, history::Dice};
use tokio::{process::Command, time::sleep};

/// Functions whose processes are killed one by one.
const ENDPOINTS: [&str; 2] = ["create-moment", "update-moment-uri"];
/// All of its processes are killed at once, so that the leader is among them. Another one takes over after seconds.
const RELAY: &str = "relay";
/// Time until the relay's first kill, and between two: that of a takeover, and some for work.
const RELAY_FIRST: Duration = Duration::from_secs(1);
const RELAY_PAUSE: Duration = Duration::from_secs(12);
/// Longest pause between two kills, in milliseconds.
const PAUSE: u64 = 800;
/// What the log has of a request whose process was killed.
const STRUCK: &str = "Error: Runtime exited with error: signal: killed";

/// Kills processes with SIGKILL until `done`. Returns how often.
pub async fn kill_until(stack: &Stack, seed: u64, done: &Cell<bool>) -> usize {
    let (mut dice, mut kills) = (Dice::at(seed << 20), 0);
    let (mut relay_at, mut relay_struck) = (Instant::now() + RELAY_FIRST, struck(stack)[RELAY]);
    while !done.get() {
        sleep(Duration::from_millis(dice.roll(PAUSE))).await;
        // Once it was hit while it worked, another one must have the time to take over.
        if struck(stack)[RELAY] > relay_struck {
            relay_struck = usize::MAX;
            relay_at = Instant::now() + RELAY_PAUSE;
        }
        let (processes, pick) = (stack.processes(), dice.roll(1_000) as usize);
        let ids: Vec<u32> = if Instant::now() >= relay_at {
            (relay_at, relay_struck) = (Instant::now() + RELAY_FIRST, struck(stack)[RELAY]);
            processes.get(RELAY).cloned().unwrap_or_default()
        } else {
            let all: Vec<_> = ENDPOINTS.iter().filter_map(|name| processes.get(*name)).flatten().collect();
            all.get(pick % all.len().max(1)).map(|id| **id).into_iter().collect()
        };
        if !ids.is_empty() {
            // They may have just ended on their own.
            let ids = ids.iter().map(u32::to_string);
            Command::new("kill").arg("-KILL").args(ids).stderr(Stdio::null()).status().await.expect("kill runs");
            kills += 1;
        }
    }
    kills
}

/// How many processes were killed while they had a request, by function.
pub fn struck(stack: &Stack) -> BTreeMap<&'static str, usize> {
    let functions = ENDPOINTS.into_iter().chain([RELAY]);
    functions.map(|name| (name, stack.log_of(name).matches(STRUCK).count())).collect()
}
