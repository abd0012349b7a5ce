//! Contract of `DELETE /uploads/{id}`.

use serde::Serialize;
use utoipa::ToSchema;

use crate::complete_upload::CompleteUploadPath;

/// The file is gone.
#[derive(Serialize, ToSchema)]
pub struct DeleteUploadResponse {
    /// The file is deleted.
    pub success: bool,
}

/// Delete a file
///
/// Its bytes come off your total. A file that a moment, a collection or your profile names stays (409), for a day also one
/// that a document names; documents stored elsewhere aren't known. Caches and other IPFS nodes may have copies.
#[utoipa::path(
    delete,
    path = "/uploads/{id}",
    tag = "Media",
    security(("token" = []), ("apiKey" = [])),
    params(CompleteUploadPath),
    responses((status = 200, description = "The file is deleted.", body = DeleteUploadResponse)),
    extensions(("x-errors" = json!([403, 404, 409, 451]))),
)]
pub fn delete_upload() {}
