//! Reports of what shouldn't be shown, and what the operator did about them.

pub mod create_report;
pub mod read_moderation;

/// The resource's part of the published contract.
#[derive(utoipa::OpenApi)]
#[openapi(paths(create_report::create_report, read_moderation::read_moderation))]
pub struct Contract;
