use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use futures::future::try_join_all;
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    document::{Document, uri_of},
    metadata::MetadataRequest,
};
use crate::{
    api::error::removed,
    auth::service_address::ServiceAddress,
    bucket::Bucket,
    clock,
    config::{self, ConfigError},
    http::{ApiError, LimitUnit, RateLimit, Request},
    model::{ArtistId, Cid, Content, DAY, MetadataUri},
    store::artist::{ArtistTable, KeptContent, Media, Naming, StorageLimits, StorageRefusal, StoredContent},
};

/// What a file counts at least in a day's limit: it bounds the number of small ones.
const LEAST_CHARGE: u64 = 1 << 20;

/// Where files are kept.
#[derive(Clone)]
pub struct MediaLibrary {
    /// Their bytes.
    pub bucket: Bucket,
    /// Their rows.
    pub media: Media,
    limits: StorageLimits,
    address: ServiceAddress,
    /// The files' host, if they have one of their own.
    files: Option<String>,
}

/// A file that is kept here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoredMedia {
    /// Its URI for metadata and moments: `ipfs://` and its CID.
    pub uri: MetadataUri,
    /// Where it is served.
    #[schema(format = "uri")]
    pub url: String,
    /// Its media type, found by its content.
    #[schema(examples("image/png"))]
    pub content_type: String,
    /// In bytes.
    pub size: u64,
}

impl MediaLibrary {
    /// Reads `MEDIA_BUCKET`, `FILES_ADDRESS` and the limits `UPLOAD_BYTES_…`; rows are in the table `artists`.
    pub fn from_env(aws: &aws_config::SdkConfig, artists: ArtistTable) -> Result<Self, ConfigError> {
        use config::{parsed, variables};
        let limits = StorageLimits {
            total: parsed(variables::UPLOAD_BYTES_TOTAL)?,
            daily: parsed(variables::UPLOAD_BYTES_DAILY)?,
            newcomers_daily: parsed(variables::UPLOAD_BYTES_NEWCOMERS_DAILY)?,
            established_daily: parsed(variables::UPLOAD_BYTES_ESTABLISHED_DAILY)?,
        };
        Ok(Self {
            bucket: Bucket::from_env(aws)?,
            media: Media::new(artists),
            limits,
            address: ServiceAddress::from_env(),
            files: config::optional(variables::FILES_ADDRESS),
        })
    }

    /// Counts a file in the artist's day and its pool's; 429 if it doesn't fit.
    pub async fn charge(&self, request: &Request, artist: ArtistId, size: u64) -> Result<(), ApiError> {
        let now = clock::now()?.as_secs();
        let limit = |left, max| RateLimit {
            unit: LimitUnit::Bytes,
            max,
            window: Duration::from_secs(DAY),
            left,
            reset: Duration::from_secs(DAY - now % DAY),
        };
        let (words, limit) = match self.media.charge(artist, size.max(LEAST_CHARGE), &self.limits, now).await? {
            Ok((left, most)) => {
                request.note_limits(&[limit(left, most)]);
                return Ok(());
            }
            Err(StorageRefusal::Day { left, most }) => (
                format!(
                    "Files of {size} bytes don't fit into what you can store today: {left} of {most} bytes are left"
                ),
                limit(left, most),
            ),
            Err(StorageRefusal::Total { left }) => (
                format!(
                    "Your files may have {} bytes in all, and {left} are left: write to the operator",
                    self.limits.total
                ),
                limit(0, self.limits.daily),
            ),
            Err(StorageRefusal::Pool(pool)) => (
                format!("All {pool} together stored as much as they can today: try again tomorrow"),
                limit(0, self.limits.daily),
            ),
        };
        Err(ApiError::limited(words, &limit))
    }

    /// Keeps a document, unless it is kept already.
    pub async fn keep(&self, request: &Request, artist: ArtistId, document: Document) -> Result<StoredMedia, ApiError> {
        let (cid, size) = (document.cid(), document.content.len() as u64);
        let mime = document.mime.to_owned();
        match self.media.content(cid).await? {
            Some(KeptContent::Stored(_)) => {}
            Some(KeptContent::Removed(reason)) => return Err(removed(cid, reason)),
            None => {
                self.charge(request, artist, size).await?;
                self.bucket.file_document(cid, &mime, document.content).await?;
                let content = StoredContent { origin: "document".to_owned(), mime: mime.clone(), size };
                let is_added = self.media.add_content(artist, cid, &content, clock::now()?.as_secs()).await?;
                if !is_added && self.media.stored(cid).await?.is_none() {
                    return Err(ApiError::in_progress("This file is being deleted: ask again in a minute", 60));
                }
            }
        }
        self.describe(request, cid, mime, size)
    }

    /// Refuses the URI of a file that the operator removed (451). One read; none for a URI of another kind.
    pub async fn refuse_removed(&self, uri: &str) -> Result<(), ApiError> {
        match Cid::in_uri(uri) {
            Some(cid) => self.unless_removed(cid).await.map(drop),
            None => Ok(()),
        }
    }

    async fn unless_removed(&self, cid: Cid) -> Result<Option<(Cid, StoredContent)>, ApiError> {
        match self.media.content(cid).await? {
            Some(KeptContent::Removed(reason)) => Err(removed(cid, reason)),
            Some(KeptContent::Stored(content)) => Ok(Some((cid, content))),
            None => Ok(None),
        }
    }

    /// Keeps a metadata document, and notes it with the files that it names. Without `content`, it names its animation or
    /// picture, if that is kept here.
    pub async fn keep_metadata(
        &self,
        request: &Request,
        artist: ArtistId,
        mut metadata: MetadataRequest,
    ) -> Result<StoredMedia, ApiError> {
        let named = [metadata.image.as_ref(), metadata.animation_url.as_ref()].into_iter().flatten();
        let named = named.map(MetadataUri::as_str).chain(metadata.content.as_ref().map(|content| content.uri.as_str()));
        let named: BTreeSet<Cid> = named.filter_map(Cid::in_uri).collect();
        let kept = try_join_all(named.into_iter().map(|cid| self.unless_removed(cid))).await?;
        let kept: BTreeMap<Cid, StoredContent> = kept.into_iter().flatten().collect();
        if metadata.content.is_none()
            && let Some(uri) = metadata.animation_url.as_ref().or(metadata.image.as_ref())
            && let Some(StoredContent { mime, .. }) = Cid::in_uri(uri.as_str()).and_then(|cid| kept.get(&cid))
        {
            metadata.content = Some(Content { mime: mime.clone(), uri: uri.as_str().to_owned() });
        }
        let document = metadata.document()?;
        let naming = Naming { document: document.cid(), at: clock::now()?.as_secs() };
        // Before the document: a file that it names must not go once it is there.
        try_join_all(kept.keys().map(|cid| self.media.note_naming(*cid, naming))).await?;
        self.keep(request, artist, document).await
    }

    /// The answer that describes a kept file.
    pub fn describe(&self, request: &Request, cid: Cid, mime: String, size: u64) -> Result<StoredMedia, ApiError> {
        let uri = uri_of(cid).map_err(ApiError::internal)?;
        let base = match &self.files {
            Some(files) => files.clone(),
            None => self.address.of(request).map_err(ApiError::internal)?.to_string(),
        };
        let url = format!("{}/ipfs/{cid}", base.trim_end_matches('/'));
        Ok(StoredMedia { uri, url, content_type: mime, size })
    }
}
