//! Health of a chain's nodes, kept by the process: it decides which node is asked first, and never what is true.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use alloy::providers::DynProvider;

/// Longest time without preference after failures.
const MAX_PENALTY: Duration = Duration::from_secs(60);

/// Failures in a row after which a node is down, and times without an answer after which it is silent.
const DOWN: u32 = 3;

/// A node lags, and is asked last, if its newest block is both this much older than the best node's and this many
/// blocks behind.
const MAX_LAG_SECONDS: u64 = 5;
const MAX_LAG_BLOCKS: u64 = 3;

/// Seconds after which a node's newest block is old: it is asked last for as long, whatever others have.
const OLD: u64 = 60;

/// Seconds that a chain's clock may be ahead of ours.
const CLOCK_SKEW: u64 = 3;

/// When a node is no longer relied on alone.
#[derive(Clone, Copy, Debug)]
pub struct NodeTimes {
    /// How long it may take before another one is asked, too.
    pub hedge: Duration,
    /// Time without preference after a failure, doubled after each further one, up to a minute.
    pub penalty: Duration,
}

impl Default for NodeTimes {
    fn default() -> Self {
        Self { hedge: Duration::from_millis(500), penalty: Duration::from_secs(2) }
    }
}

/// Head of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) number: u64,
    /// Unix time in seconds.
    pub(super) time: u64,
}

#[derive(Debug, Default)]
struct State {
    failures: u32,
    /// The newest of them that were no answer at all.
    silences: u32,
    failed_at: Option<Instant>,
    head: Option<Head>,
    /// When its newest block was last seen to be old.
    old_at: Option<Instant>,
}

/// What this process has seen of a node.
#[derive(Clone, Debug, Default)]
pub(super) struct Health(Arc<Mutex<State>>);

/// A node, and what is known of it.
#[derive(Clone)]
pub(super) struct Endpoint {
    pub(super) provider: DynProvider,
    /// For calls that others pass.
    pub(super) bulk: DynProvider,
    pub(super) health: Health,
}

impl Health {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes an answer.
    pub(super) fn answered(&self) {
        let mut state = self.state();
        (state.failures, state.silences, state.failed_at) = (0, 0, None);
    }

    /// Notes an error of the node itself.
    pub(super) fn failed(&self) {
        let mut state = self.state();
        state.failures = state.failures.saturating_add(1);
        (state.silences, state.failed_at) = (0, Some(Instant::now()));
    }

    /// Notes that there was no answer in time.
    pub(super) fn was_silent(&self) {
        let mut state = self.state();
        state.failures = state.failures.saturating_add(1);
        (state.silences, state.failed_at) = (state.silences.saturating_add(1), Some(Instant::now()));
    }

    /// Notes the newest block that the node names. Blocks of the future are ignored.
    pub(super) fn saw(&self, head: Head, now: u64) {
        if head.time <= now.saturating_add(CLOCK_SKEW) {
            self.state().head = Some(head);
        }
        self.saw_time(head.time, now);
    }

    /// Notes the time of its newest block alone.
    pub(super) fn saw_time(&self, time: u64, now: u64) {
        self.state().old_at = (time.saturating_add(OLD) < now).then(Instant::now);
    }

    fn is_old(&self) -> bool {
        self.state().old_at.is_some_and(|at| at.elapsed() < Duration::from_secs(OLD))
    }

    fn head(&self) -> Option<Head> {
        self.state().head
    }

    /// Whether it has failed again and again: nothing is expected of it.
    pub(super) fn is_down(&self) -> bool {
        self.state().failures >= DOWN
    }

    /// Whether it was silent again and again: nobody waits for it while others answer.
    pub(super) fn is_silent(&self) -> bool {
        self.state().silences >= DOWN
    }

    /// Whether it failed lately.
    pub(super) fn is_penalized(&self, times: NodeTimes) -> bool {
        let state = self.state();
        let penalty = times.penalty * 2_u32.saturating_pow(state.failures.saturating_sub(1).min(5));
        state.failed_at.is_some_and(|at| at.elapsed() < penalty.min(MAX_PENALTY))
    }
}

impl Head {
    fn is_behind(self, best: Self) -> bool {
        let is_far = |own: u64, best: u64, most: u64| best.saturating_sub(own) >= most;
        is_far(self.number, best.number, MAX_LAG_BLOCKS) && is_far(self.time, best.time, MAX_LAG_SECONDS)
    }
}

/// Which of the nodes lag behind the best one.
fn lagging<'a>(nodes: impl Iterator<Item = &'a Health> + Clone) -> impl Iterator<Item = bool> {
    let best = nodes.clone().filter_map(Health::head).max_by_key(|head| head.time);
    nodes.map(move |health| health.head().zip(best).is_some_and(|(head, best)| head.is_behind(best)))
}

/// Positions of the nodes in the order in which they are asked: the healthy ones first, each group as configured.
pub(super) fn order<'a>(nodes: impl Iterator<Item = &'a Health> + Clone, times: NodeTimes) -> Vec<usize> {
    let lag = lagging(nodes.clone());
    let mut ranked: Vec<_> = nodes
        .zip(lag)
        .enumerate()
        .map(|(index, (health, lags))| (health.is_penalized(times), lags || health.is_old(), index))
        .collect();
    ranked.sort_unstable();
    ranked.into_iter().map(|(.., index)| index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_000_000;
    /// No test waits so long.
    const TIMES: NodeTimes = NodeTimes { hedge: MAX_PENALTY, penalty: MAX_PENALTY };

    fn nodes(heads: &[(u64, u64)]) -> Vec<Health> {
        let node = |(number, time): &(u64, u64)| {
            let health = Health::default();
            health.saw(Head { number: *number, time: *time }, NOW);
            health
        };
        heads.iter().map(node).collect()
    }

    #[test]
    fn failing_node_is_asked_last_until_it_answers() {
        let nodes = nodes(&[(5, NOW), (5, NOW)]);
        assert_eq!(order(nodes.iter(), TIMES), [0, 1]);
        nodes[0].failed();
        assert_eq!(order(nodes.iter(), TIMES), [1, 0]);
        nodes[0].answered();
        assert_eq!(order(nodes.iter(), TIMES), [0, 1]);
    }

    #[test]
    fn node_is_silent_after_three_silences_until_it_is_heard() {
        let health = Health::default();
        for _ in 0..2 {
            health.was_silent();
            assert!(!health.is_silent());
        }
        health.failed();
        health.was_silent();
        assert!(health.is_down() && !health.is_silent(), "an error is heard");
        health.was_silent();
        health.was_silent();
        assert!(health.is_silent());
        health.answered();
        assert!(!health.is_silent());
    }

    #[test]
    fn node_that_lags_is_asked_last() {
        let nodes = nodes(&[(100, NOW - 12), (106, NOW)]);
        assert_eq!(order(nodes.iter(), TIMES), [1, 0]);
    }

    #[test]
    fn node_whose_newest_block_is_old_is_asked_last() {
        let nodes = nodes(&[(100, NOW), (100, NOW)]);
        nodes[0].saw_time(NOW - OLD - 1, NOW);
        assert_eq!(order(nodes.iter(), TIMES), [1, 0]);
        nodes[0].saw_time(NOW - OLD, NOW);
        assert_eq!(order(nodes.iter(), TIMES), [0, 1]);
    }

    #[test]
    fn node_that_is_a_block_behind_keeps_its_place() {
        // On a chain with a block every twelve seconds.
        assert_eq!(order(nodes(&[(105, NOW - 12), (106, NOW)]).iter(), TIMES), [0, 1]);
    }

    #[test]
    fn node_that_names_the_largest_number_keeps_its_place() {
        assert_eq!(order(nodes(&[(u64::MAX, NOW - 12), (106, NOW)]).iter(), TIMES), [0, 1]);
    }

    #[test]
    fn block_of_the_future_makes_no_node_the_best() {
        assert_eq!(order(nodes(&[(100, NOW), (1_000_000, NOW + 3_600)]).iter(), TIMES), [0, 1]);
    }
}
