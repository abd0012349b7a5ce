//! `GET /comments`: a moment's comments, or the replies to one of them.

use comments::list_comments::{ListCommentsQuery, ListCommentsResponse, MomentComment};
use shared::{
    chain::Chains,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::Whole,
    store::chain::{ChainTable, Comments, PAGE_SIZE},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListComments>().await
}

struct ListComments {
    chains: Chains,
    comments: Comments,
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
