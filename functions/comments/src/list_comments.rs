//! Contract of `GET /comments`.

use serde::Serialize;
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
    ))),
)]
pub fn list_comments() {}

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
