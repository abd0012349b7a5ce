//! Request, answer and description of `GET /previews/{picture}/{width}`.

use shared::{
    http::FromFields,
    model::{FileHash, PreviewWidth},
};
use utoipa::{IntoParams, ToSchema};

/// A preview.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct ReadPreviewPath {
    /// SHA-256 of the picture's URI, in hexadecimal.
    pub picture: FileHash,
    /// In pixels.
    pub width: PreviewWidth,
}

/// A picture in WebP.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
struct PreviewFile(#[expect(dead_code, reason = "only described")] Vec<u8>);

/// Read a preview
///
/// A smaller form of a picture. The addresses of those that there are stand in `metadata.previews` of moments and
/// collections.
#[utoipa::path(
    get,
    path = "/previews/{picture}/{width}",
    tag = "Media",
    params(ReadPreviewPath),
    responses((status = 200, description = "The preview, in WebP.", body = PreviewFile, content_type = "application/octet-stream")),
    extensions(("x-errors" = json!([404]))),
)]
pub fn read_preview() {}
