//! Fetches one document from a URI that anyone may have chosen.

use std::time::Duration;

use serde_json::Value;
use shared::{
    kept_documents::ReadKeptError,
    model::Metadata,
    public_web::{DownloadError, DownloadLimit, Downloader, Gateways},
    store::StoreError,
};

/// Of a document.
const LIMIT: DownloadLimit = DownloadLimit { bytes: 256 * 1024, time: Duration::from_secs(5) };

/// Why a document couldn't be fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// Nothing was downloaded.
    #[error(transparent)]
    Download(#[from] DownloadError),
    /// Not a JSON object.
    #[error("not a JSON object")]
    NotMetadata,
    /// A document that is kept here, and can't be read now.
    #[error("document that is kept here")]
    Kept(#[from] Box<ReadKeptError>),
    /// Storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Fetches documents from public web addresses and configured gateways.
pub struct Fetcher(Downloader);

impl Fetcher {
    /// A fetcher that uses these gateways.
    pub fn new(gateways: Gateways) -> Result<Self, reqwest::Error> {
        Self::within(gateways, LIMIT.time)
    }

    /// The same, with so much time for a document.
    pub fn within(gateways: Gateways, time: Duration) -> Result<Self, reqwest::Error> {
        let limit = DownloadLimit { time, ..LIMIT };
        Downloader::new(gateways, "moments-metadata/1.0", "application/json", limit).map(Self)
    }

    /// Fetches the document at a URI, after `failures` failed attempts.
    pub async fn fetch(&self, uri: &str, failures: u32) -> Result<Metadata, FetchError> {
        read(&self.0.download(uri, failures).await?)
    }
}

/// Reads a document.
pub(crate) fn read(document: &[u8]) -> Result<Metadata, FetchError> {
    let text = String::from_utf8_lossy(document);
    let json: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|_| FetchError::NotMetadata)?;
    Metadata::from_json(&json).ok_or(FetchError::NotMetadata)
}
