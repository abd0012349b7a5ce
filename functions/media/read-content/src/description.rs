use super::ReadContentPath;

/// Read a file
///
/// Files that were stored here, under their CID: they never change. Ranges are answered in parts of up to 4 MiB; a larger
/// file without a range is redirected (307).
#[utoipa::path(
    get,
    path = "/ipfs/{cid}",
    tag = "Media",
    params(ReadContentPath),
    responses(
        (status = 200, description = "The file.", content_type = "*/*", body = serde_json::Value),
        (status = 206, description = "The range.", content_type = "*/*", body = serde_json::Value),
        (status = 307, description = "A large file is at `location`, for an hour."),
        (status = 416, description = "The file has no such range."),
    ),
)]
fn read_content() {}

openapi::published!(read_content, 404);
