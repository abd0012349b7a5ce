//! The chains that are served, and the service's health.

pub mod list_chains;
pub mod read_health;

/// The resource's part of the published contract.
#[derive(utoipa::OpenApi)]
#[openapi(paths(list_chains::list_chains, read_health::read_health))]
pub struct Contract;
