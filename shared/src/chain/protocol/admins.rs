//! Admins of a moment or, as token 0, of a whole collection. Its contract lets the last one go.

use alloy::primitives::{B256, U256};
use futures::future::try_join_all;

use super::permission::Permission;
use crate::{
    chain::{
        chains::Chain,
        contracts::native::Creator1155,
        node::{Node, NodeError},
    },
    model::{Address, MomentRef},
    store::{StoreError, chain::Moments},
};

/// Admins who are asked for in one call.
const TOGETHER: usize = 100;

/// Whether somebody is an admin after `leaving` has given up the permission, as of the block with this hash or the newest
/// one; `None` for a collection that isn't indexed. Two reads, one call, and one for every hundred admins.
pub async fn has_other_admins<E: From<StoreError> + From<NodeError>>(
    (moments, node, chain): (&Moments, &Node, &Chain),
    place: &MomentRef,
    leaving: Address,
    block: Option<B256>,
) -> Result<Option<bool>, E> {
    if !place.is_whole_collection() && is_admin(node, place, U256::ZERO, leaving, block).await? {
        return Ok(Some(true));
    }
    let (moment, collection) =
        tokio::try_join!(moments.moment(place), moments.collection(place.chain, place.collection))?;
    let Some(collection) = collection else { return Ok(None) };
    let admins = moment.map(|moment| moment.admins).unwrap_or_default().into_iter().chain(collection.admins);
    let ignored = [leaving, chain.addresses.factory.into()];
    let admins: Vec<Address> = admins.filter(|admin| !ignored.contains(admin)).collect();
    for admins in admins.chunks(TOGETHER) {
        let tokens = [place.token.into(), U256::ZERO];
        let asked = admins.iter().flat_map(|admin| tokens.map(|token| is_admin(node, place, token, *admin, block)));
        if try_join_all(asked).await?.contains(&true) {
            return Ok(Some(true));
        }
    }
    Ok(Some(false))
}

/// What an admin is told who must not leave.
pub fn last_admin(place: &MomentRef) -> String {
    format!("You are the last admin of this {}: make somebody else one first", kind(place))
}

/// "moment" or "collection".
pub fn kind(place: &MomentRef) -> &'static str {
    if place.is_whole_collection() { "collection" } else { "moment" }
}

async fn is_admin(
    node: &Node,
    place: &MomentRef,
    token: U256,
    user: Address,
    block: Option<B256>,
) -> Result<bool, NodeError> {
    let question = Creator1155::permissionsCall { tokenId: token, user: user.into() };
    let permissions = node.read_at(block, place.collection.into(), &question).await?;
    Ok(permissions.is_some_and(|permissions| Permission::Admin.is_among(permissions)))
}
