//! `GET /comments`: a moment's comments, or the replies to one of them.

#[cfg(test)]
mod description;

use serde::Serialize;
use shared::{
    chain::Chains,
    config,
    http::{ApiError, Endpoint, FromFields, Request, Response, StartError, serve},
    model::{Address, ChainId, Comment, CommentId, MomentRef, TokenId, Whole},
    store::chain::{ChainTable, Comments, ListedComment, PAGE_SIZE},
};
use utoipa::{IntoParams, ToSchema};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListComments>().await
}

struct ListComments {
    chains: Chains,
    comments: Comments,
}

/// The moment, or the parent comment.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
struct ListCommentsQuery {
    /// The moment's collection.
    collection_address: Address,
    /// The moment's token.
    token_id: TokenId,
    /// The collection's chain.
    #[param(default = json!(ChainId::DEFAULT), required = false)]
    chain_id: ChainId,
    /// Number of comments to skip.
    #[param(default = 0, required = false, value_type = u64)]
    offset: Whole,
    /// Parent comment, to list its direct replies; top-level comments by default.
    reply_to_id: Option<CommentId>,
}

/// A page of comments.
#[derive(Serialize, ToSchema)]
struct ListCommentsResponse {
    /// Top-level comments newest first, replies oldest first; 20 at most.
    #[schema(max_items = 20)]
    comments: Vec<MomentComment>,
}

/// A comment in a list.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct MomentComment {
    #[serde(flatten)]
    comment: Comment,
    /// Number of direct replies; 0 on replies and in previews.
    reply_count: u64,
    /// The first three replies, oldest first; none on replies and in previews.
    #[schema(no_recursion, max_items = 3)]
    replies: Vec<MomentComment>,
}

impl Endpoint for ListComments {
    async fn from_env() -> Result<Self, StartError> {
        let table = ChainTable::from_env(&config::aws().await)?.eventually_consistent();
        Ok(Self { chains: Chains::from_env()?, comments: Comments::new(table) })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let query = request.query().read_for::<ListCommentsQuery>(&self.chains)?;
        let (moment, Whole(offset)) = (query.moment(), query.offset);
        let page = match query.reply_to_id {
            Some(parent) => self.comments.replies(&moment, parent, offset).await?,
            None => self.comments.top_level(&moment, offset).await?,
        };
        let show = if query.reply_to_id.is_some() { MomentComment::reply } else { MomentComment::top_level };
        let response =
            Response::public(&ListCommentsResponse { comments: page.comments.into_iter().map(show).collect() })?;
        let next = offset.saturating_add(PAGE_SIZE as u64);
        if page.more { response.with_next(request, "offset", next) } else { Ok(response) }
    }
}

impl ListCommentsQuery {
    fn moment(&self) -> MomentRef {
        MomentRef { chain: self.chain_id, collection: self.collection_address, token: self.token_id }
    }
}

impl MomentComment {
    fn top_level(listed: ListedComment) -> Self {
        let replies = listed.replies.into_iter().map(Self::preview).collect();
        Self { comment: listed.comment, reply_count: listed.reply_count, replies }
    }

    fn reply(listed: ListedComment) -> Self {
        Self::preview(listed.comment)
    }

    fn preview(comment: Comment) -> Self {
        Self { comment, reply_count: 0, replies: Vec::new() }
    }
}
