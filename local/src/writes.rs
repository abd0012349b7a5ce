//! Writes to a chain, repeated until their outcome is known. One that isn't mined within 20 seconds answers 202.

use reqwest::{
    RequestBuilder, Url,
    header::{HeaderMap, HeaderValue},
};
use uuid::Uuid;

use crate::{Error, patience::eventually};

/// How the message of a 409 begins that isn't about what was asked for.
const IN_PROGRESS: &str = "A request with this Idempotency-Key is being answered";

/// A response that was read.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Where it is from.
    pub url: Url,
    /// Status.
    pub status: u16,
    /// Headers.
    pub headers: HeaderMap,
    /// Body.
    pub body: String,
}

/// Sends a request until its outcome is known. It gets an idempotency key unless it has one.
pub async fn send(request: RequestBuilder) -> Result<Outcome, Error> {
    let (client, request) = request.build_split();
    let mut request = request?;
    let key = HeaderValue::from_str(&Uuid::new_v4().to_string())?;
    request.headers_mut().entry("idempotency-key").or_insert(key);
    repeat(RequestBuilder::from_parts(client, request)).await
}

/// Sends a request as it is until its outcome is known. The outcome is marked as replayed only if the first answer was.
pub async fn repeat(request: RequestBuilder) -> Result<Outcome, Error> {
    const REPLAYED: &str = "idempotent-replayed";
    let mut is_own = false;
    let outcome = eventually("a write's outcome", async || {
        let answer = request.try_clone().ok_or("a stream can't be sent again")?.send().await?;
        let (url, status, mut headers) = (answer.url().clone(), answer.status().as_u16(), answer.headers().clone());
        let body = answer.text().await?;
        if is_open(status, &body) {
            is_own |= status == 202 && !headers.contains_key(REPLAYED);
            return Ok(None);
        }
        if is_own {
            headers.remove(REPLAYED);
        }
        Ok(Some(Outcome { url, status, headers, body }))
    });
    outcome.await
}

/// Whether the same request can get another answer: it is queued, or one with its idempotency key is being answered.
pub fn is_open(status: u16, body: &str) -> bool {
    status == 202 || status == 409 && body.contains(IN_PROGRESS)
}
