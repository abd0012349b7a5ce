//! The comment that is replied to, as the comments protocol wants to hear of it.

use alloy::{primitives::keccak256, sol_types::SolValue};
use shared::{
    chain::contracts::CommentsProtocol::CommentIdentifier,
    http::{ApiError, FieldError},
    model::{Comment, CommentId, MomentRef},
    store::Comments,
};

/// Finds the comment with this id, if one is given.
///
/// # Errors
/// 404 when it isn't known, 400 when it is on another moment.
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
    identifier.filter(|_| is_on_it).map(Some).ok_or_else(|| {
        let message = "must be a comment on this moment".to_owned();
        ApiError::invalid_fields(vec![FieldError { field: "replyTo".to_owned(), message }])
    })
}

/// What identifies the comment if it is on this moment; none for one that was made while collecting.
fn identifier(comment: &Comment, moment: &MomentRef) -> Option<CommentIdentifier> {
    Some(CommentIdentifier {
        commenter: comment.sender.into(),
        contractAddress: moment.collection.into(),
        tokenId: moment.token.into(),
        nonce: comment.nonce?.into(),
    })
}

/// The id follows from all of the identifier, so that a comment has it on one moment alone.
fn id_of(identifier: &CommentIdentifier) -> CommentId {
    keccak256(identifier.abi_encode()).into()
}
