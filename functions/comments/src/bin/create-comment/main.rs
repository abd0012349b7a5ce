//! `POST /comments/{network}/{contract}`: comments on a moment, or replies to a comment on it.

use comments::{NewComment, create_comment::CreateCommentRequest};
use shared::{
    api::{request::CollectionPath, transact::TransactionService},
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{ActivityKind, Creation, MomentRef, Scope},
    store::chain::{ChainTable, Comments},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<CreateComment>().await
}

struct CreateComment {
    service: TransactionService,
    comments: Comments,
}

impl Endpoint for CreateComment {
    async fn from_env() -> Result<Self, StartError> {
        let comments = Comments::new(ChainTable::from_env(&config::aws().await)?);
        Ok(Self { service: TransactionService::from_env().await?, comments })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Publish).await?;
        let (path, body): (CollectionPath, _) = request.json()?.read_with(&request.path_parameters(), &self.service)?;
        let CreateCommentRequest { token_id: token, text, reply_to } = body;
        let (chain, collection) = path.place();
        let comment = NewComment { moment: MomentRef { chain, collection, token }, text, reply_to };
        self.service
            .transact(request, caller, chain, Creation::Nothing, async |session| {
                let place = (session.chain(), session.node());
                let (cost, call) = comment.plan(&self.comments, place, session.account()).await?;
                session.require_genuine(collection).await?;
                let calls = vec![call];
                session.afford(&[cost], &calls).await?;
                session.note(ActivityKind::Commented, comment.moment);
                Ok(calls)
            })
            .await
    }
}
