//! Uploads, files and metadata documents.

pub mod complete_upload;
pub mod content;
pub mod create_metadata;
pub mod create_upload;
pub mod delete_upload;
pub mod list_uploads;
pub mod names;
pub mod parts;
pub mod range;
pub mod read_content;
pub mod read_preview;
pub mod svg;

/// The resource's part of the published contract.
#[derive(utoipa::OpenApi)]
#[openapi(paths(
    complete_upload::complete_upload,
    create_metadata::create_metadata,
    create_upload::create_upload,
    delete_upload::delete_upload,
    list_uploads::list_uploads,
    read_content::read_content,
    read_preview::read_preview,
))]
pub struct Contract;
