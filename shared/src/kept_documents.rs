//! Documents of artists as the service keeps them: a row each, and the bytes in the bucket.

use crate::{
    bucket::{Bucket, BucketError},
    config::ConfigError,
    model::{Cid, Reason},
    store::{
        StoreError,
        artist::{ArtistTable, KeptContent, Media},
    },
};

/// Largest document that is read as a whole.
const MAX_DOCUMENT: u64 = 256 * 1024;

/// Reads documents that are kept here.
#[derive(Clone)]
pub struct KeptDocuments {
    bucket: Bucket,
    media: Media,
}

impl KeptDocuments {
    /// Reads `MEDIA_BUCKET`; rows are in the table `artists`.
    pub fn from_env(aws: &aws_config::SdkConfig, artists: ArtistTable) -> Result<Self, ConfigError> {
        Ok(Self { bucket: Bucket::from_env(aws)?, media: Media::new(artists) })
    }

    /// The document at a URI; `None` if it isn't kept here or has more than 256 KiB.
    pub async fn find(&self, uri: &str) -> Result<Option<Vec<u8>>, ReadKeptError> {
        let Some(cid) = Cid::in_uri(uri) else { return Ok(None) };
        match self.media.content(cid).await? {
            Some(KeptContent::Stored(content)) if content.size <= MAX_DOCUMENT => {
                Ok(self.bucket.read_whole(&cid.object()).await?)
            }
            Some(KeptContent::Removed(reason)) => Err(ReadKeptError::Removed(reason)),
            _ => Ok(None),
        }
    }
}

/// A document that is kept here can't be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadKeptError {
    /// Its row.
    #[error("row of a kept document")]
    Row(#[from] StoreError),
    /// It isn't to be had elsewhere either.
    #[error("the operator removed it ({0})")]
    Removed(Reason),
    /// Its bytes.
    #[error("bytes of a kept document")]
    Bytes(#[from] BucketError),
}
