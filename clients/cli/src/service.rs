//! Calls of the service: the generated client, repeated where that is safe, until a write is mined.

use std::{
    future::Future,
    time::{Duration, Instant},
};

use moments_client::{
    Client, Error, ResponseValue,
    types::{self, ChainId},
};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    address::ApiAddress,
    amount::Currency,
    failure::{Failure, Refusal, retry_after},
};

/// Repetitions of a request that fails for a while.
const REPETITIONS: u32 = 4;
/// Pause before the first one; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// What asks for a longer pause isn't repeated.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Pause between two looks at something that goes on, unless the service says another.
const NEXT_LOOK: Duration = Duration::from_secs(2);
/// How long something may go on: what pays ends after ten minutes by itself.
const PATIENCE: Duration = Duration::from_mins(15);
/// Longer than any answer takes, `GET /events/wait` included.
const ANSWER_TIME: Duration = Duration::from_mins(1);
const CONNECT_TIME: Duration = Duration::from_secs(15);

/// Who asks.
pub enum Credential<'a> {
    Nobody,
    /// An API key.
    Key(&'a str),
    /// The token of a sign-in.
    Token(&'a str),
}

/// Whether a request that may have arrived is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Reads, and writes under one `Idempotency-Key`.
    Safely,
    /// What would be done twice: only after an answer that says it wasn't done.
    IfUndone,
}

/// A service, with a credential for it.
pub struct Service {
    address: ApiAddress,
    http: reqwest::Client,
    /// The generated client.
    pub client: Client,
}

/// A page of `GET /events`, each event as it is: a client knows the types of its time, and more may come.
#[derive(Debug, Deserialize)]
pub struct EventPage {
    pub events: Vec<Value>,
    /// `after` of the next page.
    pub next: String,
}

/// What a page of events has.
pub struct EventFilter<'a> {
    /// The artist whom the events concern, by their account.
    pub artist: &'a str,
    /// Types, separated by commas; none for all.
    pub types: Option<&'a str>,
}

impl Service {
    pub fn new(address: &ApiAddress, credential: &Credential<'_>) -> Result<Self, Failure> {
        let http = http_client(credential)?;
        let client = Client::new_with_client(address.as_str(), http.clone());
        Ok(Self { address: address.clone(), http, client })
    }

    pub fn address(&self) -> &ApiAddress {
        &self.address
    }

    /// The contract of a currency on a chain, by default the service's; the zero address for the chain's own currency.
    /// One read.
    pub async fn currency(&self, currency: Currency, chain: Option<&ChainId>) -> Result<String, Failure> {
        let served = ask(Repeat::Safely, || self.client.list_chains().send()).await?;
        let id = chain.unwrap_or(&served.default_chain_id);
        let chain = served.chains.iter().find(|served| *served.chain_id == **id);
        let chain = chain.ok_or_else(|| Failure::Usage(format!("chain {id} isn't served")))?;
        let found = match currency {
            Currency::Eth => chain.currencies.first(),
            currency => chain.currencies.iter().find(|found| found.symbol == currency.symbol()),
        };
        let found = found.map(|found| found.address.to_string());
        found.ok_or_else(|| Failure::Usage(format!("there is no {} on chain {id}", currency.symbol())))
    }

    /// A page of events. With `wait`, in seconds up to 20, it comes with the first event or after that time.
    pub async fn events(&self, after: &str, filter: &EventFilter<'_>, wait: u64) -> Result<EventPage, Failure> {
        let path = if wait > 0 { "events/wait" } else { "events" };
        let wait = wait.to_string();
        let query = [("after", after), ("artist", filter.artist), ("wait", &wait), ("limit", "100")];
        let request = self.http.get(format!("{}/{path}", self.address)).query(&query);
        let response = request.query(&filter.types.map(|types| [("types", types)])).send().await?;
        if !response.status().is_success() {
            return Err(Failure::Refused(Refusal::read(response).await));
        }
        Ok(response.json().await?)
    }
}

/// Sends a request until it is answered.
pub async fn ask<T, F>(repeat: Repeat, send: impl Fn() -> F) -> Result<T, Failure>
where
    F: Future<Output = Result<ResponseValue<T>, Error<types::Error>>>,
{
    finish(repeat, |_| (), send).await
}

/// [`ask`] for what may take longer than an answer, under one `Idempotency-Key` where it writes: a 202 is given to
/// `tell`, and the request is sent again.
pub async fn finish<T, F>(repeat: Repeat, tell: impl Fn(&Value), send: impl Fn() -> F) -> Result<T, Failure>
where
    F: Future<Output = Result<ResponseValue<T>, Error<types::Error>>>,
{
    let began = Instant::now();
    let mut tried = 0;
    loop {
        let error = match send().await {
            Ok(answer) => return Ok(answer.into_inner()),
            Err(error) => error,
        };
        let pause = match outcome(error).await {
            Outcome::GoesOn { body, .. } if began.elapsed() > PATIENCE => {
                let id = body["transactionId"].as_str().or(body["uploadId"].as_str()).unwrap_or_default();
                return Err(Failure::Pending(id.to_owned()));
            }
            Outcome::GoesOn { body, pause } => {
                tell(&body);
                tried = 0;
                pause
            }
            Outcome::Failed(failure) => {
                let Some(pause) = pause(&failure, repeat, tried) else { return Err(failure) };
                tried += 1;
                pause
            }
        };
        tokio::time::sleep(pause).await;
    }
}

/// How long to wait before a failed request is sent again, after so many repetitions; `None` if it isn't.
pub fn pause(failure: &Failure, repeat: Repeat, tried: u32) -> Option<Duration> {
    let asked = match failure {
        Failure::Lost(_) if repeat == Repeat::Safely => None,
        Failure::Refused(refusal) => {
            let is_undone = matches!((refusal.status, refusal.retry_after), (429, _) | (503 | 409, Some(_)));
            let is_transient = matches!(refusal.status, 500 | 502..=504);
            if !(is_undone || is_transient && repeat == Repeat::Safely) {
                return None;
            }
            refusal.retry_after.map(Duration::from_secs)
        }
        _ => return None,
    };
    let pause = asked.unwrap_or_default().max(FIRST_PAUSE * 2_u32.saturating_pow(tried));
    (tried < REPETITIONS && pause <= LONGEST_PAUSE).then_some(pause)
}

/// What an answer without a result means.
enum Outcome {
    /// 202: its body, and the time until the next look.
    GoesOn {
        body: Value,
        pause: Duration,
    },
    Failed(Failure),
}

async fn outcome(error: Error<types::Error>) -> Outcome {
    Outcome::Failed(match error {
        Error::UnexpectedResponse(response) if response.status() == 202 => {
            let pause = retry_after(response.headers()).map_or(NEXT_LOOK, Duration::from_secs).min(LONGEST_PAUSE);
            match response.json().await {
                Ok(body) => return Outcome::GoesOn { body, pause },
                Err(error) => error.into(),
            }
        }
        Error::UnexpectedResponse(response) => Failure::Refused(Refusal::read(response).await),
        Error::ErrorResponse(answer) => {
            Failure::Refused(Refusal::new(answer.status().as_u16(), answer.headers(), &answer))
        }
        Error::CommunicationError(error) | Error::InvalidUpgrade(error) | Error::ResponseBodyError(error) => {
            error.into()
        }
        Error::InvalidResponsePayload(_, error) => Failure::Strange(error.to_string()),
        Error::InvalidRequest(wrong) | Error::Custom(wrong) => Failure::Here(wrong),
    })
}

fn http_client(credential: &Credential<'_>) -> Result<reqwest::Client, Failure> {
    let mut headers = HeaderMap::new();
    let credential = match *credential {
        Credential::Nobody => None,
        Credential::Key(key) => Some((HeaderName::from_static("x-api-key"), HeaderValue::from_str(key.trim()))),
        Credential::Token(token) => {
            Some((reqwest::header::AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {token}"))))
        }
    };
    if let Some((name, value)) = credential {
        let mut value = value.map_err(|_| Failure::Usage("the key has characters that no key has".to_owned()))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    let client = reqwest::Client::builder()
        .user_agent(concat!("moments-cli/", env!("CARGO_PKG_VERSION")))
        .default_headers(headers)
        // Another host doesn't get the key.
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_TIME)
        .timeout(ANSWER_TIME);
    Ok(client.build()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn refused(status: u16, retry_after: Option<&str>) -> Failure {
        let mut headers = HeaderMap::new();
        if let Some(seconds) = retry_after {
            headers.insert("retry-after", HeaderValue::from_str(seconds).expect("a header"));
        }
        let error = serde_json::from_value(serde_json::json!({"status": "error", "message": "No"})).expect("an error");
        Failure::Refused(Refusal::new(status, &headers, &error))
    }

    #[tokio::test]
    async fn only_what_is_safe_is_sent_again() {
        let lost = Failure::Lost("x".to_owned());
        assert_eq!(pause(&lost, Repeat::Safely, 0), Some(FIRST_PAUSE));
        assert_eq!(pause(&lost, Repeat::Safely, 1), Some(FIRST_PAUSE * 2));
        assert_eq!(pause(&lost, Repeat::Safely, REPETITIONS), None);
        assert_eq!(pause(&lost, Repeat::IfUndone, 0), None);
        for status in [500, 502, 503, 504] {
            assert!(pause(&refused(status, None).await, Repeat::Safely, 0).is_some());
            assert!(pause(&refused(status, None).await, Repeat::IfUndone, 0).is_none());
        }
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        for repeat in [Repeat::Safely, Repeat::IfUndone] {
            assert_eq!(pause(&refused(429, Some("3")).await, repeat, 0), seconds(3));
            assert_eq!(pause(&refused(503, Some("3")).await, repeat, 0), seconds(3));
            assert_eq!(pause(&refused(429, Some("31")).await, repeat, 0), None);
            for status in [400, 401, 402, 403, 404, 409, 422] {
                assert_eq!(pause(&refused(status, None).await, repeat, 0), None);
            }
        }
    }
}
