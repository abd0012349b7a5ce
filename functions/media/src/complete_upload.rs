//! Request, answer and description of `POST /uploads/{id}/complete`.

use serde::Serialize;
use shared::{api::media::StoredMedia, http::FromFields, model::UploadId};
use utoipa::{IntoParams, ToSchema};

/// An upload.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct CompleteUploadPath {
    /// Its id.
    pub id: UploadId,
}

/// A file that is hashed in part. Complete it again to go on.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UploadInProgress {
    /// The upload.
    pub upload_id: UploadId,
    /// Bytes that are hashed.
    pub hashed: u64,
    /// Bytes in all.
    pub size: u64,
}

/// Complete an upload
///
/// The CID is what `ipfs add --cid-version=1 --raw-leaves` gives. Files that aren't what they were announced as, or that
/// could run code, are refused (422). A large file answers 202 while it is hashed: complete it again to go on. A completed
/// upload always answers the same, for 24 hours.
#[utoipa::path(
    post,
    path = "/uploads/{id}/complete",
    tag = "Media",
    security(("token" = []), ("apiKey" = [])),
    params(CompleteUploadPath),
    responses(
        (status = 200, description = "The file.", body = StoredMedia),
        (status = 202, description = "The file is hashed in part.", body = UploadInProgress),
    ),
    extensions(("x-errors" = json!([404, 409, 422]))),
)]
pub fn complete_upload() {}
