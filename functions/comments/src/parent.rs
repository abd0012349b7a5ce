//! The parent comment, as the comments protocol identifies it.

use alloy::{primitives::keccak256, sol_types::SolValue};
use shared::{
    chain::contracts::native::CommentsProtocol::CommentIdentifier,
    http::ApiError,
    model::{Comment, CommentId, MomentRef},
    store::chain::Comments,
};

/// Finds the parent comment, if there is one; 404 for an unknown one, 400 for one on another moment.
pub(crate) async fn find(
    comments: &Comments,
    moment: &MomentRef,
    id: Option<CommentId>,
) -> Result<Option<CommentIdentifier>, ApiError> {
    let Some(id) = id else { return Ok(None) };
    let comment = comments.find(moment.chain, id).await?;
    let comment = comment.ok_or_else(|| ApiError::not_found(format!("There is no comment {id} yet")))?;
    let identifier = identifier(&comment, moment);
    let is_on_it = identifier.as_ref().is_some_and(|identifier| id_of(identifier) == id);
    let identifier = identifier.filter(|_| is_on_it);
    identifier.map(Some).ok_or_else(|| ApiError::invalid_field("replyTo", "must be a comment on this moment"))
}

/// Identifier of a comment on this moment; none for one that was made with a purchase.
fn identifier(comment: &Comment, moment: &MomentRef) -> Option<CommentIdentifier> {
    Some(CommentIdentifier {
        commenter: comment.sender.into(),
        contractAddress: moment.collection.into(),
        tokenId: moment.token.into(),
        nonce: comment.nonce?.into(),
    })
}

/// The hash of the whole identifier, so an id belongs to one moment.
fn id_of(identifier: &CommentIdentifier) -> CommentId {
    keccak256(identifier.abi_encode()).into()
}
