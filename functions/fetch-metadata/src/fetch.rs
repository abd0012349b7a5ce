//! Fetches one document.

use std::{sync::Arc, time::Duration};

use base64::{
    Engine,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use percent_encoding::percent_decode_str;
use reqwest::{
    Client, Response, StatusCode,
    header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, HeaderValue, LOCATION},
    redirect::Policy,
};
use serde_json::Value;
use shared::model::Metadata;
use url::Url;

use crate::{Gateways, address::PublicResolver};

/// Longest wait for a document, whatever is tried.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Longest document.
const MAX_BYTES: usize = 256 * 1024;

/// Most redirects that are followed.
const MAX_REDIRECTS: usize = 3;

/// Why there is no document.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// Its URI leads nowhere, now and ever.
    #[error("no way to this URI")]
    NoWay,
    /// It isn't there in time.
    #[error("no document within 5 s")]
    Timeout,
    /// The connection failed.
    #[error("connection")]
    Http(#[from] reqwest::Error),
    /// It lies where nothing is fetched from.
    #[error("{0} is no public web address")]
    Refused(Url),
    /// A server answered with something else.
    #[error("status {0}")]
    Status(StatusCode),
    /// A server passed the request on too often.
    #[error("more than 3 redirects")]
    Redirects,
    /// A redirect to nowhere.
    #[error("redirect without a usable location")]
    Location,
    /// A server packed it although it was asked not to.
    #[error("packed document")]
    Packed,
    /// It is too long.
    #[error("document of more than 256 KiB")]
    TooLong,
    /// It is no metadata.
    #[error("not a JSON object")]
    NotMetadata,
}

/// Fetches documents from the internet, and from nowhere else.
pub struct Fetcher {
    client: Client,
    gateways: Gateways,
}

impl Fetcher {
    /// A fetcher that goes through these gateways.
    ///
    /// # Errors
    /// When no HTTP client can be made.
    pub fn new(gateways: Gateways) -> Result<Self, reqwest::Error> {
        let headers = HeaderMap::from_iter([
            (ACCEPT, HeaderValue::from_static("application/json")),
            // Nothing is unpacked, so nothing can grow in unpacking.
            (ACCEPT_ENCODING, HeaderValue::from_static("identity")),
        ]);
        let client = Client::builder()
            .default_headers(headers)
            .user_agent("moments-metadata/1.0")
            .dns_resolver(Arc::new(PublicResolver))
            // Each hop's address has to be looked at; a proxy would hide it.
            .redirect(Policy::none())
            .no_proxy()
            .referer(false)
            .build()?;
        Ok(Self { client, gateways })
    }

    /// The document at a URI, after it couldn't be had `failures` times.
    ///
    /// # Errors
    /// When it can't be had in time, or is none.
    pub async fn fetch(&self, uri: &str, failures: u32) -> Result<Metadata, FetchError> {
        let bytes = match uri.strip_prefix("data:") {
            Some(data) => unpack(data)?,
            None => {
                let download = self.download(uri, failures);
                tokio::time::timeout(TIMEOUT, download).await.map_err(|_| FetchError::Timeout)??
            }
        };
        let text = String::from_utf8_lossy(&bytes);
        let json: Value =
            serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|_| FetchError::NotMetadata)?;
        Metadata::from_json(&json).ok_or(FetchError::NotMetadata)
    }

    /// What the first of a URI's places gives.
    async fn download(&self, uri: &str, failures: u32) -> Result<Vec<u8>, FetchError> {
        let mut failure = FetchError::NoWay;
        for url in self.gateways.urls(uri, failures) {
            match self.get(url).await {
                Ok(bytes) => return Ok(bytes),
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    async fn get(&self, mut url: Url) -> Result<Vec<u8>, FetchError> {
        for _ in 0..=MAX_REDIRECTS {
            if !self.gateways.allow(&url) {
                return Err(FetchError::Refused(url));
            }
            let response = self.client.get(url.clone()).send().await?;
            match response.status() {
                StatusCode::OK => return read(response).await,
                status if status.is_redirection() => url = target(&response)?,
                status => return Err(FetchError::Status(status)),
            }
        }
        Err(FetchError::Redirects)
    }
}

/// Where a redirect leads.
fn target(response: &Response) -> Result<Url, FetchError> {
    let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
    let mut url = location.and_then(|to| response.url().join(to).ok()).ok_or(FetchError::Location)?;
    // A stranger's name and password are of no use and would be sent.
    url.set_username("").and_then(|()| url.set_password(None)).map_err(|()| FetchError::Location)?;
    Ok(url)
}

/// The body, as long as it isn't too long.
async fn read(mut response: Response) -> Result<Vec<u8>, FetchError> {
    if response.headers().get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
        return Err(FetchError::Packed);
    }
    if response.content_length().is_some_and(|length| length > MAX_BYTES as u64) {
        return Err(FetchError::TooLong);
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if bytes.len() + chunk.len() > MAX_BYTES {
            return Err(FetchError::TooLong);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// What a `data:` URI holds (RFC 2397), without its scheme. Read as contracts write them: with a `#` that isn't escaped,
/// and base64 with or without its padding.
fn unpack(data: &str) -> Result<Vec<u8>, FetchError> {
    let (kind, data) = data.split_once(',').ok_or(FetchError::NoWay)?;
    let bytes = percent_decode_str(data).collect::<Vec<u8>>();
    let is_base64 = kind.rsplit(';').next().is_some_and(|last| last.trim().eq_ignore_ascii_case("base64"));
    if !is_base64 {
        return Ok(bytes);
    }
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    GeneralPurpose::new(&STANDARD, config).decode(bytes).map_err(|_| FetchError::NoWay)
}
