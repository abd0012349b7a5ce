use utoipa::ToSchema;

use super::ReadContentPath;

/// The bytes of a file, with its own media type.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
struct StoredFile(#[expect(dead_code, reason = "only described")] Vec<u8>);

/// A JSON document, such as metadata.
#[derive(ToSchema)]
#[schema(value_type = serde_json::Value)]
struct StoredDocument(#[expect(dead_code, reason = "only described")] Vec<u8>);

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
        (status = 200, description = "The file.", content(
            (StoredFile = "application/octet-stream"),
            (StoredDocument = "application/json"),
            (String = "text/plain"),
        )),
        (status = 206, description = "The range.", content(
            (StoredFile = "application/octet-stream"),
            (StoredDocument = "application/json"),
            (String = "text/plain"),
        )),
        (status = 307, description = "A large file is at `location`, for an hour."),
        (status = 416, description = "The file has no such range."),
    ),
)]
fn read_content() {}

openapi::published!(read_content, 404);
