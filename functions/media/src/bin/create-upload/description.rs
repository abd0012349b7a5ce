use super::{CreateUploadRequest, CreateUploadResponse};

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
)]
fn create_upload() {}

openapi::published!(create_upload, 429);
