//! `POST /comments/{network}/{contract}`: comments on a moment, or replies to a comment on it, as the artist's account.

#[cfg(test)]
mod description;
mod parent;

use alloy::primitives::{Address, B256, U256};
use shared::{
    chain::{
        account::Call,
        contracts::{CommentsProtocol, Creator1155},
        permission::Permission,
    },
    config,
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::{CommentId, CommentText, MomentRef, TokenId},
    store::{Comments, Table},
    telemetry,
    writing::{Begun, Cost, Wording, Writers, Writing, answer_node_error, no_moment},
};
use utoipa::ToSchema;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    let comments = Comments::new(Table::chain(&config::aws().await)?);
    serve(CreateComment { writers: Writers::from_env().await?, comments }).await
}

struct CreateComment {
    writers: Writers,
    comments: Comments,
}

/// The request. The response is the transaction: `{hash, chainId}`.
#[derive(ToSchema)]
struct CreateCommentRequest {
    /// `network` and `contract` in the path, `eip155:<chain id>` and `erc1155:<address>`, and `tokenId` in the body.
    #[schema(rename = "tokenId", value_type = TokenId)]
    moment: MomentRef,
    /// What is said.
    text: CommentText,
    /// The `commentId` of the comment that is replied to.
    #[schema(rename = "replyTo")]
    reply_to: Option<CommentId>,
}

impl Endpoint for CreateComment {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.writers.authenticate(request).await?;
        let CreateCommentRequest { moment, text, reply_to } = CreateCommentRequest::parse(request, &self.writers)?;
        let writing = match self.writers.begin(artist, moment.chain, request, Wording::Hash).await? {
            Begun::Fresh(writing) => writing,
            Begun::Replayed(response) => return Ok(response),
        };
        let (sparks, parent) =
            tokio::try_join!(sparks(&writing, &moment), parent::find(&self.comments, &moment, reply_to))?;
        let nobody = Address::ZERO;
        let comment = CommentsProtocol::commentCall {
            commenter: writing.account().into(),
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
        };
        let calls = vec![Call::new(writing.chain().addresses.comments, &comment).with_value(sparks)];
        let cost = Cost { currency: writing.chain().native_currency(), amount: sparks };
        writing.afford(&[cost], &calls).await?;
        writing.send(calls).await
    }
}

impl CreateCommentRequest {
    fn parse(request: &Request, writers: &Writers) -> Result<Self, ApiError> {
        let mut fields = request.json()?;
        let collection = writers.collection(&mut request.path_parameters().beside(&fields));
        let token = fields.required("tokenId");
        let text = fields.required("text");
        let reply_to = fields.optional("replyTo");
        fields.finish(|| {
            let (chain, collection) = collection?;
            Some(Self { moment: MomentRef { chain, collection, token: token? }, text: text?, reply_to })
        })
    }
}

/// The wei that the comments protocol takes from the artist's account: nothing from an admin of the token, one spark from
/// everybody else. Three calls at the same time.
async fn sparks(writing: &Writing<'_>, moment: &MomentRef) -> Result<U256, ApiError> {
    let (node, collection) = (writing.node(), moment.collection.into());
    let is_admin = Creator1155::isAdminOrRoleCall {
        user: writing.account().into(),
        tokenId: moment.token.into(),
        role: Permission::Admin.bits(),
    };
    let (next, is_admin, spark) = tokio::try_join!(
        node.read(collection, &Creator1155::nextTokenIdCall {}),
        node.read(collection, &is_admin),
        node.read(writing.chain().addresses.comments, &CommentsProtocol::sparkValueCall {})
    )
    .map_err(answer_node_error)?;
    let token: U256 = moment.token.into();
    if token.is_zero() || next.is_none_or(|next| token >= next) {
        return Err(no_moment(moment));
    }
    let spark = spark.ok_or_else(|| ApiError::unprocessable("This chain has no comments protocol"))?;
    Ok(if is_admin == Some(true) { U256::ZERO } else { spark })
}
