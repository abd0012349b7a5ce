//! Invokes functions without HTTP: what gateways, schedules and pollers of event sources call.

use std::sync::Arc;

use tokio::time::Instant;

use crate::{
    account::function_arn,
    asynchronous,
    function::Function,
    invocation::{Invocation, MAX_EVENT, MAX_PAYLOAD, Outcome, Refusal},
    pool::Pools,
};

/// Invokes functions.
#[derive(Clone)]
pub struct Invoker {
    pools: Arc<Pools>,
}

impl Invoker {
    pub(crate) fn new(pools: Arc<Pools>) -> Self {
        Self { pools }
    }

    /// Runs a function and waits for its outcome. Dropping this future withdraws an invocation that no instance has
    /// yet.
    ///
    /// # Errors
    /// When the function is not run: unknown, at its concurrency limit, or the payload is too large.
    pub async fn invoke(&self, invocation: Invocation) -> Result<Outcome, Refusal> {
        if invocation.payload.len() > MAX_PAYLOAD {
            return Err(Refusal::TooLarge(MAX_PAYLOAD));
        }
        self.pools.run(invocation).await
    }

    /// Queues an event, and returns at once. It is retried as the function's [`AsyncPolicy`](crate::AsyncPolicy) says.
    ///
    /// # Errors
    /// When the function is unknown or the event too large.
    pub fn invoke_later(&self, invocation: Invocation) -> Result<(), Refusal> {
        let function = self.function(&invocation.function)?;
        if invocation.payload.len() > MAX_EVENT {
            return Err(Refusal::TooLarge(MAX_EVENT));
        }
        let event = asynchronous::Event { invocation, function, queued: Instant::now() };
        self.pools.spawn(asynchronous::deliver(Arc::clone(&self.pools), event));
        Ok(())
    }

    pub(crate) fn function(&self, name: &str) -> Result<Arc<Function>, Refusal> {
        self.pools.function(name).ok_or_else(|| Refusal::UnknownFunction(function_arn(name)))
    }
}
