//! Request, answer and description of `POST /uploads`.

use serde::Serialize;
use shared::{
    http::FromFields,
    model::{FileHash, UploadId, UploadSize, UploadType},
};
use utoipa::ToSchema;

/// A file.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct CreateUploadRequest {
    /// Its type, or `application/octet-stream` if you don't know it. The content decides in the end; one of another kind is
    /// refused.
    pub content_type: UploadType,
    /// Its size.
    pub size: UploadSize,
    /// Its hash: content with another one is refused.
    pub sha256: Option<FileHash>,
}

/// Where the file's parts go.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateUploadResponse {
    /// Completes the upload.
    pub upload_id: UploadId,
    /// The parts, in order; a file of up to 100,000,000 bytes has one.
    pub parts: Vec<UploadPart>,
    /// When the addresses expire.
    #[schema(format = "date-time")]
    pub expires_at: String,
}

/// A part of the file.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UploadPart {
    /// `PUT` the bytes there, without other headers. Treat it as a secret.
    #[schema(format = "uri")]
    pub url: String,
    /// Its first byte in the file.
    pub offset: u64,
    /// In bytes: neither more nor less is taken.
    pub size: u64,
}

/// Upload a file
///
/// A picture, video, sound, model, PDF or text of up to 2 GiB. `PUT` each part to its address, in any order, also at once
/// and again, then complete the upload within 24 hours. What you upload in a day is limited; a file counts as at least 1
/// MiB.
#[utoipa::path(
    post,
    path = "/uploads",
    tag = "Media",
    security(("token" = []), ("apiKey" = [])),
    request_body(content = CreateUploadRequest, example = json!({"contentType": "image/png", "size": 482_113})),
    responses((status = 200, description = "Where its parts go.", body = CreateUploadResponse)),
    extensions(("x-errors" = json!([429]))),
)]
pub fn create_upload() {}
