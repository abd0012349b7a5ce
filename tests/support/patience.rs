use std::fmt::Display;

use local::patience;

/// [`patience::eventually`], which panics if it comes to nothing.
pub async fn eventually<T>(what: impl Display, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let found = patience::eventually(what, async || Ok(look().await)).await;
    found.unwrap_or_else(|error| panic!("{error}"))
}
