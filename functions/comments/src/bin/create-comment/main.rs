//! `POST /comments/{network}/{contract}`: comments on a moment, or replies to a comment on it.

mod parent;

use alloy::primitives::{Address, B256, U256};
use comments::create_comment::CreateCommentRequest;
use shared::{
    api::{
        error::no_moment,
        request::CollectionPath,
        transact::{Cost, TransactionService, WriteSession},
    },
    chain::{
        contracts::native::{CommentsProtocol, Creator1155},
        protocol::permission::Permission,
        wallet::Call,
    },
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{self, CommentText, Creation, MomentRef, Scope},
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
        let moment = MomentRef { chain, collection, token };
        self.service
            .transact(request, caller, chain, Creation::Nothing, async |session| {
                let (sparks, parent) =
                    tokio::try_join!(sparks(session, &moment), parent::find(&self.comments, &moment, reply_to))?;
                session.require_genuine(collection).await?;
                let comment = comment(session.account(), &moment, &text, parent);
                let calls = vec![Call::new(session.chain().addresses.comments, &comment).with_value(sparks)];
                let cost = Cost { currency: session.chain().native_currency(), amount: sparks };
                session.afford(&[cost], &calls).await?;
                Ok(calls)
            })
            .await
    }
}

fn comment(
    commenter: model::Address,
    moment: &MomentRef,
    text: &CommentText,
    parent: Option<CommentsProtocol::CommentIdentifier>,
) -> CommentsProtocol::commentCall {
    let nobody = Address::ZERO;
    CommentsProtocol::commentCall {
        commenter: commenter.into(),
        contractAddress: moment.collection.into(),
        tokenId: moment.token.into(),
        text: text.as_str().to_owned(),
        replyTo: parent.unwrap_or(CommentsProtocol::CommentIdentifier {
            commenter: nobody,
            contractAddress: nobody,
            tokenId: U256::ZERO,
            nonce: B256::ZERO,
        }),
        commenterSmartWallet: nobody,
        referrer: nobody,
    }
}

/// The comments protocol's price in wei: nothing for an admin of the token, one spark for everybody else. Three parallel
/// calls.
async fn sparks(session: &WriteSession<'_>, moment: &MomentRef) -> Result<U256, ApiError> {
    let (node, collection) = (session.node(), moment.collection.into());
    let is_admin = Creator1155::isAdminOrRoleCall {
        user: session.account().into(),
        tokenId: moment.token.into(),
        role: Permission::Admin.bits(),
    };
    let (next, is_admin, spark) = tokio::try_join!(
        node.read(collection, &Creator1155::nextTokenIdCall {}),
        node.read(collection, &is_admin),
        node.read(session.chain().addresses.comments, &CommentsProtocol::sparkValueCall {})
    )?;
    let token: U256 = moment.token.into();
    if token.is_zero() || next.is_none_or(|next| token >= next) {
        return Err(no_moment(moment));
    }
    let spark = spark.ok_or_else(|| ApiError::unprocessable("This chain has no comments protocol"))?;
    Ok(if is_admin == Some(true) { U256::ZERO } else { spark })
}
