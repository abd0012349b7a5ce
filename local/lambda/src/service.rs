//! The Lambda service: its listeners, functions and schedules.

use std::{io, sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::{sync::watch, time::Instant};

use crate::{
    asynchronous,
    function::Function,
    invocation::{Invocation, MAX_EVENT, MAX_PAYLOAD, Outcome, Refusal},
    invoke_api,
    pool::{Limits, Pools, Processes},
    runtime_api,
    schedule::{self, Schedule},
    server::Server,
    spawner::Spawner,
    stream::{self, Shard, StreamError, StreamMapping},
};

/// Region of the emulated account.
pub const REGION: &str = "us-east-1";

/// Id of the emulated account.
pub const ACCOUNT: &str = "000000000000";

/// ARN of a function.
pub(crate) fn function_arn(name: &str) -> String {
    format!("arn:aws:lambda:{REGION}:{ACCOUNT}:function:{name}")
}

/// A running service; dropping it stops its functions.
pub struct Lambda {
    url: String,
    invoker: Invoker,
    _runtime_api: Server,
    _invoke_api: Server,
}

impl Lambda {
    /// Starts the Invoke API on `port` of the loopback interface (0 picks a free one), and the runtime API on a free
    /// one.
    ///
    /// # Errors
    /// When a port can't be listened on.
    pub async fn start(port: u16, limits: Limits) -> io::Result<Self> {
        // The runtime API has to know the pools, and these its address.
        let (give, given) = watch::channel(None::<Arc<Pools>>);
        let runtime_api = Server::start(0, move |request, _| {
            let pools = given.borrow().clone();
            async move {
                match pools {
                    Some(pools) => runtime_api::answer(pools, request).await,
                    None => invoke_api::refusal(&Refusal::Unavailable),
                }
            }
        })
        .await?;
        let pools = Pools::new(limits, format!("http://{}", runtime_api.address), Spawner::start()?);
        give.send_replace(Some(Arc::clone(&pools)));
        let invoker = Invoker { pools };
        let of_api = invoker.clone();
        let invoke_api = Server::start(port, move |request, _| invoke_api::answer(of_api.clone(), request)).await?;
        let url = format!("http://{}", invoke_api.address);
        Ok(Self { url, invoker, _runtime_api: runtime_api, _invoke_api: invoke_api })
    }

    /// Base URL of the Invoke API, for SDKs and `cargo lambda invoke`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What invokes functions without HTTP: for gateways, and for pollers of event sources.
    pub fn invoker(&self) -> Invoker {
        self.invoker.clone()
    }

    /// Adds a function, or replaces the one of its name for instances to come.
    pub fn add(&self, function: Function) {
        self.invoker.pools.add(function);
    }

    /// Invokes a function on a schedule until the service ends.
    pub fn schedule(&self, schedule: Schedule) {
        self.invoker.pools.spawn(schedule::run(self.invoker.clone(), schedule));
    }

    /// Lets a stream drive a function until the service ends. Records written after this returns are after
    /// [`StartingPosition::Latest`](crate::StartingPosition::Latest).
    ///
    /// # Errors
    /// When the stream can't be read.
    pub async fn map_stream(&self, mapping: StreamMapping) -> Result<(), StreamError> {
        let mapping = Arc::new(mapping);
        for shard in Shard::all(&mapping).await? {
            self.invoker.pools.spawn(stream::run(self.invoker.clone(), Arc::clone(&mapping), shard));
        }
        Ok(())
    }

    /// The ids of the functions' processes, as they change.
    pub fn processes(&self) -> watch::Receiver<Processes> {
        self.invoker.pools.processes()
    }
}

impl Drop for Lambda {
    fn drop(&mut self) {
        self.invoker.pools.close();
    }
}

/// Invokes functions.
#[derive(Clone)]
pub struct Invoker {
    pools: Arc<Pools>,
}

impl Invoker {
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
        self.pools.spawn(asynchronous::deliver(self.clone(), event));
        Ok(())
    }

    pub(crate) fn function(&self, name: &str) -> Result<Arc<Function>, Refusal> {
        self.pools.function(name).ok_or_else(|| Refusal::UnknownFunction(function_arn(name)))
    }
}

/// A payload of no content: what an invocation without a body gets.
pub(crate) const EMPTY: Bytes = Bytes::from_static(b"{}");

/// Doubling pauses.
pub(crate) fn backoff(first: Duration, most: Duration) -> impl Iterator<Item = Duration> {
    std::iter::successors(Some(first), move |pause| Some((*pause * 2).min(most)))
}
