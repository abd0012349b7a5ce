use utoipa::ToSchema;

use super::{ReadContentPath, ReadContentQuery};

/// The bytes of a file, with its own media type.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
struct StoredFile(#[expect(dead_code, reason = "only described")] Vec<u8>);

/// A block: part of a file, or links to its parts.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
struct StoredBlock(#[expect(dead_code, reason = "only described")] Vec<u8>);

/// A JSON document, such as metadata.
#[derive(ToSchema)]
#[schema(value_type = serde_json::Value)]
struct StoredDocument(#[expect(dead_code, reason = "only described")] Vec<u8>);

/// Read a file
///
/// Files that were stored here, under their CID: they never change. Ranges are answered in parts of up to 4 MiB; a larger
/// file without a range is redirected (307). With `format=raw` it is a trustless gateway: it answers the block with that CID
/// alone, whose hash you check.
#[utoipa::path(
    get,
    path = "/ipfs/{cid}",
    tag = "Media",
    params(ReadContentPath, ReadContentQuery),
    responses(
        (status = 200, description = "The file, or the block.", content(
            (StoredFile = "application/octet-stream"),
            (StoredBlock = "application/vnd.ipld.raw"),
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
