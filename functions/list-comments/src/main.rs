//! `GET /comments`: a moment's comments, or the replies to one of them.

use serde::Serialize;
use shared::{
    chain::Chains,
    config,
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::{Address, ChainId, Comment, CommentId, Invalid, MomentRef, TokenId},
    store::{Comments, ListedComment, PAGE_SIZE, Table},
    telemetry,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(ListComments::from_env().await?).await
}

struct ListComments {
    chains: Chains,
    comments: Comments,
}

/// Which comments are asked for.
struct ListCommentsQuery {
    /// `collectionAddress`, `tokenId` and `chainId` (8453 unless given).
    moment: MomentRef,
    /// `offset`: how many to pass over; 0 unless given.
    offset: u64,
    /// `replyToId`: the comment whose direct replies are asked for; top-level comments unless given.
    reply_to: Option<CommentId>,
}

#[derive(Serialize)]
struct ListCommentsResponse {
    /// Top-level comments newest first, replies oldest first; 20 at most.
    comments: Vec<MomentComment>,
}

/// The contract's `MomentComment`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MomentComment {
    #[serde(flatten)]
    comment: Comment,
    /// Direct replies; shown as 0 on replies and in previews.
    reply_count: u64,
    /// The first three replies, oldest first; none on replies and in previews.
    replies: Vec<MomentComment>,
}

impl ListComments {
    async fn from_env() -> Result<Self, StartError> {
        let table = Table::chain(&config::aws().await)?;
        Ok(Self { chains: Chains::from_env()?, comments: Comments::new(table) })
    }
}

impl Endpoint for ListComments {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let query = ListCommentsQuery::parse(request, &self.chains)?;
        let page = match query.reply_to {
            Some(parent) => self.comments.replies(&query.moment, parent, query.offset).await?,
            None => self.comments.top_level(&query.moment, query.offset).await?,
        };
        let show = if query.reply_to.is_some() { MomentComment::reply } else { MomentComment::top_level };
        let response =
            Response::public(&ListCommentsResponse { comments: page.comments.into_iter().map(show).collect() })?;
        let next = query.offset.saturating_add(PAGE_SIZE as u64);
        if page.more { response.with_next(request, "offset", next) } else { Ok(response) }
    }
}

impl ListCommentsQuery {
    fn parse(request: &Request, chains: &Chains) -> Result<Self, ApiError> {
        let mut fields = request.query();
        let collection = fields.required::<Address>("collectionAddress");
        let token = fields.required::<TokenId>("tokenId");
        let chain = fields.optional_or("chainId", ChainId::DEFAULT);
        let offset = fields.optional_or("offset", Offset(0));
        let reply_to = fields.optional::<CommentId>("replyToId");
        if let Some(Err(error)) = chain.map(|chain| chains.get(chain)) {
            fields.refuse("chainId", error);
        }
        fields.finish(|| {
            let moment = MomentRef { chain: chain?, collection: collection?, token: token? };
            Some(Self { moment, offset: offset?.0, reply_to })
        })
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

/// How many rows to pass over.
struct Offset(u64);

impl std::str::FromStr for Offset {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let number = if digits { text.parse().ok() } else { None };
        number.map(Self).ok_or(Invalid("must be a whole number, 0 or more"))
    }
}
