//! Files and metadata documents that are kept here.

mod library;
mod metadata;

pub use self::{
    library::{Document, KeptDocuments, MediaLibrary, ReadKeptError, StoredMedia},
    metadata::{MAX_METADATA_BYTES, MetadataRequest},
};
