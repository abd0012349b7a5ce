//! `POST /uploads/{id}/complete`: joins an upload's parts, looks at the content and gives it its CID. A large file takes
//! several calls, each of which goes on where the last one ended.

mod hashing;

use std::time::Duration;

use media::complete_upload::{CompleteUploadPath, UploadInProgress};
use shared::{
    api::{
        error::removed,
        media::{MediaService, StoredMedia},
    },
    bucket::UploadedPart,
    clock,
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{ArtistId, Cid, Reason, UploadId},
    store::artist::{KeptContent, StoredContent, Upload, UploadOutcome, UploadedFile},
};

use crate::hashing::Hashed;

/// How long a request may hash; longer than the function's time-out.
const HASHING: Duration = Duration::from_secs(35);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<CompleteUpload>().await
}

struct CompleteUpload(MediaService);

impl Endpoint for CompleteUpload {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self(MediaService::from_env().await?))
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let now = clock::now()?;
        let artist = self.0.authenticate(request).await?;
        let CompleteUploadPath { id } = request.path_parameters().read()?;
        let upload = self.0.library.media.upload(artist, id, now.as_secs()).await?.ok_or_else(|| unknown(id))?;
        if upload.outcome.is_none() && upload.progress.is_none() {
            self.join(&id.object(), &upload).await?;
        }
        if upload.outcome.is_some() { self.ended(request, upload) } else { self.hash(request, artist, id, now).await }
    }
}

impl CompleteUpload {
    fn ended(&self, request: &Request, upload: Upload) -> Result<Response, ApiError> {
        match upload.outcome {
            Some(UploadOutcome::Stored { cid, mime }) => self.answer(request, cid, mime, upload.size),
            Some(UploadOutcome::Refused(reason)) => Err(ApiError::unprocessable(reason)),
            None => Err(hashing_elsewhere()),
        }
    }

    /// Hashes what one request can. Requests for the same upload don't hash side by side.
    async fn hash(
        &self,
        request: &Request,
        artist: ArtistId,
        id: UploadId,
        now: Duration,
    ) -> Result<Response, ApiError> {
        let (object, media) = (id.object(), &self.0.library.media);
        let leased = media.lease_hashing(artist, id, now.as_secs(), now.as_secs() + HASHING.as_secs()).await?;
        let mut upload = leased.ok_or_else(hashing_elsewhere)?;
        if upload.outcome.is_some() {
            return self.ended(request, upload);
        }
        let hashed = hashing::hash(&self.0.library.bucket, &object, &upload).await;
        if hashed.is_err() {
            media.save_upload(artist, id, &upload).await?;
        }
        match hashed? {
            Hashed::Missing => Err(unknown(id)),
            Hashed::InPart(progress) => {
                let answer = UploadInProgress { upload_id: id, hashed: progress.dag.size(), size: upload.size };
                upload.progress = Some(progress);
                self.0.library.media.save_upload(artist, id, &upload).await?;
                Response::stored(202, serde_json::to_string(&answer)?)?.with("retry-after", "1")
            }
            Hashed::Refused(reason) => self.refuse(artist, id, upload, ApiError::unprocessable(reason)).await,
            Hashed::Whole { cid, mime } => {
                let content = StoredContent { origin: object, mime: mime.clone(), size: upload.size };
                let file = UploadedFile { upload: id, cid, content, at: now.as_secs() };
                let accepted = self.accept(artist, file).await;
                if accepted.is_err() {
                    media.save_upload(artist, id, &upload).await?;
                }
                if let Some(reason) = accepted? {
                    return self.refuse(artist, id, upload, removed(cid, reason)).await;
                }
                (upload.progress, upload.outcome) = (None, Some(UploadOutcome::Stored { cid, mime: mime.clone() }));
                self.0.library.media.save_upload(artist, id, &upload).await?;
                self.0.library.bucket.delete(&id.object()).await?;
                self.answer(request, cid, mime, upload.size)
            }
        }
    }

    /// Deletes what isn't taken, and remembers why.
    async fn refuse(
        &self,
        artist: ArtistId,
        id: UploadId,
        mut upload: Upload,
        error: ApiError,
    ) -> Result<Response, ApiError> {
        let reason = error.message().to_owned();
        tracing::info!(artist.id = %artist, reason, "upload refused");
        (upload.progress, upload.outcome) = (None, Some(UploadOutcome::Refused(reason)));
        self.0.library.media.save_upload(artist, id, &upload).await?;
        self.0.library.bucket.delete(&id.object()).await?;
        Err(error)
    }

    /// Makes one object of the parts, which must all be there.
    async fn join(&self, object: &str, upload: &Upload) -> Result<(), ApiError> {
        let bucket = &self.0.library.bucket;
        // An upload that is gone was joined by an earlier call.
        let Some(parts) = bucket.parts(object, &upload.multipart).await? else { return Ok(()) };
        let there: u64 = parts.iter().map(|part: &UploadedPart| part.size).sum();
        if there != upload.size {
            let words = format!("{there} of {} bytes have arrived: PUT every part, then complete it", upload.size);
            return Err(ApiError::conflict(words));
        }
        Ok(bucket.join(object, &upload.multipart, parts).await?)
    }

    /// Files the object as content, unless it is there. Returns why the operator removed the content, if that is so.
    async fn accept(&self, artist: ArtistId, file: UploadedFile) -> Result<Option<Reason>, ApiError> {
        let media = &self.0.library.media;
        let Some(content) = media.content(file.cid).await? else { return self.file(artist, file).await };
        match content {
            KeptContent::Stored(content) => self.share(artist, UploadedFile { content, ..file }).await,
            KeptContent::Removed(reason) => Ok(Some(reason)),
        }
    }

    async fn share(&self, artist: ArtistId, file: UploadedFile) -> Result<Option<Reason>, ApiError> {
        match self.0.library.media.share_file(artist, &file).await? {
            true => Ok(None),
            // The last who held it let go of it just now.
            false => Err(hashing_elsewhere()),
        }
    }

    /// The bytes before their row: what has a row is served.
    async fn file(&self, artist: ArtistId, file: UploadedFile) -> Result<Option<Reason>, ApiError> {
        let (bucket, media) = (&self.0.library.bucket, &self.0.library.media);
        if !bucket.file(file.upload, file.cid, &file.content.mime, file.content.size).await? {
            return Err(unknown(file.upload));
        }
        if media.add_file(artist, &file).await? {
            return Ok(None);
        }
        match media.content(file.cid).await? {
            Some(KeptContent::Removed(reason)) => {
                bucket.delete(&file.cid.object()).await?;
                Ok(Some(reason))
            }
            // Another request filed it just now.
            Some(KeptContent::Stored(content)) => self.share(artist, UploadedFile { content, ..file }).await,
            None => Err(hashing_elsewhere()),
        }
    }

    fn answer(&self, request: &Request, cid: Cid, mime: String, size: u64) -> Result<Response, ApiError> {
        let media: StoredMedia = self.0.library.describe(request, cid, mime, size)?;
        Response::json(&media)
    }
}

fn hashing_elsewhere() -> ApiError {
    ApiError::in_progress("Another request is completing this upload: ask again in a moment", 2)
}

fn unknown(id: UploadId) -> ApiError {
    ApiError::not_found(format!("You have no upload {id}, or it has expired: begin another one"))
}
