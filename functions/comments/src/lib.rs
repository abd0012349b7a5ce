//! Comments on moments.

pub mod create_comment;
pub mod list_comments;
mod new_comment;
mod parent;
pub mod prepare_comment;

pub use self::new_comment::NewComment;

/// The resource's part of the published contract.
#[derive(utoipa::OpenApi)]
#[openapi(paths(create_comment::create_comment, list_comments::list_comments, prepare_comment::prepare_comment))]
pub struct Contract;
