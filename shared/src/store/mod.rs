//! DynamoDB: four tables, each with a room of its own and one file per aggregate. docs/data-model.md describes every row.

pub mod across;
pub mod artist;
pub mod chain;
pub mod document;
pub mod engine;
pub mod secret;

pub use engine::StoreError;
