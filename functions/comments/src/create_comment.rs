//! Contract of `POST /comments/{network}/{contract}`.

use shared::{
    api::{request::CollectionPath, transact::SentTransaction},
    http::FromFields,
    model::{CommentId, CommentText, TokenId},
};
use utoipa::ToSchema;

/// A comment.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct CreateCommentRequest {
    /// The moment's token.
    pub token_id: TokenId,
    /// The comment's text.
    pub text: CommentText,
    /// `commentId` of the parent comment.
    pub reply_to: Option<CommentId>,
}

/// Comment on a moment
///
/// The artist's embedded wallet must hold the moment or be its admin. Listed comments can be replied to.
#[utoipa::path(
    post,
    path = "/comments/{network}/{contract}",
    tag = "Comments",
    security(("apiKey" = []), ("token" = [])),
    params(CollectionPath),
    request_body(content = CreateCommentRequest, example = json!({"tokenId": "1", "text": "The light on the water!"})),
    responses((status = 200, description = "The transaction.", body = SentTransaction)),
    extensions(("x-effect" = json!("write")), ("x-errors" = json!([404]))),
)]
pub fn create_comment() {}
