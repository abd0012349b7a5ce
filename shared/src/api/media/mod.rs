//! Files and metadata documents that are kept here.

mod document;
mod library;
mod metadata;
mod service;

pub use self::{
    document::Document,
    library::{MediaLibrary, StoredMedia},
    metadata::{MAX_METADATA_BYTES, MetadataRequest},
    service::MediaService,
};
