//! Several writes for one request, each a transaction of its own. What they do must not be done twice when the request
//! comes again: whoever asks for them looks at the chain first.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::{
    Writing,
    wording::{SentTransaction, all_sent, ended},
};
use crate::{
    chain::{
        account::Call,
        engine::{End, Write},
    },
    http::{ApiError, Response},
    telemetry,
};

/// How long new transactions are begun. The last of them may be waited for, and the function runs 29 seconds at most.
const BEGINNING: Duration = Duration::from_secs(16);

impl Writing<'_> {
    /// Makes the artist's account do each batch of `calls` in turn, all of a batch or none, and answers with what was sent.
    /// Where time runs out, the rest is left to the next request.
    ///
    /// # Errors
    /// Those of [`Writing::send`]. One that comes in the middle says under `results` what was sent before it, and the same
    /// request with the same idempotency key goes on from there.
    pub async fn send_each(mut self, batches: Vec<Vec<Call>>) -> Result<Response, ApiError> {
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
            self.engine.transactions().answer(key, &answer).await?;
        }
        Response::stored(answer.status, answer.body)
    }

    /// The first of all brings the request's idempotency key with it.
    async fn send_one(&mut self, calls: Vec<Call>, sent: &mut Vec<SentTransaction>) -> Result<(), ApiError> {
        let (engine, now, patience) = (self.engine, self.now, self.wording.patience());
        let replay = self.replay.clone().filter(|_| !self.holds_key);
        let write = Write { caller: self.caller.clone(), calls, replay };
        let outcome = engine.attempt(write, now, patience).await.map_err(|error| self.failure(error))?;
        self.count(&outcome);
        self.caller.gas_spent = self.caller.gas_spent.saturating_add(outcome.gas_limit());
        self.holds_key = true;
        // The lane's nonce has moved on.
        self.caller.lane = None;
        engine.conclude_sent(&outcome, None).await;
        match outcome.end {
            End::Mined(_) => ended("mined", ()),
            End::Pending { .. } => ended("pending", ()),
            End::Reverted(reason, _) => return Err(ended("reverted", ApiError::unprocessable(reason))),
        }
        sent.push(SentTransaction::new(engine.chain().id, outcome.hash));
        Ok(())
    }

    /// What is answered where a batch fails, and the key let go for the request to be made again.
    async fn stop(&self, error: ApiError, sent: &[SentTransaction]) -> ApiError {
        if let Some((key, _)) = self.replay.as_ref().filter(|_| self.holds_key)
            && let Err(error) = self.engine.transactions().forget(key).await
        {
            tracing::error!(error = telemetry::chain(&error), "idempotency key not let go");
        }
        if sent.is_empty() { error } else { error.in_part("Ask again to go on", "results", json!(sent)) }
    }
}
