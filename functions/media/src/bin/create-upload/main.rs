//! `POST /uploads`: begins an upload, and says where its parts go.

use std::time::Duration;

use media::{
    create_upload::{CreateUploadRequest, CreateUploadResponse, UploadPart},
    parts::cut,
};
use shared::{
    api::media::MediaService,
    clock,
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{UploadId, UploadSize},
    store::artist::{UPLOAD_LIFETIME, Upload},
};

/// Time for the parts to arrive.
const LIFETIME: Duration = Duration::from_secs(2 * 60 * 60);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<CreateUpload>().await
}

struct CreateUpload(MediaService);

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
