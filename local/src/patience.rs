//! Waiting for what must come. Passing costs nothing, so one ceiling serves all, far above what a slow machine takes.

use std::{fmt::Display, time::Duration};

use tokio::time::{sleep, timeout};

use crate::Error;

/// Longest wait.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// Pause before the next look.
const PAUSE: Duration = Duration::from_millis(100);

/// Waits until `look` finds something. An error of `look` ends the wait, and so do three minutes: `what` is missing.
pub async fn eventually<T>(
    what: impl Display,
    mut look: impl AsyncFnMut() -> Result<Option<T>, Error>,
) -> Result<T, Error> {
    let found = async {
        loop {
            if let Some(found) = look().await? {
                return Ok::<_, Error>(found);
            }
            sleep(PAUSE).await;
        }
    };
    timeout(PATIENCE, found).await.map_err(|_| format!("not within {} s: {what}", PATIENCE.as_secs()))?
}
