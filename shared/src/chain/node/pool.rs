//! The nodes of a chain as one: the healthiest is asked first, another one as soon as it fails or hesitates, and signed
//! bytes go to all of them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use alloy::{
    providers::{DynProvider, Provider},
    transports::{RpcError, TransportErrorKind, http::reqwest},
};
use futures::{StreamExt, future::join_all, stream::FuturesUnordered};

use super::{
    client::{Node, NodeError},
    fault::NodeFault,
    health::{Endpoint, Head, Health, order},
};
use crate::{clock, deadline};

/// How long a failing node may take where all are asked.
const FAILING_PATIENCE: Duration = Duration::from_secs(2);

/// A transaction that no node is known to have accepted.
#[derive(Debug, thiserror::Error)]
#[error("no node accepted the transaction")]
pub struct SendError {
    /// What the nodes say of it: the first of them that says something of the transaction itself.
    pub fault: NodeFault,
    /// Whether a node may have accepted it all the same, because its answer is unknown.
    pub may_have_left: bool,
    #[source]
    source: NodeError,
}

/// The last word of each node against a transaction, whatever others say. One that fails or is silent takes none back.
#[derive(Clone, Debug, Default)]
pub struct Refusals(Arc<Mutex<BTreeMap<usize, NodeFault>>>);

impl Refusals {
    /// Those so far, in the configured order of the nodes.
    pub fn faults(&self) -> Vec<NodeFault> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().copied().collect()
    }

    fn note(&self, node: usize, fault: Option<NodeFault>) {
        let mut refusals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match fault {
            None | Some(NodeFault::AlreadyKnown) => {
                refusals.remove(&node);
            }
            Some(fault) if fault.is_failure() => {}
            Some(fault) => {
                refusals.insert(node, fault);
            }
        }
    }
}

impl Node {
    /// Each node on its own, in the configured order. Answers of one node are consistent with each other.
    pub fn each(&self) -> impl Iterator<Item = Self> + use<> {
        let (endpoints, times) = (self.endpoints.clone(), self.times);
        endpoints.into_iter().map(move |endpoint| Self { times, ..Self::of(vec![endpoint]) })
    }

    /// How many nodes there are.
    pub fn count(&self) -> usize {
        self.endpoints.len()
    }

    /// Asks every node for its newest block, so that those that hang or stand still are asked last. One call each, none
    /// for a lone node. One that is slow is heard later.
    pub async fn compare_heads(&self) {
        if self.count() > 1 {
            let patience = FAILING_PATIENCE.max(self.times.hedge);
            join_all(self.each().map(|node| async move {
                let asked = node.clone();
                let heard = tokio::spawn(async move { tokio::time::timeout(patience, asked.head()).await.is_ok() });
                if !matches!(tokio::time::timeout(self.times.hedge, heard).await, Ok(Ok(true))) {
                    node.was_silent();
                }
            }))
            .await;
        }
    }

    fn was_silent(&self) {
        self.endpoints.iter().for_each(|endpoint| endpoint.health.was_silent());
    }

    fn is_silent(&self) -> bool {
        self.endpoints.iter().all(|endpoint| endpoint.health.is_silent())
    }

    /// Whether nothing is expected of any of them: they failed several times in a row.
    pub(super) fn is_down(&self) -> bool {
        self.endpoints.iter().all(|endpoint| endpoint.health.is_down())
    }

    /// What every node answers, in the configured order. One that fails isn't waited for as long as the others, and one
    /// that is silent no longer than them.
    pub async fn ask_all<T, Answer>(&self, question: impl Fn(Self) -> Answer) -> Vec<Result<T, NodeError>>
    where
        Answer: Future<Output = Result<T, NodeError>>,
    {
        self.ask_others(None, question).await
    }

    /// The same, without the node in this place.
    pub(super) async fn ask_others<T, Answer>(
        &self,
        left_out: Option<usize>,
        question: impl Fn(Self) -> Answer,
    ) -> Vec<Result<T, NodeError>>
    where
        Answer: Future<Output = Result<T, NodeError>>,
    {
        let ask = |node: Self| {
            let is_failing = node.endpoints.iter().any(|endpoint| endpoint.health.is_penalized(self.times));
            let answer = question(node.clone());
            let patience = match (self.count(), is_failing) {
                (1, _) | (_, false) => Duration::MAX,
                _ if node.is_down() => self.times.hedge,
                _ => FAILING_PATIENCE,
            };
            async move {
                tokio::time::timeout(patience, answer).await.unwrap_or_else(|_| {
                    node.was_silent();
                    Err(NodeError::Deadline)
                })
            }
        };
        let others = self.each().enumerate().filter(|(index, _)| Some(*index) != left_out);
        let others: Vec<_> = others.map(|(_, node)| node).collect();
        let silent: Vec<_> = others.iter().map(Self::is_silent).collect();
        let waits_for = |place: usize| !silent[place] || silent.iter().all(|is_silent| *is_silent);
        let mut waiting = (0..others.len()).filter(|place| waits_for(*place)).count();
        let mut answers: Vec<_> = others.iter().map(|_| Err(NodeError::Deadline)).collect();
        let asked = others.into_iter().enumerate().map(|(place, node)| {
            let answer = ask(node);
            async move { (place, answer.await) }
        });
        let mut asked: FuturesUnordered<_> = asked.collect();
        while waiting > 0
            && let Some((place, answer)) = asked.next().await
        {
            answers[place] = answer;
            waiting -= usize::from(waits_for(place));
        }
        answers
    }

    /// Notes the newest block that a node names.
    pub(super) fn saw_head(endpoint: &Health, number: u64, time: u64) {
        if let Ok(now) = clock::now() {
            endpoint.saw(Head { number, time }, now.as_secs());
        }
    }

    /// Notes the time of a node's newest block.
    pub(super) fn saw_time(endpoint: &Health, time: u64) {
        if let Ok(now) = clock::now() {
            endpoint.saw_time(time, now.as_secs());
        }
    }

    /// Sends a signed transaction to all nodes. Returns once one of them has it; the others get it all the same, and
    /// `refusals` what they say.
    pub async fn send(&self, signed: &[u8], refusals: &Refusals) -> Result<(), SendError> {
        let mut sending: FuturesUnordered<_> = self
            .endpoints
            .iter()
            .enumerate()
            .map(|(index, endpoint)| {
                let (endpoint, signed, refusals) = (endpoint.clone(), signed.to_vec(), refusals.clone());
                // The others' answers aren't waited for, so each has a task of its own.
                let sent = tokio::spawn(async move {
                    let sent = endpoint.provider.send_raw_transaction(&signed).await.map(drop).map_err(without_url);
                    endpoint.note(&sent);
                    refusals.note(index, sent.as_ref().err().map(NodeFault::of));
                    sent
                });
                async move { (index, sent.await.unwrap_or_else(|error| Err(TransportErrorKind::custom(error)))) }
            })
            .collect();
        let (mut refusal, mut unwilling, mut failure) = (None::<(usize, RpcError<_>)>, None, None);
        let mut may_have_left = false;
        loop {
            // One that hangs doesn't delay what another one says.
            let patience = if refusal.is_some() { self.times.hedge } else { Duration::MAX };
            let next = deadline::before(tokio::time::timeout(patience, sending.next())).await;
            let (index, sent) = match next {
                Some(Ok(Some(answer))) => answer,
                Some(Ok(None)) => break,
                Some(Err(_)) | None => {
                    may_have_left = true;
                    break;
                }
            };
            let Err(error) = sent else { return Ok(()) };
            let fault = NodeFault::of(&error);
            match fault {
                NodeFault::AlreadyKnown => return Ok(()),
                fault if fault.is_about_transaction() => {
                    if refusal.as_ref().is_none_or(|(first, _)| index < *first) {
                        refusal = Some((index, error));
                    }
                }
                NodeFault::Unwilling => unwilling = Some(error),
                _ => {
                    may_have_left = true;
                    failure = Some(error);
                }
            }
        }
        let said = refusal.map(|(_, error)| error).or(failure).or(unwilling);
        let source = said.map_or(NodeError::Deadline, NodeError::Rpc);
        Err(SendError { fault: source.fault(), may_have_left, source })
    }

    /// Asks the healthiest node, and the next ones if it fails or hesitates. An error about the call itself ends the search:
    /// others would say the same.
    pub(super) async fn ask<T, Answer>(&self, question: impl Fn(DynProvider) -> Answer) -> Result<T, NodeError>
    where
        Answer: Future<Output = Result<T, RpcError<TransportErrorKind>>>,
    {
        self.ask_noting(question, |_, _| ()).await
    }

    /// Like [`Node::ask`]; `note` is called with the answer and the health of the node that gave it.
    pub(super) async fn ask_noting<T, Answer>(
        &self,
        question: impl Fn(DynProvider) -> Answer,
        note: impl Fn(&Health, &T),
    ) -> Result<T, NodeError>
    where
        Answer: Future<Output = Result<T, RpcError<TransportErrorKind>>>,
    {
        let asked = self.race(question, note);
        deadline::before(asked).await.ok_or(NodeError::Deadline)?.map_err(NodeError::Rpc)
    }

    async fn race<T, Answer>(
        &self,
        question: impl Fn(DynProvider) -> Answer,
        note: impl Fn(&Health, &T),
    ) -> Result<T, RpcError<TransportErrorKind>>
    where
        Answer: Future<Output = Result<T, RpcError<TransportErrorKind>>>,
    {
        let mut left = order(self.endpoints.iter().map(|endpoint| &endpoint.health), self.times).into_iter();
        let mut running = FuturesUnordered::new();
        let mut silent = Vec::new();
        let mut last = RpcError::local_usage_str("a chain without nodes");
        loop {
            if let Some((index, endpoint)) = left.next().and_then(|at| Some((at, self.endpoints.get(at)?))) {
                let answer = question(endpoint.provider.clone());
                silent.push((index, Instant::now()));
                running.push(async move { (index, endpoint, answer.await) });
            } else if running.is_empty() {
                return Err(last);
            }
            let patience = if left.len() > 0 { self.times.hedge } else { Duration::MAX };
            let Ok(Some((index, endpoint, answer))) = tokio::time::timeout(patience, running.next()).await else {
                continue;
            };
            silent.retain(|(other, _)| *other != index);
            let answer = answer.map_err(without_url);
            endpoint.note(&answer);
            match answer {
                Err(error) if !NodeFault::of(&error).is_about_transaction() => {
                    tracing::warn!(node = index, %error, "node failed");
                    last = error;
                }
                answer => {
                    let slow = silent.iter().filter(|(_, since)| since.elapsed() >= self.times.hedge);
                    slow.filter_map(|(slow, _)| self.endpoints.get(*slow)).for_each(|slow| slow.health.was_silent());
                    return answer.inspect(|answer| note(&endpoint.health, answer));
                }
            }
        }
    }
}

impl Endpoint {
    fn note<T>(&self, answer: &Result<T, RpcError<TransportErrorKind>>) {
        match answer {
            Err(error) if is_timeout(error) => self.health.was_silent(),
            Err(error) if NodeFault::of(error).is_failure() => self.health.failed(),
            _ => self.health.answered(),
        }
    }
}

fn is_timeout(error: &RpcError<TransportErrorKind>) -> bool {
    let RpcError::Transport(TransportErrorKind::Custom(error)) = error else { return false };
    error.downcast_ref::<reqwest::Error>().is_some_and(reqwest::Error::is_timeout)
}

/// Removes the node's URL, which may hold a secret, before the error is logged.
fn without_url(error: RpcError<TransportErrorKind>) -> RpcError<TransportErrorKind> {
    match error {
        RpcError::Transport(TransportErrorKind::Custom(error)) => match error.downcast::<reqwest::Error>() {
            Ok(error) => TransportErrorKind::custom(error.without_url()),
            Err(error) => RpcError::Transport(TransportErrorKind::Custom(error)),
        },
        other => other,
    }
}
