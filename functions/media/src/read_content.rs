//! Request, answer and description of `GET /ipfs/{cid}`.

use shared::{
    http::FromFields,
    model::{Cid, RawFormat},
};
use utoipa::{IntoParams, ToSchema};

/// A file.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct ReadContentPath {
    /// Its CID.
    pub cid: Cid,
}

/// What of it.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ReadContentQuery {
    /// The block with this CID alone, unpacked by nobody, as IPFS nodes fetch it.
    #[param(inline)]
    pub format: Option<RawFormat>,
}

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
        (status = 307, description = "A large file is at `location`."),
        (status = 416, description = "The file has no such range."),
    ),
    extensions(("x-errors" = json!([404, 451]))),
)]
pub fn read_content() {}
