use alloy::{
    primitives::{Address, B256, U256},
    providers::{Provider, RootProvider},
    rpc::types::{Filter, Log},
    sol,
};
use shared::chain::contracts::native::Creator1155::SetupNewToken;

use crate::Error;

sol! {
    /// View functions of collections that only tests call.
    #[sol(rpc)]
    interface Published {
        function contractURI() external view returns (string memory);
        function owner() external view returns (address);
        function createReferrals(uint256 tokenId) external view returns (address);
        function getRoyalties(uint256 tokenId) external view returns (uint32 schedule, uint32 bps, address recipient);
    }
}

sol! {
    event URI(string value, uint256 indexed id);
}

/// A URI that a collection's token was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenUri {
    pub uri: String,
    pub collection: Address,
    pub token: U256,
    /// Hash of the transaction.
    pub transaction: B256,
}

/// URIs that token 1 was given or new tokens have, in the chain's order.
pub async fn given_uris(node: &RootProvider, collections: &[Address]) -> Result<Vec<GivenUri>, Error> {
    let filter = Filter::new().address(collections.to_vec()).from_block(0);
    let given = |log: &Log| {
        let renamed = log.log_decode::<URI>().ok().map(|event| event.inner.data).filter(|event| event.id == U256::ONE);
        let created = || log.log_decode::<SetupNewToken>().ok().map(|event| event.inner.data);
        let (uri, token) = match renamed {
            Some(event) => (event.value, event.id),
            None => created().filter(|event| event.tokenId > U256::ONE).map(|event| (event.newURI, event.tokenId))?,
        };
        Some(GivenUri { uri, collection: log.address(), token, transaction: log.transaction_hash? })
    };
    Ok(node.get_logs(&filter).await?.iter().filter_map(given).collect())
}
