//! Contract of `GET /comments`.

use serde::Serialize;
use serde_json::{Value, json};
use shared::{
    http::FromFields,
    model::{Address, ChainId, Comment, CommentId, MomentRef, TokenId, Whole},
    store::chain::ListedComment,
};
use utoipa::{IntoParams, ToSchema};

/// The moment, or the parent comment.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct ListCommentsQuery {
    /// The moment's collection.
    pub collection_address: Address,
    /// The moment's token.
    pub token_id: TokenId,
    /// The collection's chain.
    #[param(default = json!(ChainId::DEFAULT), required = false)]
    pub chain_id: ChainId,
    /// Number of comments to skip.
    #[param(default = 0, required = false, value_type = u64)]
    pub offset: Whole,
    /// Parent comment, to list its direct replies; top-level comments by default.
    pub reply_to_id: Option<CommentId>,
}

/// A page of comments.
#[derive(Serialize, ToSchema)]
pub struct ListCommentsResponse {
    /// Top-level comments newest first, replies oldest first; 20 at most.
    #[schema(max_items = 20)]
    pub comments: Vec<MomentComment>,
}

/// A comment in a list.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MomentComment {
    #[serde(flatten)]
    pub comment: Comment,
    /// Number of direct replies; 0 on replies and in previews.
    pub reply_count: u64,
    /// The first three replies, oldest first; none on replies and in previews.
    #[schema(no_recursion, max_items = 3)]
    pub replies: Vec<MomentComment>,
}

/// List comments on a moment
///
/// Top-level comments, newest first, each with its first three replies; with `replyToId` the replies to that comment,
/// oldest first. 20 per page; `Link` leads to the next one.
#[utoipa::path(
    get,
    path = "/comments",
    tag = "Comments",
    params(ListCommentsQuery),
    responses((status = 200, description = "The comments.", body = ListCommentsResponse, headers(
        ("link" = Option<String>, description = "`<?query>; rel=\"next\"` while there are more."),
    ), example = json!({"comments": [reply()]}))),
)]
pub fn list_comments() {}

fn reply() -> Value {
    json!({
        "id": "0b7e4a52-91c3-5d06-8f2e-7a9c5d3b1e84",
        "sender": "0x540c18b7f99b3b599c6feb99964498931c211858",
        "username": "ada.lovelace",
        "comment": "And the boat in it.",
        "timestamp": 1_795_253_460_000_u64,
        "commentId": "0x31c8e5a97f204b6d8c1e3f5a7b9d0c2e4f6183a5c7e9b1d3f507294b6d8fa1c3",
        "replyToId": "0x9f2d6c1be4c0c9c4b6f4ef1d7a7c1d2e3f405162738495a6b7c8d9eaf0b1c2d3",
        "nonce": "0x0000000000000000000000000000000000000000000000000000000000000001",
        "replyCount": 0,
        "replies": [],
    })
}

impl ListCommentsQuery {
    pub fn moment(&self) -> MomentRef {
        MomentRef { chain: self.chain_id, collection: self.collection_address, token: self.token_id }
    }
}

impl MomentComment {
    pub fn top_level(listed: ListedComment) -> Self {
        let replies = listed.replies.into_iter().map(Self::preview).collect();
        Self { comment: listed.comment, reply_count: listed.reply_count, replies }
    }

    pub fn reply(listed: ListedComment) -> Self {
        Self::preview(listed.comment)
    }

    fn preview(comment: Comment) -> Self {
        Self { comment, reply_count: 0, replies: Vec::new() }
    }
}
