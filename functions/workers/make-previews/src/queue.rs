//! The queue of documents whose files are to be looked at. A run may end at any line: each step can be repeated.

use std::time::{Duration, Instant};

use futures::{StreamExt, TryStreamExt, stream};
use serde::Serialize;
use shared::{
    bucket::{Bucket, BucketError},
    clock,
    config::StartError,
    model::{Cid, Measures, Picture, Previews, Reason, Subject},
    public_web::{DownloadError, DownloadLimit, Downloader},
    store::{
        StoreError,
        artist::{Artists, KeptContent, Media, Moderation, RemovedPicture, Report, StoredContent},
        chain::{DuePreviews, PreviewOwner, PreviewQueue},
    },
    telemetry::{self, Metric},
};
use uuid::Uuid;

use crate::{Decoded, Decoder, DecoderError};

/// Documents at a time: their files are downloaded together, and decoded one after another.
const AT_ONCE: usize = 4;

/// Of a picture.
pub const DOWNLOAD: DownloadLimit = DownloadLimit { bytes: 32 << 20, time: Duration::from_secs(20) };

/// Seconds of pause after the first attempt; each further one triples it.
const FIRST_PAUSE: u64 = 120;

/// Attempts after which a picture that can't be had is given up: the last is two months after the first.
const ATTEMPTS: u32 = 11;

/// Documents that are due, and all that is asked for their previews.
pub struct Queue {
    /// The queue.
    pub documents: PreviewQueue,
    /// Artists whose pictures they are.
    pub artists: Artists,
    /// Files that are kept here.
    pub media: Media,
    /// What the operator removed, and where what looks like it is reported.
    pub moderation: Moderation,
    /// Their bytes, and where previews go.
    pub bucket: Bucket,
    /// For files that are kept elsewhere.
    pub downloader: Downloader,
    /// For all pictures.
    pub decoder: Decoder,
}

/// Result of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Previewed {
    /// Documents whose picture has previews now.
    pub previewed: u64,
    /// Those without a picture that can be shown.
    pub plain: u64,
    /// Those that are tried again later.
    pub failed: u64,
}

/// Why a document's files can't be looked at now.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// A row.
    #[error("row of a file")]
    Row(#[from] StoreError),
    /// Bytes in the bucket.
    #[error("bytes of a file")]
    Bytes(#[from] BucketError),
    /// A picture or a file that isn't to be shown.
    #[error("the operator removed it ({0})")]
    Removed(Reason),
    /// A file that is kept elsewhere.
    #[error("download")]
    Download(#[from] DownloadError),
    /// The decoder's process.
    #[error("decoder")]
    Decoder(#[from] DecoderError),
}

enum Ending {
    Previewed,
    Plain,
    Failed,
    TakenByAnother,
}

impl Queue {
    /// Takes due documents until none is left, or until `end` and one document more.
    pub async fn run(&self, end: Instant) -> Result<Previewed, StartError> {
        let mut sum = Previewed::default();
        while Instant::now() < end {
            let limit = i32::try_from(AT_ONCE * 2).unwrap_or(i32::MAX);
            let due = self.documents.due(clock::now()?.as_secs(), limit).await?;
            if due.is_empty() {
                break;
            }
            // Read for each batch: a run may take minutes, in which the operator removes what is published again.
            let removed = self.moderation.removed_pictures().await?;
            let endings = stream::iter(&due).map(|due| self.take(due, &removed, end)).buffer_unordered(AT_ONCE);
            let endings: Vec<Ending> = endings.try_collect().await?;
            for ending in endings {
                match ending {
                    Ending::Previewed => sum.previewed += 1,
                    Ending::Plain => sum.plain += 1,
                    Ending::Failed => sum.failed += 1,
                    Ending::TakenByAnother => {}
                }
            }
        }
        tracing::info!(previewed = sum.previewed, plain = sum.plain, failed = sum.failed, "previews made");
        telemetry::record(&[], &[(Metric::PreviewFailures, i64::try_from(sum.failed).unwrap_or(i64::MAX))]);
        Ok(sum)
    }

    async fn take(&self, due: &DuePreviews, removed: &[RemovedPicture], end: Instant) -> Result<Ending, StartError> {
        if Instant::now() >= end {
            return Ok(Ending::TakenByAnother);
        }
        let again = clock::now()?.as_secs() + pause(due.failures);
        let Some(taken) = self.documents.take(due, again).await? else { return Ok(Ending::TakenByAnother) };
        match self.look_at(&taken).await {
            Ok(previews) => {
                let ending = if previews.picture.is_some() { Ending::Previewed } else { Ending::Plain };
                self.report(previews.picture.as_ref(), removed).await?;
                self.finish(&taken, previews).await?;
                Ok(ending)
            }
            Err(error) => {
                let (owner, attempts) = (&taken.owner, taken.failures);
                tracing::info!(?owner, attempts, error = telemetry::chain(&error), "no previews made");
                if is_final(&error) || attempts >= ATTEMPTS {
                    let content = self.size_of(&taken).await.unwrap_or_default();
                    self.finish(&taken, Previews { picture: None, content }).await?;
                    return Ok(Ending::Plain);
                }
                // It is tried again: the operator may undo it.
                let is_removed = matches!(error, QueueError::Removed(_));
                Ok(if is_removed { Ending::Plain } else { Ending::Failed })
            }
        }
    }

    /// Reports a file that looks like one that the operator removed: somebody decides, since looks deceive.
    async fn report(&self, picture: Option<&Picture>, removed: &[RemovedPicture]) -> Result<(), StartError> {
        let Some(file) = picture.and_then(|picture| Cid::in_uri(&picture.uri)) else { return Ok(()) };
        let Some(looks) = picture.and_then(|picture| picture.fingerprint) else { return Ok(()) };
        let resembles = |it: &&RemovedPicture| it.fingerprint.is_some_and(|other| other.resembles(looks));
        let Some(like) = removed.iter().filter(|it| it.file != Some(file)).find(resembles) else { return Ok(()) };
        let (id, subject) = (Uuid::now_v7(), Subject::File(file));
        let name = like.file.map_or_else(|| "a picture elsewhere".to_owned(), |file| Subject::File(file).to_string());
        let statement = format!("It looks like {name}, which was removed.").parse().ok();
        let at = clock::now()?.as_secs();
        self.moderation.report(&Report { id, subject, reason: like.reason, statement, email: None, at }).await?;
        Ok(())
    }

    /// An artist's row comes first: a run that is killed between leaves the picture queued.
    async fn finish(&self, taken: &DuePreviews, previews: Previews) -> Result<(), StoreError> {
        if let PreviewOwner::Artist { artist } = taken.owner
            && let Some(picture) = &previews.picture
            && let Some(avatar) = Cid::in_uri(&picture.uri)
        {
            self.artists.set_avatar_forms(artist, avatar, picture).await?;
        }
        self.documents.finish(taken, previews).await
    }

    async fn look_at(&self, taken: &DuePreviews) -> Result<Previews, QueueError> {
        if taken.failures > 1 && !taken.picture.is_empty() {
            // Perhaps it is tried again because it was removed: then it isn't downloaded again.
            self.require_shown(&taken.picture).await?;
        }
        let mut content = self.size_of(taken).await?;
        if taken.picture.is_empty() {
            return Ok(Previews { picture: None, content });
        }
        let file = self.file(&taken.picture, taken.failures).await?;
        let Decoded { picture, forms } = self.decoder.decode(&taken.picture, &file).await?;
        // As late as can be: it may have been removed while it was decoded.
        self.require_shown(&picture.uri).await?;
        let hash = Picture::hash(&picture.uri);
        for (form, bytes) in forms {
            self.bucket.put(&Picture::object(&hash, form.width), Picture::MIME, bytes).await?;
        }
        // The operator's desk moves away what it finds, after it noted the removal: what came later is seen here, or by the
        // next try if this run is killed before.
        self.require_shown(&picture.uri).await?;
        if taken.content.uri == taken.picture {
            content.size = Some(file.len() as u64);
            (content.width, content.height) = (Some(picture.width), Some(picture.height));
        }
        Ok(Previews { picture: Some(picture), content })
    }

    /// Fails if the operator removed the picture, whose previews are deleted then. One read; a list and a call for each
    /// preview of a removed one.
    async fn require_shown(&self, uri: &str) -> Result<(), QueueError> {
        let Some(removed) = self.moderation.removed_picture(uri).await? else { return Ok(()) };
        for key in self.bucket.keys_under(&Picture::objects(&Picture::hash(uri))).await? {
            self.bucket.delete(&key).await?;
        }
        Err(QueueError::Removed(removed.reason))
    }

    /// The content's size, if it is kept here.
    async fn size_of(&self, taken: &DuePreviews) -> Result<Measures, QueueError> {
        let kept = self.kept(&taken.content.uri).await?;
        Ok(Measures { size: kept.map(|(_, kept)| kept.size), ..Measures::default() })
    }

    async fn kept(&self, uri: &str) -> Result<Option<(Cid, StoredContent)>, QueueError> {
        match Cid::in_uri(uri) {
            Some(cid) => match self.media.content(cid).await? {
                Some(KeptContent::Stored(content)) => Ok(Some((cid, content))),
                Some(KeptContent::Removed(reason)) => Err(QueueError::Removed(reason)),
                None => Ok(None),
            },
            None => Ok(None),
        }
    }

    /// A picture's bytes, from here or from elsewhere.
    async fn file(&self, uri: &str, failures: u32) -> Result<Vec<u8>, QueueError> {
        let Some((cid, kept)) = self.kept(uri).await? else {
            return Ok(self.downloader.download(uri, failures).await?);
        };
        if kept.size > DOWNLOAD.bytes as u64 || !kept.mime.starts_with("image/") {
            return Err(DecoderError::Refused(format!("{}, {} bytes", kept.mime, kept.size)).into());
        }
        let stream = self.bucket.read(&cid.object(), 0, None).await?.ok_or(DownloadError::Unfetchable)?;
        Ok(stream.collect().await.map_err(BucketError::from)?.to_vec())
    }
}

/// Whether another attempt would end in the same way.
fn is_final(error: &QueueError) -> bool {
    matches!(
        error,
        QueueError::Decoder(DecoderError::Refused(_))
            | QueueError::Download(DownloadError::Unfetchable | DownloadError::TooLong(_) | DownloadError::Refused(_))
    )
}

/// Seconds until a document is tried again after `failures` earlier attempts and this one.
fn pause(failures: u32) -> u64 {
    FIRST_PAUSE.saturating_mul(3_u64.saturating_pow(failures.min(ATTEMPTS)))
}

/// How long the documents that are taken together may take: the download, and each one's decoding.
pub const LONGEST_DOCUMENT: Duration = Duration::from_secs(180);

#[cfg(test)]
mod tests {
    #[test]
    fn pause_triples() {
        assert_eq!([0, 1, 2].map(super::pause), [120, 360, 1_080]);
    }
}
