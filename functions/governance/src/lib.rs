//! Proposals that publish moments.

pub mod build_proposal;

/// The resource's part of the published contract.
#[derive(utoipa::OpenApi)]
#[openapi(paths(build_proposal::build_proposal))]
pub struct Contract;
