//! `GET /previews/{picture}/{width}`: a smaller form of a picture that a document names.

use media::read_preview::ReadPreviewPath;
use shared::{
    bucket::Bucket,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, StatusCode, serve},
    model::{IMMUTABLE, Picture},
};

/// The decoder that made it was given anything: whatever it is, it stays a picture.
const POLICY: &str = "default-src 'none'; sandbox";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ReadPreview>().await
}

struct ReadPreview(Bucket);

impl Endpoint for ReadPreview {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self(Bucket::from_env(&config::aws().await)?))
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let ReadPreviewPath { picture, width } = request.path_parameters().read()?;
        let object = Picture::object(&picture.to_string(), width.get());
        let found = self.0.read_whole(&object).await?;
        let bytes = found.ok_or_else(|| ApiError::not_found("There is no such preview"))?;
        Response::bytes(StatusCode::OK, Picture::MIME, bytes)?
            .with("cache-control", IMMUTABLE)?
            .with("content-security-policy", POLICY)?
            .with("cross-origin-resource-policy", "cross-origin")?
            .with("x-content-type-options", "nosniff")
    }
}
