//! `POST /comments/{network}/{contract}/prepare`: what a wallet of anybody sends to comment on a moment.

use comments::{NewComment, prepare_comment::PrepareCommentRequest};
use shared::{
    api::{error::no_moment, prepare::CallPreparer, request::CollectionPath},
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{CheckedAddress, MomentRef},
    store::chain::{ChainTable, Comments, Moments},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<PrepareComment>().await
}

struct PrepareComment {
    moments: Moments,
    comments: Comments,
    preparer: CallPreparer,
}

impl Endpoint for PrepareComment {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let table = ChainTable::from_env(&aws)?.eventually_consistent();
        Ok(Self {
            moments: Moments::new(table.clone()),
            comments: Comments::new(table),
            preparer: CallPreparer::from_env(&aws).await?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let (path, body): (CollectionPath, _) =
            request.json()?.read_with(&request.path_parameters(), &self.preparer)?;
        let PrepareCommentRequest { token_id: token, text, reply_to, account: CheckedAddress(account) } = body;
        self.preparer.admit(request).await?;
        let (chain, collection) = path.place();
        let moment = MomentRef { chain, collection, token };
        // Only what a known factory made: its index is what says so.
        self.moments.collection(chain, collection).await?.ok_or_else(|| no_moment(&moment))?;
        let (sender, comment) = (self.preparer.sender(chain, account)?, NewComment { moment, text, reply_to });
        let (cost, call) = comment.plan(&self.comments, (sender.chain, sender.node), account).await?;
        Response::json(&sender.prepare(cost, None, vec![call]).await?)
    }
}
