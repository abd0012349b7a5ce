//! Collections.

pub mod add_collection_admin;
pub mod create_collection;
pub mod list_collections;
pub mod read_collection;
pub mod remove_collection_admin;
pub mod update_collection;

/// The resource's part of the published contract.
#[derive(utoipa::OpenApi)]
#[openapi(paths(
    add_collection_admin::add_collection_admin,
    create_collection::create_collection,
    list_collections::list_collections,
    read_collection::read_collection,
    remove_collection_admin::remove_collection_admin,
    update_collection::update_collection,
))]
pub struct Contract;
