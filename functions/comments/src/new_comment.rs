//! A comment that is to be made: its price, and its call.

use alloy::primitives::{Address, B256, U256};
use shared::{
    api::{cost::Cost, error::no_moment},
    chain::{
        Chain,
        contracts::native::{CommentsProtocol, Creator1155},
        node::Node,
        protocol::permission::Permission,
        wallet::Call,
    },
    http::ApiError,
    model::{self, CommentId, CommentText, MomentRef},
    store::chain::Comments,
};

use crate::parent;

/// A comment on a moment, or a reply to one of its comments.
pub struct NewComment {
    /// The moment.
    pub moment: MomentRef,
    /// The comment's text.
    pub text: CommentText,
    /// The parent comment.
    pub reply_to: Option<CommentId>,
}

impl NewComment {
    /// What it costs `commenter`, and the call. Up to two reads and three parallel calls.
    ///
    /// # Errors
    /// 404 for an unknown moment or parent, 400 for a parent on another moment, 422 on a chain without comments.
    pub async fn plan(
        &self,
        comments: &Comments,
        (chain, node): (&Chain, &Node),
        commenter: model::Address,
    ) -> Result<(Cost, Call), ApiError> {
        let (sparks, parent) = tokio::try_join!(
            sparks((chain, node), commenter, &self.moment),
            parent::find(comments, &self.moment, self.reply_to)
        )?;
        let call = Call::new(chain.addresses.comments, &self.call(commenter, parent)).with_value(sparks);
        Ok((Cost { currency: chain.native_currency(), amount: sparks }, call))
    }

    fn call(
        &self,
        commenter: model::Address,
        parent: Option<CommentsProtocol::CommentIdentifier>,
    ) -> CommentsProtocol::commentCall {
        let nobody = Address::ZERO;
        CommentsProtocol::commentCall {
            commenter: commenter.into(),
            contractAddress: self.moment.collection.into(),
            tokenId: self.moment.token.into(),
            text: self.text.as_str().to_owned(),
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
}

/// The comments protocol's price in wei: nothing for an admin of the token, one spark for everybody else. Three parallel
/// calls.
async fn sparks(
    (chain, node): (&Chain, &Node),
    commenter: model::Address,
    moment: &MomentRef,
) -> Result<U256, ApiError> {
    let collection = moment.collection.into();
    let is_admin = Creator1155::isAdminOrRoleCall {
        user: commenter.into(),
        tokenId: moment.token.into(),
        role: Permission::Admin.bits(),
    };
    let (next, is_admin, spark) = tokio::try_join!(
        node.read(collection, &Creator1155::nextTokenIdCall {}),
        node.read(collection, &is_admin),
        node.read(chain.addresses.comments, &CommentsProtocol::sparkValueCall {})
    )?;
    let token: U256 = moment.token.into();
    if token.is_zero() || next.is_none_or(|next| token >= next) {
        return Err(no_moment(moment));
    }
    let spark = spark.ok_or_else(|| ApiError::unprocessable("This chain has no comments protocol"))?;
    Ok(if is_admin == Some(true) { U256::ZERO } else { spark })
}
