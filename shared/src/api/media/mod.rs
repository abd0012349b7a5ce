//! Files and metadata documents that are kept here.

mod document;
mod library;
mod metadata;
mod service;

pub use self::{
    document::Document,
    library::{MediaLibrary, StoredMedia},
    metadata::MetadataRequest,
    service::MediaService,
};
