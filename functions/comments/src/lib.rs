//! Comments on moments.

pub mod create_comment;
pub mod list_comments;

/// The resource's part of the published contract.
#[derive(utoipa::OpenApi)]
#[openapi(paths(create_comment::create_comment, list_comments::list_comments,))]
pub struct Contract;
