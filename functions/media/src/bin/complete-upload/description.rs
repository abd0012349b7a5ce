use shared::api::media::StoredMedia;

use super::{CompleteUploadPath, UploadInProgress};

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
)]
fn complete_upload() {}

openapi::published!(complete_upload, 404, 409, 422);
