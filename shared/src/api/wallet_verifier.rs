//! Verifies that a wallet signed its challenge, by a key or as a contract.

use alloy::primitives::B256;
use aws_config::SdkConfig;

use crate::{
    auth::wallet_proof::{Message, WalletSignature},
    chain::{
        node::{Node, NodeUrls},
        wallet::erc1271,
    },
    config::StartError,
    http::ApiError,
    model::{Address, ChainId, Wallet, WalletType},
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
        let hash = message.hash();
        if signature.is_of_key(address, &hash) {
            return Ok(Ok(Wallet { address, r#type: WalletType::External }));
        }
        let accepted = self.is_accepted(address, chain, hash, signature).await?;
        Ok(accepted.map(|()| Wallet { address, r#type: WalletType::Smart }))
    }

    /// Whether a wallet that is known signed a message with this hash: as the contract that it is on a `chain`, or by its key
    /// where there is none. One call to the chain, for a contract alone.
    pub async fn verify_known(
        &self,
        address: Address,
        chain: Option<ChainId>,
        hash: B256,
        signature: &WalletSignature,
    ) -> Result<Result<(), String>, ApiError> {
        match chain {
            Some(chain) => self.is_accepted(address, chain, hash, signature).await,
            None if signature.is_of_key(address, &hash) => Ok(Ok(())),
            None => Ok(Err(format!("is not of {address} over this message"))),
        }
    }

    async fn is_accepted(
        &self,
        address: Address,
        chain: ChainId,
        hash: B256,
        signature: &WalletSignature,
    ) -> Result<Result<(), String>, ApiError> {
        if !self.nodes.names(chain) {
            return Ok(Err(format!(
                "is not of {address} over this message; this service has no nodes of chain {chain}, so no contract \
                 wallet can be asked there: name another chain"
            )));
        }
        let node = Node::for_requests(&self.nodes, chain)?;
        if erc1271::is_accepted(&node, address.into(), hash, signature.as_bytes()).await? {
            return Ok(Ok(()));
        }
        Ok(Err(format!(
            "is not of {address} over this message; a contract wallet must be deployed on chain {chain}, or bring its \
             deployment along (ERC-6492)"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ChainId;

    #[tokio::test]
    async fn contract_wallet_on_a_chain_without_nodes_is_refused_with_the_reason() {
        let verifier = WalletVerifier { nodes: "{}".parse().unwrap() };
        let message: Message = "Some data".parse().unwrap();
        let signature: WalletSignature = format!("0x{}", "00".repeat(65)).parse().unwrap();
        let wallet = alloy::primitives::Address::ZERO.into();
        let challenge = StoredChallenge::new(message.as_str(), None, wallet, ChainId(10), 0);
        let refused = verifier.verify(&challenge, &message, &signature).await.unwrap();
        assert!(refused.is_err_and(|reason| reason.contains("no nodes of chain 10")));
    }
}
