//! Moments' endpoints as published: requests, answers and descriptions.

pub mod grant_permission;
pub mod revoke_permission;
pub mod update_moment_uri;
pub mod update_sale;

/// The resource's part of the published contract.
#[derive(utoipa::OpenApi)]
#[openapi(paths(
    grant_permission::grant_permission,
    revoke_permission::revoke_permission,
    update_moment_uri::update_moment_uri,
    update_sale::update_sale,
))]
pub struct Contract;
