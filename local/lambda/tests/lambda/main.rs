//! The emulated service as its callers see it.
#![expect(clippy::expect_used, clippy::panic, reason = "a test's own")]

mod asynchronous;
mod gateway;
mod invoke;
mod load;
mod pool;
mod stream;
mod support;
