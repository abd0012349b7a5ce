//! Several transactions for one request. A retry must not repeat them, so callers derive them from the chain's state.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::{
    reply::{SentTransaction, all_sent, ended},
    session::WriteSession,
};
use crate::{
    chain::{
        transaction::{Confirmation, WriteRequest},
        wallet::Call,
    },
    http::{ApiError, Response},
    telemetry,
};

/// Time in which transactions are started: the function runs 29 seconds at most, and the last one may be waited for.
const BEGINNING: Duration = Duration::from_secs(16);

impl WriteSession<'_> {
    /// Sends one transaction per batch of calls and answers with all of them. What doesn't fit the time is left to the
    /// next request. An error in between lists the sent ones under `results`; a retry with the same idempotency key
    /// continues from there.
    pub(super) async fn send_each(mut self, batches: Vec<Vec<Call>>) -> Result<Response, ApiError> {
        let (started, mut sent) = (Instant::now(), Vec::new());
        for calls in batches {
            if started.elapsed() > BEGINNING {
                break;
            }
            if let Err(error) = self.send_one(calls, &mut sent).await {
                return Err(self.stop(error, &sent).await);
            }
        }
        let answer = all_sent(&sent);
        if let Some((key, _)) = self.replay.as_ref().filter(|_| self.holds_key) {
            self.sender.transactions().answer(key, &answer).await?;
        }
        Response::stored(answer.status, answer.body)
    }

    /// The first transaction takes the request's idempotency key.
    async fn send_one(&mut self, calls: Vec<Call>, sent: &mut Vec<SentTransaction>) -> Result<(), ApiError> {
        let (sender, now, patience) = (self.sender, self.now, self.format.patience());
        let replay = self.replay.clone().filter(|_| !self.holds_key);
        let write = WriteRequest { caller: self.caller.clone(), calls, replay };
        let outcome = sender.attempt(write, now, patience).await.map_err(|error| self.failure(error))?;
        self.count(&outcome);
        self.caller.gas_spent = self.caller.gas_spent.saturating_add(outcome.gas_limit());
        self.holds_key = true;
        // Its nonce is used up.
        self.caller.lane = None;
        sender.conclude_sent(&outcome, None).await;
        match outcome.end {
            Confirmation::Mined(_) => ended("mined", ()),
            Confirmation::Pending { .. } => ended("pending", ()),
            Confirmation::Reverted(reason, _) => return Err(ended("reverted", ApiError::unprocessable(reason))),
        }
        sent.push(SentTransaction::new(sender.chain().id, outcome.hash));
        Ok(())
    }

    /// The answer where a batch fails; releases the idempotency key for a retry.
    async fn stop(&self, error: ApiError, sent: &[SentTransaction]) -> ApiError {
        if let Some((key, _)) = self.replay.as_ref().filter(|_| self.holds_key)
            && let Err(error) = self.sender.transactions().forget(key).await
        {
            tracing::error!(error = telemetry::chain(&error), "idempotency key not released");
        }
        if sent.is_empty() { error } else { error.in_part("Ask again to go on", "results", json!(sent)) }
    }
}
