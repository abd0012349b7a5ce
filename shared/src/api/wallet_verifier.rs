//! Verifies that a wallet signed its challenge, by a key or as a contract.

use aws_config::SdkConfig;

use crate::{
    auth::wallet_proof::{Message, WalletSignature},
    chain::{
        node::{Node, NodeUrls},
        wallet::erc1271,
    },
    config::StartError,
    http::ApiError,
    model::{Wallet, WalletType},
    store::secret::StoredChallenge,
};

/// Verifies signatures of challenges.
pub struct WalletVerifier {
    nodes: NodeUrls,
}

impl WalletVerifier {
    /// Reads `RPC_URLS`.
    pub async fn from_env(aws: &SdkConfig) -> Result<Self, StartError> {
        Ok(Self { nodes: NodeUrls::from_env(aws).await? })
    }

    /// The challenged wallet, if it signed; else the reason, which follows "signature" or "The signature". The chain is
    /// called only if no key signed: one call.
    pub async fn verify(
        &self,
        challenge: &StoredChallenge,
        message: &Message,
        signature: &WalletSignature,
    ) -> Result<Result<Wallet, String>, ApiError> {
        let (address, chain) = (challenge.wallet, challenge.chain);
        if signature.is_of_key(address, message) {
            return Ok(Ok(Wallet { address, r#type: WalletType::External }));
        }
        let node = Node::for_requests(&self.nodes, chain)?;
        if erc1271::is_accepted(&node, address.into(), message.hash(), signature.as_bytes()).await? {
            return Ok(Ok(Wallet { address, r#type: WalletType::Smart }));
        }
        Ok(Err(format!(
            "is not of {address} over this message; a contract wallet must be deployed on chain {chain}, or bring its \
             deployment along (ERC-6492)"
        )))
    }
}
