//! The Lambda service: its listeners, functions and schedules.

use std::{io, sync::Arc};

use tokio::sync::watch;

use crate::{
    function::Function,
    invocation::Refusal,
    invoke_api,
    invoker::Invoker,
    limits::Limits,
    pool::{Pools, Processes},
    runtime_api,
    schedule::{self, Schedule},
    server::Server,
    spawner::Spawner,
    stream::{self, Shard, StreamError, StreamMapping},
};

/// A running service; dropping it stops its functions.
pub struct Lambda {
    url: String,
    pools: Arc<Pools>,
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
        let invoker = Invoker::new(Arc::clone(&pools));
        let of_api = invoker.clone();
        let invoke_api = Server::start(port, move |request, _| invoke_api::answer(of_api.clone(), request)).await?;
        let url = format!("http://{}", invoke_api.address);
        Ok(Self { url, pools, invoker, _runtime_api: runtime_api, _invoke_api: invoke_api })
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
        self.pools.add(function);
    }

    /// Invokes a function on a schedule until the service ends.
    pub fn schedule(&self, schedule: Schedule) {
        self.pools.spawn(schedule::run(self.invoker.clone(), schedule));
    }

    /// Lets a stream drive a function until the service ends. Records written after this returns are after
    /// [`StartingPosition::Latest`](crate::StartingPosition::Latest).
    ///
    /// # Errors
    /// When the stream can't be read.
    pub async fn map_stream(&self, mapping: StreamMapping) -> Result<(), StreamError> {
        let mapping = Arc::new(mapping);
        for shard in Shard::all(&mapping).await? {
            self.pools.spawn(stream::run(self.invoker.clone(), Arc::clone(&mapping), shard));
        }
        Ok(())
    }

    /// The ids of the functions' processes, as they change.
    pub fn processes(&self) -> watch::Receiver<Processes> {
        self.pools.processes()
    }
}

impl Drop for Lambda {
    fn drop(&mut self) {
        self.pools.close();
    }
}
