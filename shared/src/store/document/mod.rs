//! The document table: metadata documents as the web gave them, which outlive the chain table.

pub(super) mod library;
pub(super) mod rows;

pub use self::library::{Library, ReadDocument};
pub use self::rows::ROWS;
pub use super::engine::table::DocumentTable;
