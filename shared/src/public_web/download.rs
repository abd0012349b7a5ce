//! Downloads from a URI that anyone may have chosen.

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
use url::Url;

use super::{address::PublicResolver, gateways::Gateways};
use crate::telemetry::trace;

const MAX_REDIRECTS: usize = 3;

/// The most that a download may take.
#[derive(Clone, Copy, Debug)]
pub struct DownloadLimit {
    /// Of its body.
    pub bytes: usize,
    /// Over all gateways and redirects.
    pub time: Duration,
}

/// Why nothing was downloaded.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    /// The URI can't be fetched, now or later.
    #[error("URI can't be fetched")]
    Unfetchable,
    /// It took longer than it may.
    #[error("nothing within {0:?}")]
    Timeout(Duration),
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
    /// A compressed body, although none was accepted.
    #[error("compressed body")]
    Compressed,
    /// More bytes than it may have.
    #[error("more than {0} bytes")]
    TooLong(usize),
}

/// Downloads from public web addresses and configured gateways.
#[derive(Clone)]
pub struct Downloader {
    client: Client,
    gateways: Gateways,
    limit: DownloadLimit,
}

impl Downloader {
    /// A downloader that uses these gateways, calls itself `agent` and asks for media types.
    pub fn new(
        gateways: Gateways,
        agent: &'static str,
        accepted: &'static str,
        limit: DownloadLimit,
    ) -> Result<Self, reqwest::Error> {
        let headers = HeaderMap::from_iter([
            (ACCEPT, HeaderValue::from_static(accepted)),
            // Nothing is decompressed, so there is no decompression bomb.
            (ACCEPT_ENCODING, HeaderValue::from_static("identity")),
        ]);
        let client = Client::builder()
            .default_headers(headers)
            .user_agent(agent)
            .dns_resolver(Arc::new(PublicResolver))
            // Each hop's address is checked; redirects of the client or a proxy would hide it.
            .redirect(Policy::none())
            .no_proxy()
            .referer(false)
            .build()?;
        Ok(Self { client, gateways, limit })
    }

    /// Downloads what is at a URI, after `failures` failed attempts.
    pub async fn download(&self, uri: &str, failures: u32) -> Result<Vec<u8>, DownloadError> {
        match uri.strip_prefix("data:") {
            Some(data) => decode_data_uri(data),
            None => {
                let download = self.try_all(uri, failures);
                let time = self.limit.time;
                tokio::time::timeout(time, download).await.map_err(|_| DownloadError::Timeout(time))?
            }
        }
    }

    /// Tries the URI's URLs one after the other.
    async fn try_all(&self, uri: &str, failures: u32) -> Result<Vec<u8>, DownloadError> {
        let mut failure = DownloadError::Unfetchable;
        for url in self.gateways.urls(uri, failures) {
            match self.get(url).await {
                Ok(bytes) => return Ok(bytes),
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    async fn get(&self, mut url: Url) -> Result<Vec<u8>, DownloadError> {
        for _ in 0..=MAX_REDIRECTS {
            if !self.gateways.allow(&url) {
                return Err(DownloadError::Refused(url));
            }
            let response = trace::send(self.client.get(url.clone())).await?;
            match response.status() {
                StatusCode::OK => return self.body_of(response).await,
                status if status.is_redirection() => url = redirect_target(&response)?,
                status => return Err(DownloadError::Status(status)),
            }
        }
        Err(DownloadError::Redirects)
    }

    async fn body_of(&self, mut response: Response) -> Result<Vec<u8>, DownloadError> {
        let most = self.limit.bytes;
        if response.headers().get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
            return Err(DownloadError::Compressed);
        }
        if response.content_length().is_some_and(|length| length > most as u64) {
            return Err(DownloadError::TooLong(most));
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            if bytes.len() + chunk.len() > most {
                return Err(DownloadError::TooLong(most));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }
}

fn redirect_target(response: &Response) -> Result<Url, DownloadError> {
    let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
    let mut url = location.and_then(|to| response.url().join(to).ok()).ok_or(DownloadError::Location)?;
    // Credentials in the location would be sent.
    url.set_username("").and_then(|()| url.set_password(None)).map_err(|()| DownloadError::Location)?;
    Ok(url)
}

/// Decodes a `data:` URI (RFC 2397), given without its scheme. Lenient, as contracts need it: an unescaped `#` is part of
/// the data, and base64 may lack its padding.
fn decode_data_uri(data: &str) -> Result<Vec<u8>, DownloadError> {
    let (kind, data) = data.split_once(',').ok_or(DownloadError::Unfetchable)?;
    let bytes = percent_decode_str(data).collect::<Vec<u8>>();
    let is_base64 = kind.rsplit(';').next().is_some_and(|last| last.trim().eq_ignore_ascii_case("base64"));
    if !is_base64 {
        return Ok(bytes);
    }
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    GeneralPurpose::new(&STANDARD, config).decode(bytes).map_err(|_| DownloadError::Unfetchable)
}
