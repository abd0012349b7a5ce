//! What agents do here: the API as tools of the Model Context Protocol.

pub mod call_tool;
pub mod money;
pub mod picture;
pub mod service;
pub mod tool;
pub mod tools;

/// The resource's part of the published contract.
#[derive(utoipa::OpenApi)]
#[openapi(paths(call_tool::call_tool))]
pub struct Contract;
