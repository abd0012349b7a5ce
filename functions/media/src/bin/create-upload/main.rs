//! `POST /uploads`: begins an upload, and says where its parts go.

#[cfg(test)]
mod description;

use std::time::Duration;

use serde::Serialize;
use shared::{
    api::media::MediaService,
    clock,
    http::{ApiError, Endpoint, FromFields, Request, Response, StartError, serve},
    model::{FileHash, UploadId, UploadSize, UploadType},
    store::artist::{UPLOAD_LIFETIME, Upload},
};
use utoipa::ToSchema;

/// Largest file that has one part.
const ONE_PART: u64 = 100_000_000;

/// Bytes of a part of a larger file.
const PART: u64 = 64 << 20;

/// Time for the parts to arrive.
const LIFETIME: Duration = Duration::from_secs(2 * 60 * 60);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<CreateUpload>().await
}

struct CreateUpload(MediaService);

/// A file.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
struct CreateUploadRequest {
    /// Its type. The content decides in the end; one of another kind is refused.
    content_type: UploadType,
    /// Its size.
    size: UploadSize,
    /// Its hash: content with another one is refused.
    sha256: Option<FileHash>,
}

/// Where the file's parts go.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CreateUploadResponse {
    /// Completes the upload.
    upload_id: UploadId,
    /// The parts, in order; a file of up to 100,000,000 bytes has one.
    parts: Vec<UploadPart>,
    /// When the addresses expire.
    #[schema(format = "date-time")]
    expires_at: String,
}

/// A part of the file.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct UploadPart {
    /// `PUT` the bytes there, without other headers. Treat it as a secret.
    #[schema(format = "uri")]
    url: String,
    /// Its first byte in the file.
    offset: u64,
    /// In bytes: neither more nor less is taken.
    size: u64,
}

impl Endpoint for CreateUpload {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self(MediaService::from_env().await?))
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let now = clock::now()?;
        let artist = self.0.authenticate(request).await?;
        let CreateUploadRequest { content_type, size: UploadSize(size), sha256 } = request.json()?.read()?;
        self.0.library.charge(request, artist, size).await?;
        let (id, bucket) = (UploadId::next(), &self.0.library.bucket);
        let object = id.object();
        let multipart = bucket.begin(&object).await?;
        let mut parts = Vec::new();
        for (number, (offset, size)) in (1..).zip(cut(size)) {
            let url = bucket.sign_part(&object, &multipart, number, size, LIFETIME).await?;
            parts.push(UploadPart { url, offset, size });
        }
        let expires_at = now.as_secs() + UPLOAD_LIFETIME;
        let upload =
            Upload { multipart, declared: content_type, size, sha256, progress: None, outcome: None, expires_at };
        self.0.library.media.save_upload(artist, id, &upload).await?;
        let expires_at = clock::iso_8601((now + LIFETIME).as_secs())?;
        Response::json(&CreateUploadResponse { upload_id: id, parts, expires_at })
    }
}

/// Offsets and sizes of the parts.
fn cut(size: u64) -> impl Iterator<Item = (u64, u64)> {
    let part = if size <= ONE_PART { ONE_PART } else { PART };
    (0..size.div_ceil(part)).map(move |number| (number * part, part.min(size - number * part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_file() {
        for (size, count) in [(1, 1), (ONE_PART, 1), (ONE_PART + 1, 2), (2 * PART, 2), (2 * PART + 1, 3), (2 << 30, 32)]
        {
            let parts: Vec<_> = cut(size).collect();
            assert_eq!(parts.len(), count, "{size}");
            let end = parts.iter().fold(0, |end, (offset, size)| {
                assert_eq!(*offset, end);
                end + size
            });
            assert_eq!(end, size);
        }
    }
}
