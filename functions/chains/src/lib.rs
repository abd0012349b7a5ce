//! The chains that are served.

pub mod list_chains;

/// The resource's part of the published contract.
#[derive(utoipa::OpenApi)]
#[openapi(paths(list_chains::list_chains,))]
pub struct Contract;
