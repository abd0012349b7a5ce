//! Observations that a fixed window of the clock must not cut in two, and clients whose windows are empty.

use std::time::{Duration, UNIX_EPOCH};

use alloy::{eips::BlockId, providers::Provider};
use uuid::Uuid;

use crate::Stack;

/// A window of limits on clients.
pub const MINUTE: Duration = Duration::from_secs(60);
/// A window of limits on clients.
pub const HOUR: Duration = Duration::from_secs(60 * 60);
/// A window of budgets, in UTC.
pub const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Observations that a window may cut in two before they are taken for longer than it.
const ATTEMPTS: u32 = 5;

/// Returns what was observed within one window of the machine's clock, as `ClientLimit` counts. Observes again only if
/// a window ended meanwhile, so `observe` makes the client, artist or address that is counted.
pub async fn within_one_window<T>(window: Duration, observe: impl AsyncFn() -> T) -> T {
    within_one(async || window_now(window), observe).await
}

/// The same for a day of the machine's clock and of the default chain's blocks, whose time can be ahead.
pub async fn within_one_day<T>(stack: &Stack, observe: impl AsyncFn() -> T) -> T {
    let chain = stack.chain();
    let days = async || {
        let block = chain.get_block(BlockId::latest()).await.expect("a block").expect("a block");
        (window_now(DAY), block.header.timestamp / DAY.as_secs())
    };
    within_one(days, observe).await
}

async fn within_one<W: PartialEq, T>(window: impl AsyncFn() -> W, observe: impl AsyncFn() -> T) -> T {
    for _ in 0..ATTEMPTS {
        let began_in = window().await;
        let observed = observe().await;
        if window().await == began_in {
            return observed;
        }
    }
    panic!("a window ended during each of {ATTEMPTS} observations");
}

/// Number of the current window since 1970.
pub fn window_now(window: Duration) -> u64 {
    UNIX_EPOCH.elapsed().expect("a clock after 1970").as_secs() / window.as_secs()
}

/// A /48 that no other client is in, as its addresses begin: `fd12:3456:789a`.
pub fn unused_network() -> String {
    let id = Uuid::new_v4().simple().to_string();
    format!("fd{}:{}:{}", &id[..2], &id[2..6], &id[6..10])
}

/// An IPv4 address that no other client has.
pub fn unused_address() -> String {
    let [a, b, c, ..] = *Uuid::new_v4().as_bytes();
    format!("10.{a}.{b}.{c}")
}
