//! Parts of calls that a history is made of.

use alloy::{
    primitives::{Address, B256, Bytes, U256},
    sol_types::SolCall,
};
use shared::{
    chain::contracts::native::{CommentsProtocol::CommentIdentifier, Creator1155, CreatorFactory},
    model::OPEN_EDITION,
};

pub(super) fn setup_token(uri: &str) -> Bytes {
    Creator1155::setupNewTokenCall { newURI: uri.to_owned(), maxSupply: U256::from(OPEN_EDITION) }.abi_encode().into()
}

pub(super) fn permission(token: U256, user: Address, bits: u64) -> Bytes {
    Creator1155::addPermissionCall { tokenId: token, user, permissionBits: U256::from(bits) }.abi_encode().into()
}

pub(super) fn call_sale(token: U256, strategy: Address, call: &impl SolCall) -> Bytes {
    let data = call.abi_encode().into();
    Creator1155::callSaleCall { tokenId: token, salesConfig: strategy, data }.abi_encode().into()
}

pub(super) fn royalty(recipient: Address) -> CreatorFactory::RoyaltyConfiguration {
    CreatorFactory::RoyaltyConfiguration { royaltyMintSchedule: 0, royaltyBPS: 500, royaltyRecipient: recipient }
}

pub(super) fn no_royalty() -> CreatorFactory::RoyaltyConfiguration {
    CreatorFactory::RoyaltyConfiguration { royaltyBPS: 0, ..royalty(Address::ZERO) }
}

/// The `replyTo` of a top-level comment.
pub(super) fn no_parent() -> CommentIdentifier {
    CommentIdentifier {
        commenter: Address::ZERO,
        contractAddress: Address::ZERO,
        tokenId: U256::ZERO,
        nonce: B256::ZERO,
    }
}
