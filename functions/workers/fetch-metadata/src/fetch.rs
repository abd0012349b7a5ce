//! Fetches one document from a URI that anyone may have chosen.

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
use shared::{kept_documents::ReadKeptError, model::Metadata, public_web::PublicResolver, telemetry::trace};
use url::Url;

use crate::Gateways;

/// Longest wait for a document, over all gateways and redirects.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Most bytes of a document.
const MAX_BYTES: usize = 256 * 1024;

const MAX_REDIRECTS: usize = 3;

/// Why a document couldn't be fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The URI can't be fetched, now or later.
    #[error("URI can't be fetched")]
    Unfetchable,
    /// It took longer than 5 s.
    #[error("no document within 5 s")]
    Timeout,
    /// The connection failed.
    #[error("connection failed")]
    Http(#[from] reqwest::Error),
    /// A URL with a private address, another scheme or another port.
    #[error("{0} is not a public web address")]
    Refused(Url),
    /// A status other than 200 and redirects.
    #[error("status {0}")]
    Status(StatusCode),
    /// More than 3 redirects.
    #[error("more than 3 redirects")]
    Redirects,
    /// A redirect without a usable location.
    #[error("redirect without a usable location")]
    Location,
    /// A compressed document, although none was accepted.
    #[error("compressed document")]
    Compressed,
    /// More than 256 KiB.
    #[error("document of more than 256 KiB")]
    TooLong,
    /// Not a JSON object.
    #[error("not a JSON object")]
    NotMetadata,
    /// A document that is kept here, and can't be read now.
    #[error("document that is kept here")]
    Kept(#[from] Box<ReadKeptError>),
}

/// Fetches documents from public web addresses and configured gateways.
pub struct Fetcher {
    client: Client,
    gateways: Gateways,
}

impl Fetcher {
    /// A fetcher that uses these gateways.
    pub fn new(gateways: Gateways) -> Result<Self, reqwest::Error> {
        let headers = HeaderMap::from_iter([
            (ACCEPT, HeaderValue::from_static("application/json")),
            // Nothing is decompressed, so there is no decompression bomb.
            (ACCEPT_ENCODING, HeaderValue::from_static("identity")),
        ]);
        let client = Client::builder()
            .default_headers(headers)
            .user_agent("moments-metadata/1.0")
            .dns_resolver(Arc::new(PublicResolver))
            // Each hop's address is checked; redirects of the client or a proxy would hide it.
            .redirect(Policy::none())
            .no_proxy()
            .referer(false)
            .build()?;
        Ok(Self { client, gateways })
    }

    /// Fetches the document at a URI, after `failures` failed attempts.
    pub async fn fetch(&self, uri: &str, failures: u32) -> Result<Metadata, FetchError> {
        let bytes = match uri.strip_prefix("data:") {
            Some(data) => decode_data_uri(data)?,
            None => {
                let download = self.download(uri, failures);
                tokio::time::timeout(TIMEOUT, download).await.map_err(|_| FetchError::Timeout)??
            }
        };
        read(&bytes)
    }

    /// Tries the URI's URLs one after the other.
    async fn download(&self, uri: &str, failures: u32) -> Result<Vec<u8>, FetchError> {
        let mut failure = FetchError::Unfetchable;
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
            let response = trace::send(self.client.get(url.clone())).await?;
            match response.status() {
                StatusCode::OK => return body_of(response).await,
                status if status.is_redirection() => url = redirect_target(&response)?,
                status => return Err(FetchError::Status(status)),
            }
        }
        Err(FetchError::Redirects)
    }
}

fn redirect_target(response: &Response) -> Result<Url, FetchError> {
    let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
    let mut url = location.and_then(|to| response.url().join(to).ok()).ok_or(FetchError::Location)?;
    // Credentials in the location would be sent.
    url.set_username("").and_then(|()| url.set_password(None)).map_err(|()| FetchError::Location)?;
    Ok(url)
}

/// Reads a document.
pub(crate) fn read(document: &[u8]) -> Result<Metadata, FetchError> {
    let text = String::from_utf8_lossy(document);
    let json: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|_| FetchError::NotMetadata)?;
    Metadata::from_json(&json).ok_or(FetchError::NotMetadata)
}

/// Reads a body of at most [`MAX_BYTES`].
async fn body_of(mut response: Response) -> Result<Vec<u8>, FetchError> {
    if response.headers().get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
        return Err(FetchError::Compressed);
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

/// Decodes a `data:` URI (RFC 2397), given without its scheme. Lenient, as contracts need it: an unescaped `#` is part of
/// the data, and base64 may lack its padding.
fn decode_data_uri(data: &str) -> Result<Vec<u8>, FetchError> {
    let (kind, data) = data.split_once(',').ok_or(FetchError::Unfetchable)?;
    let bytes = percent_decode_str(data).collect::<Vec<u8>>();
    let is_base64 = kind.rsplit(';').next().is_some_and(|last| last.trim().eq_ignore_ascii_case("base64"));
    if !is_base64 {
        return Ok(bytes);
    }
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    GeneralPurpose::new(&STANDARD, config).decode(bytes).map_err(|_| FetchError::Unfetchable)
}
