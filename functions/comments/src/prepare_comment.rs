//! Contract of `POST /comments/{network}/{contract}/prepare`.

use shared::{
    api::{prepare::PreparedCalls, request::CollectionPath},
    http::FromFields,
    model::{Address, CheckedAddress, CommentId, CommentText, TokenId},
};
use utoipa::ToSchema;

/// A wallet's comment.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct PrepareCommentRequest {
    /// The moment's token.
    pub token_id: TokenId,
    /// The comment's text.
    pub text: CommentText,
    /// `commentId` of the parent comment.
    pub reply_to: Option<CommentId>,
    /// The wallet that will send the call and pays; it must hold the moment or be its admin.
    #[schema(value_type = Address)]
    pub account: CheckedAddress,
}

/// Prepare a wallet's comment
///
/// What any wallet sends to comment on a moment, tried on the newest block; nothing is sent or stored. No sign-in.
#[utoipa::path(
    post,
    path = "/comments/{network}/{contract}/prepare",
    tag = "Comments",
    params(CollectionPath),
    request_body(content = PrepareCommentRequest, example = json!({
        "tokenId": "1",
        "text": "The light on the water!",
        "account": "0x70997970c51812dc3a010c7d01b50e0d17dc79c8",
    })),
    responses((status = 200, description = "The call.", body = PreparedCalls)),
    extensions(("x-errors" = json!([402, 403, 404, 422, 429, 502, 503]))),
)]
pub fn prepare_comment() {}
