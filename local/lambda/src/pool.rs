//! Decides which instance gets which invocation, and how many instances there are.
//!
//! One lock guards all pools. Nothing waits while holding it.

use std::{
    collections::{BTreeMap, VecDeque},
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch},
    task::JoinSet,
    time::Instant,
};
use uuid::Uuid;

use crate::{
    function::Function,
    instance::{self, Report},
    invocation::{Invocation, Outcome, Refusal},
    limits::Limits,
    spawner::Spawner,
};

/// Process ids by function.
pub type Processes = BTreeMap<String, Vec<u32>>;

/// All pools.
pub(crate) struct Pools {
    runtime_api: String,
    spawner: Spawner,
    limits: Limits,
    account: Arc<Semaphore>,
    state: Mutex<State>,
    processes: watch::Sender<Processes>,
}

#[derive(Default)]
struct State {
    is_closed: bool,
    pools: BTreeMap<String, Pool>,
    instances: BTreeMap<Uuid, Instance>,
    tasks: JoinSet<()>,
}

/// One function's instances and waiting invocations.
struct Pool {
    function: Arc<Function>,
    concurrency: Arc<Semaphore>,
    waiting: VecDeque<Waiting>,
    /// The one used last is used next.
    idle: Vec<Uuid>,
    instances: usize,
    /// Instances that will soon take an invocation: they start, or have answered and not yet asked for more.
    soon: usize,
}

struct Waiting {
    invocation: Invocation,
    answer: oneshot::Sender<Outcome>,
    /// Dropped by the caller when it gives up.
    permit: Weak<OwnedSemaphorePermit>,
    since: Instant,
}

impl Waiting {
    fn is_abandoned(&self) -> bool {
        self.permit.strong_count() == 0
    }
}

struct Instance {
    function: String,
    phase: Phase,
    /// Process id, once it has started.
    process: Option<u32>,
    /// Its open request for an invocation.
    next: Option<oneshot::Sender<Delivery>>,
    /// What it said of its failed start.
    init_error: Option<Bytes>,
    /// When its program was built.
    built: Option<SystemTime>,
    /// When it is stopped, unless this moves. Dropping this stops it at once.
    deadline: watch::Sender<Instant>,
}

enum Phase {
    Starting,
    Idle,
    Busy(Running),
    Returning,
}

struct Running {
    request_id: String,
    answer: oneshot::Sender<Outcome>,
    permit: Arc<OwnedSemaphorePermit>,
}

impl Running {
    fn finish(self, outcome: Outcome) {
        // First, so that the caller's next invocation is not refused for want of this one's concurrency.
        drop(self.permit);
        // A caller that gave up needs no answer.
        let _ = self.answer.send(outcome);
    }
}

/// An invocation on its way to an instance.
#[derive(Debug)]
pub(crate) struct Delivery {
    pub(crate) invocation: Invocation,
    pub(crate) timeout: Duration,
}

/// Why the runtime API refuses an instance's call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CallError {
    UnknownInstance,
    UnknownRequest,
}

impl Pools {
    pub(crate) fn new(limits: Limits, runtime_api: String, spawner: Spawner) -> Arc<Self> {
        Arc::new(Self {
            runtime_api,
            spawner,
            limits,
            account: Arc::new(Semaphore::new(limits.concurrency)),
            state: Mutex::default(),
            processes: watch::Sender::new(Processes::new()),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a function, or replaces it: new instances are the new function's.
    pub(crate) fn add(&self, function: Function) {
        let concurrency = match function.reserved_concurrency {
            Some(reserved) => {
                self.account.forget_permits(reserved);
                Arc::new(Semaphore::new(reserved))
            }
            None => Arc::clone(&self.account),
        };
        let (name, function) = (function.name.clone(), Arc::new(function));
        let mut state = self.lock();
        if let Some(pool) = state.pools.get_mut(&name) {
            self.account.add_permits(pool.function.reserved_concurrency.unwrap_or_default());
            (pool.function, pool.concurrency) = (function, concurrency);
        } else {
            let pool =
                Pool { function, concurrency, waiting: VecDeque::new(), idle: Vec::new(), instances: 0, soon: 0 };
            state.pools.insert(name, pool);
        }
    }

    pub(crate) fn function(&self, name: &str) -> Option<Arc<Function>> {
        self.lock().pools.get(name).map(|pool| Arc::clone(&pool.function))
    }

    pub(crate) fn processes(&self) -> watch::Receiver<Processes> {
        self.processes.subscribe()
    }

    /// Runs a background task until the service ends.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut state = self.lock();
        while state.tasks.try_join_next().is_some() {}
        if !state.is_closed {
            state.tasks.spawn(task);
        }
    }

    /// Stops all instances and tasks.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        let closed = State { is_closed: true, ..State::default() };
        let closing = std::mem::replace(&mut *state, closed);
        drop(state);
        drop(closing);
        self.processes.send_replace(Processes::new());
    }

    /// Runs an invocation. One that no instance has yet when this future is dropped is not run; any other is.
    pub(crate) async fn run(self: &Arc<Self>, invocation: Invocation) -> Result<Outcome, Refusal> {
        let (answer, outcome) = oneshot::channel();
        // Held until the answer is there: dropping it earlier withdraws the invocation.
        let _permit = {
            let mut state = self.lock();
            let unknown = || Refusal::UnknownFunction(invocation.function.clone());
            let pool = state.pools.get_mut(&invocation.function).ok_or_else(unknown)?;
            let refusal = match pool.function.reserved_concurrency {
                Some(_) => Refusal::ReservedConcurrency,
                None => Refusal::AccountConcurrency,
            };
            let permit = Arc::new(Arc::clone(&pool.concurrency).try_acquire_owned().map_err(|_| refusal)?);
            let (name, since) = (invocation.function.clone(), Instant::now());
            pool.waiting.push_back(Waiting { invocation, answer, permit: Arc::downgrade(&permit), since });
            self.feed(&mut state, &name);
            self.grow(&mut state);
            permit
        };
        outcome.await.map_err(|_| Refusal::Unavailable)
    }

    /// An instance asks for an invocation.
    pub(crate) fn next(self: &Arc<Self>, id: Uuid) -> Result<oneshot::Receiver<Delivery>, CallError> {
        let mut state = self.lock();
        let State { instances, pools, .. } = &mut *state;
        let instance = instances.get_mut(&id).ok_or(CallError::UnknownInstance)?;
        let name = instance.function.clone();
        let pool = pools.get_mut(&name).ok_or(CallError::UnknownInstance)?;
        let before = std::mem::replace(&mut instance.phase, Phase::Idle);
        let has_served = matches!(before, Phase::Returning);
        match before {
            Phase::Starting | Phase::Returning => {
                pool.soon -= 1;
                pool.idle.push(id);
            }
            Phase::Busy(running) => {
                let message = format!("RequestId: {} Error: Runtime asked for another request", running.request_id);
                running.finish(Outcome::failed("Runtime.InvalidState", &message));
                pool.idle.push(id);
            }
            Phase::Idle => {}
        }
        let (next, delivery) = oneshot::channel();
        instance.next = Some(next);
        instance.deadline.send_replace(Instant::now() + self.limits.idle);
        // An instance that has served makes room for a function that has none.
        let is_starved = |pool: &Pool| pool.instances == 0 && !pool.waiting.iter().all(Waiting::is_abandoned);
        if has_served && instances.len() >= self.limits.instances && pools.values().any(is_starved) {
            self.remove(&mut state, id);
        } else {
            self.feed(&mut state, &name);
        }
        self.grow(&mut state);
        Ok(delivery)
    }

    /// An instance answers its invocation.
    pub(crate) fn answer(&self, id: Uuid, request_id: &str, outcome: Outcome) -> Result<(), CallError> {
        let mut state = self.lock();
        let State { instances, pools, .. } = &mut *state;
        let instance = instances.get_mut(&id).ok_or(CallError::UnknownInstance)?;
        match std::mem::replace(&mut instance.phase, Phase::Returning) {
            Phase::Busy(running) if running.request_id == request_id => {
                running.finish(outcome);
                if let Some(pool) = pools.get_mut(&instance.function) {
                    pool.soon += 1;
                }
                Ok(())
            }
            phase => {
                instance.phase = phase;
                Err(CallError::UnknownRequest)
            }
        }
    }

    /// An instance says why it can't start.
    pub(crate) fn init_error(&self, id: Uuid, error: Bytes) -> Result<(), CallError> {
        let mut state = self.lock();
        state.instances.get_mut(&id).ok_or(CallError::UnknownInstance)?.init_error = Some(error);
        Ok(())
    }

    /// Keeps an instance's state in step with its process.
    async fn follow(self: &Arc<Self>, id: Uuid, function: &Function, mut reports: mpsc::Receiver<Report>) {
        while let Some(report) = reports.recv().await {
            match report {
                Report::Started(process) => self.started(id, process),
                Report::Expired => self.expire(id),
                Report::Ended(how) => {
                    let error = self.ended(id, &how);
                    function.note(&error.unwrap_or_else(|| format!("instance {id}: process exited {how}")));
                }
            }
        }
    }

    /// An instance's process runs.
    fn started(&self, id: Uuid, process: Option<u32>) {
        let mut state = self.lock();
        if let Some(instance) = state.instances.get_mut(&id) {
            instance.process = process;
        }
        self.publish(&state);
    }

    /// An instance's process ended on its own. Returns the error of its request, if it had one.
    fn ended(self: &Arc<Self>, id: Uuid, how: &str) -> Option<String> {
        let mut state = self.lock();
        let instance = self.remove(&mut state, id)?;
        let message = |request_id: &str| format!("RequestId: {request_id} Error: Runtime exited {how}");
        let failed = |message: &str| Outcome::failed("Runtime.ExitError", message);
        let mut error = None;
        match instance.phase {
            Phase::Busy(running) => {
                let message = message(&running.request_id);
                running.finish(failed(&message));
                error = Some(message);
            }
            Phase::Starting => {
                let reported = instance.init_error.map(Outcome::Failed);
                fail_one(&mut state, &instance.function, |request_id| {
                    reported.unwrap_or_else(|| failed(&message(request_id)))
                });
            }
            Phase::Idle | Phase::Returning => {}
        }
        self.grow(&mut state);
        error
    }

    /// Removes an instance whose deadline has passed, which ends its process. A request may have moved the deadline
    /// meanwhile.
    fn expire(self: &Arc<Self>, id: Uuid) {
        let mut state = self.lock();
        if state.instances.get(&id).is_some_and(|instance| *instance.deadline.borrow() > Instant::now()) {
            return;
        }
        let Some(instance) = self.remove(&mut state, id) else { return };
        let timeout = state.pools.get(&instance.function).map(|pool| pool.function.timeout).unwrap_or_default();
        let timed_out = |request_id: &str| {
            let seconds = timeout.as_secs_f64();
            let message = format!("RequestId: {request_id} Error: Task timed out after {seconds:.2} seconds");
            Outcome::failed("Sandbox.Timedout", &message)
        };
        match instance.phase {
            Phase::Busy(running) => {
                let outcome = timed_out(&running.request_id);
                running.finish(outcome);
            }
            Phase::Starting => fail_one(&mut state, &instance.function, timed_out),
            Phase::Idle | Phase::Returning => {}
        }
        self.grow(&mut state);
    }

    /// Hands waiting invocations of a function to its idle instances. Those of a program that has been replaced end.
    fn feed(&self, state: &mut State, name: &str) {
        let State { instances, pools, .. } = state;
        let Some(pool) = pools.get_mut(name) else { return };
        let built = pool.function.built();
        let is_replaced =
            |id: &Uuid| instances.get(id).is_some_and(|instance| built.is_some() && instance.built != built);
        let mut gone: Vec<_> = pool.idle.extract_if(.., |id| is_replaced(id)).collect();
        while let Some(waiting) = pool.waiting.pop_front() {
            let Some(permit) = waiting.permit.upgrade() else { continue };
            let Some(id) = pool.idle.pop() else {
                pool.waiting.push_front(waiting);
                break;
            };
            let next = instances.get_mut(&id).and_then(|instance| instance.next.take().map(|next| (instance, next)));
            let Waiting { invocation, answer, permit: weak, since } = waiting;
            let (request_id, timeout) = (invocation.request_id.clone(), pool.function.timeout);
            let undelivered = match next {
                Some((instance, next)) => match next.send(Delivery { invocation, timeout }) {
                    Ok(()) => {
                        instance.phase = Phase::Busy(Running { request_id, answer, permit });
                        instance.deadline.send_replace(Instant::now() + timeout);
                        continue;
                    }
                    Err(delivery) => delivery.invocation,
                },
                None => invocation,
            };
            // Its connection is closed, so that its process is ending.
            gone.push(id);
            pool.waiting.push_front(Waiting { invocation: undelivered, answer, permit: weak, since });
        }
        for id in gone {
            self.remove(state, id);
        }
    }

    /// Starts instances for the invocations that wait, as far as the limits allow: functions without any first, then
    /// those that wait longest.
    fn grow(self: &Arc<Self>, state: &mut State) {
        for pool in state.pools.values_mut() {
            pool.waiting.retain(|waiting| !waiting.is_abandoned());
        }
        while !state.is_closed {
            let starting =
                state.instances.values().filter(|instance| matches!(instance.phase, Phase::Starting)).count();
            let is_short = |pool: &&Pool| {
                let max = pool.function.max_instances.unwrap_or(self.limits.instances);
                pool.waiting.len() > pool.soon && pool.instances < max
            };
            let longest = state.pools.values().filter(is_short);
            let longest =
                longest.min_by_key(|pool| (pool.instances > 0, pool.waiting.front().map(|waiting| waiting.since)));
            let Some(function) = longest.map(|pool| Arc::clone(&pool.function)) else { return };
            if starting >= self.limits.starts {
                return;
            }
            if state.instances.len() >= self.limits.instances {
                let idle = state.instances.iter().filter(|(_, instance)| matches!(instance.phase, Phase::Idle));
                let Some(id) = idle.min_by_key(|(_, idle)| *idle.deadline.borrow()).map(|(id, _)| *id) else { return };
                self.remove(state, id);
            }
            self.start(state, function);
        }
    }

    fn start(self: &Arc<Self>, state: &mut State, function: Arc<Function>) {
        let Some(pool) = state.pools.get_mut(&function.name) else { return };
        pool.instances += 1;
        pool.soon += 1;
        let id = Uuid::new_v4();
        let (deadline, control) = watch::channel(Instant::now() + self.limits.init + function.timeout);
        let instance = Instance {
            function: function.name.clone(),
            phase: Phase::Starting,
            process: None,
            next: None,
            init_error: None,
            built: function.built(),
            deadline,
        };
        state.instances.insert(id, instance);
        while state.tasks.try_join_next().is_some() {}
        // lambda_runtime understands a path in this address only behind a scheme.
        let runtime_api = format!("{}/{}/{id}", self.runtime_api, function.name);
        let (reports, reported) = mpsc::channel(1);
        let process = instance::run(Arc::clone(&function), runtime_api, self.spawner.clone(), control, reports);
        let pools = Arc::clone(self);
        state.tasks.spawn(async move {
            tokio::join!(process, pools.follow(id, &function, reported));
        });
    }

    /// Forgets an instance, whose process then ends.
    fn remove(&self, state: &mut State, id: Uuid) -> Option<Instance> {
        let instance = state.instances.remove(&id)?;
        if let Some(pool) = state.pools.get_mut(&instance.function) {
            pool.instances -= 1;
            pool.idle.retain(|idle| *idle != id);
            if matches!(instance.phase, Phase::Starting | Phase::Returning) {
                pool.soon -= 1;
            }
        }
        self.publish(state);
        Some(instance)
    }

    fn publish(&self, state: &State) {
        let mut processes = Processes::new();
        for instance in state.instances.values() {
            processes.entry(instance.function.clone()).or_default().extend(instance.process);
        }
        processes.retain(|_, ids| !ids.is_empty());
        processes.values_mut().for_each(|ids| ids.sort_unstable());
        self.processes.send_if_modified(|published| {
            let is_new = *published != processes;
            *published = processes;
            is_new
        });
    }
}

/// Fails the invocation that waits longest.
fn fail_one(state: &mut State, function: &str, outcome: impl FnOnce(&str) -> Outcome) {
    let waiting = state.pools.get_mut(function).map(|pool| &mut pool.waiting);
    let first = waiting.and_then(|waiting| {
        let live = waiting.iter().position(|waiting| !waiting.is_abandoned())?;
        waiting.remove(live)
    });
    if let Some(waiting) = first {
        let outcome = outcome(&waiting.invocation.request_id);
        let _ = waiting.answer.send(outcome);
    }
}
