//! A client of the IPFS Pinning Service API 1.0 (<https://ipfs.github.io/pinning-services-api-spec/>).

use std::time::Duration;

use reqwest::{
    Client, Method, RequestBuilder, Response, StatusCode,
    header::{HeaderMap, RETRY_AFTER},
    redirect::Policy,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, json};
use shared::{model::Cid, telemetry::trace};
use url::Url;

/// Longest wait for an answer.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Most bytes of an answer.
const MAX_BYTES: usize = 1 << 20;

/// Longest reason that is logged.
const MAX_REASON: usize = 300;

/// What a service knows of a request.
#[derive(Clone, Debug, Deserialize)]
pub struct PinStatus {
    /// Its id of it.
    pub requestid: String,
    /// How far it is.
    pub status: Status,
    #[serde(default)]
    pin: Option<Pin>,
    #[serde(default)]
    info: Map<String, serde_json::Value>,
}

/// How far a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It waits.
    Queued,
    /// Its blocks are being fetched.
    Pinning,
    /// It is done.
    Pinned,
    /// It was given up.
    Failed,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Pin {
    cid: String,
}

#[derive(Deserialize)]
struct PinResults {
    results: Vec<PinStatus>,
}

/// Body of an error.
#[derive(Default, Deserialize)]
struct Failure {
    #[serde(default)]
    error: FailureReason,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct FailureReason {
    reason: String,
    details: String,
}

/// Why a service couldn't be asked, or refused.
#[derive(Debug, thiserror::Error)]
pub enum PinningError {
    /// No answer.
    #[error("no answer")]
    Connection(#[from] reqwest::Error),
    /// An answer that is none.
    #[error("unreadable answer")]
    Unreadable(#[from] serde_json::Error),
    /// An answer of more than 1 MiB.
    #[error("answer of more than 1 MiB")]
    TooLong,
    /// An error.
    #[error("status {status}: {reason}")]
    Refused {
        /// Its status.
        status: StatusCode,
        /// What the service says.
        reason: String,
        /// When it may be asked again.
        retry_after: Option<Duration>,
    },
}

/// A pinning service with an access token.
pub struct PinningService<'a> {
    client: &'a Client,
    endpoint: &'a Url,
    token: String,
    origins: &'a [String],
}

impl PinStatus {
    /// What the service says about it.
    pub fn details(&self) -> &str {
        self.info.get("status_details").and_then(serde_json::Value::as_str).map_or("", |text| clip(text))
    }
}

impl PinningError {
    /// Whether other files would meet it too.
    pub fn is_of_service(&self) -> bool {
        match self {
            Self::Connection(_) | Self::Unreadable(_) | Self::TooLong => true,
            Self::Refused { status, .. } => {
                status.is_server_error() || matches!(status.as_u16(), 401 | 402 | 403 | 429)
            }
        }
    }

    /// Whether the file may be its cause.
    pub fn is_of_file(&self) -> bool {
        !matches!(self, Self::Refused { status, .. } if matches!(status.as_u16(), 401 | 429))
    }

    /// When the service may be asked again.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Refused { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

/// A client for [`PinningService::new`]: the token goes to no other host.
pub fn client() -> Result<Client, reqwest::Error> {
    Client::builder()
        .user_agent("moments-pins/1.0")
        .redirect(Policy::none())
        .no_proxy()
        .referer(false)
        .timeout(TIMEOUT)
        .build()
}

impl<'a> PinningService<'a> {
    /// The service at `endpoint`.
    pub fn new(client: &'a Client, endpoint: &'a Url, token: String, origins: &'a [String]) -> Self {
        Self { client, endpoint, token, origins }
    }

    /// Asks for a file to be pinned. A request of an earlier call is found again, and one that failed is replaced.
    pub async fn add(&self, cid: Cid) -> Result<PinStatus, PinningError> {
        let known = self.find(cid).await?;
        let url = match &known {
            Some(known) if known.status != Status::Failed => return Ok(known.clone()),
            Some(failed) => self.url(Some(&failed.requestid)),
            None => self.url(None),
        };
        let pin = json!({
            "cid": cid.to_string(),
            "name": cid.to_string(),
            "origins": self.origins,
            "meta": {"service": "moments"},
        });
        read(trace::send(self.request(Method::POST, url).json(&pin)).await?).await
    }

    /// Ends all requests for a file.
    pub async fn remove(&self, cid: Cid) -> Result<(), PinningError> {
        while let Some(known) = self.find(cid).await? {
            let ended = trace::send(self.request(Method::DELETE, self.url(Some(&known.requestid)))).await?;
            if !ended.status().is_success() && ended.status() != StatusCode::NOT_FOUND {
                return read::<serde_json::Value>(ended).await.map(drop);
            }
        }
        Ok(())
    }

    /// How far a request is; `None` if the service doesn't know it.
    pub async fn status(&self, request: &str) -> Result<Option<PinStatus>, PinningError> {
        match read(trace::send(self.request(Method::GET, self.url(Some(request)))).await?).await {
            Ok(status) => Ok(Some(status)),
            Err(PinningError::Refused { status: StatusCode::NOT_FOUND, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The furthest of the requests for a file.
    async fn find(&self, cid: Cid) -> Result<Option<PinStatus>, PinningError> {
        let (mut url, cid) = (self.url(None), cid.to_string());
        url.query_pairs_mut().append_pair("cid", &cid).append_pair("status", "queued,pinning,pinned,failed");
        let PinResults { mut results } = read(trace::send(self.request(Method::GET, url)).await?).await?;
        results.retain(|known| known.pin.as_ref().is_some_and(|pin| pin.cid == cid));
        results.sort_by_key(|known| match known.status {
            Status::Pinned => 0,
            Status::Pinning => 1,
            Status::Queued => 2,
            Status::Failed => 3,
        });
        Ok(results.into_iter().next())
    }

    fn url(&self, request: Option<&str>) -> Url {
        let mut url = self.endpoint.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().push("pins").extend(request);
        }
        url
    }

    fn request(&self, method: Method, url: Url) -> RequestBuilder {
        self.client.request(method, url).bearer_auth(&self.token)
    }
}

async fn read<T: DeserializeOwned>(mut response: Response) -> Result<T, PinningError> {
    let (status, retry_after) = (response.status(), retry_after(response.headers()));
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > MAX_BYTES {
            return Err(PinningError::TooLong);
        }
        body.extend_from_slice(&chunk);
    }
    if status.is_success() {
        return Ok(serde_json::from_slice(&body)?);
    }
    let FailureReason { reason, details } = serde_json::from_slice::<Failure>(&body).unwrap_or_default().error;
    let reason = clip(&format!("{reason} {details}")).to_owned();
    Err(PinningError::Refused { status, reason, retry_after })
}

/// Seconds of a `Retry-After` header; a date counts as none.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok().map(Duration::from_secs)
}

fn clip(text: &str) -> &str {
    text.char_indices().nth(MAX_REASON).map_or(text, |(end, _)| &text[..end])
}
