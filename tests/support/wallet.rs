use alloy::{
    primitives::{Address, B256, U256, eip191_hash_message},
    signers::{SignerSync, local::PrivateKeySigner},
    sol,
    sol_types::{SolCall, SolEvent, SolValue},
};
use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use shared::chain::{
    contracts::safe::{Safe, SafeProxyFactory},
    wallet::{FALLBACK_HANDLER, PROXY_FACTORY, SINGLETON},
};

use crate::{Answer, SignedIn, Stack};

sol! {
    #[sol(rpc)]
    interface SafeMessages {
        event ProxyCreation(address indexed proxy, address singleton);

        function getMessageHash(bytes memory message) external view returns (bytes32);
    }
}

impl Stack {
    /// Requests a challenge for a wallet.
    pub async fn challenge(&self, artist: &SignedIn, body: &Value) -> Answer {
        Answer::of(self.post("/artists/wallets/challenge").bearer_auth(&artist.token).json(body)).await
    }

    /// Requests a challenge, and returns the message to sign.
    pub async fn message_for(&self, artist: &SignedIn, wallet: Address) -> String {
        let answer = self.challenge(artist, &json!({"address": wallet})).await.expect_success();
        answer.body["message"].as_str().expect("a message").to_owned()
    }

    /// Connects a wallet with a signed message.
    pub async fn prove(&self, artist: &SignedIn, message: &str, signature: &str) -> Answer {
        let body = json!({"message": message, "signature": signature});
        Answer::of(self.post("/artists/wallets").bearer_auth(&artist.token).json(&body)).await
    }

    /// Requests a challenge, signs it and connects the wallet.
    pub async fn connect_wallet(&self, artist: &SignedIn, wallet: &PrivateKeySigner) -> Answer {
        let message = self.message_for(artist, wallet.address()).await;
        self.prove(artist, &message, &personal_sign(wallet, &message)).await
    }

    /// Connects a wallet, as if a day ago.
    pub async fn connect_old_wallet(&self, artist: &SignedIn, wallet: &PrivateKeySigner) {
        self.connect_wallet(artist, wallet).await.expect_success();
        let partition = format!("WALLET#{:#x}", wallet.address());
        let long_ago = AttributeValue::N("1700000000".to_owned());
        self.set(&self.map.names["ArtistTable"], &partition, "ARTIST", "connected_at", long_ago).await;
    }

    /// Lists the artist's wallets.
    pub async fn wallets(&self, artist: &SignedIn) -> Vec<Value> {
        let answer = Answer::of(self.get("/artists/wallets").bearer_auth(&artist.token)).await.expect_success();
        answer.body["wallets"].as_array().expect("wallets").clone()
    }
}

/// Signs a text as `personal_sign` does (EIP-191).
pub fn personal_sign(wallet: &PrivateKeySigner, text: &str) -> String {
    wallet.sign_message_sync(text.as_bytes()).expect("a signature").to_string()
}

/// Deploys a Safe with one owner on the default chain; `sender` is an unlocked account.
pub async fn safe_of(stack: &Stack, sender: Address, owner: Address) -> Address {
    let setup = Safe::setupCall {
        _owners: vec![owner],
        _threshold: U256::ONE,
        to: Address::ZERO,
        data: Default::default(),
        fallbackHandler: FALLBACK_HANDLER,
        paymentToken: Address::ZERO,
        payment: U256::ZERO,
        paymentReceiver: Address::ZERO,
    };
    let create = SafeProxyFactory::createProxyWithNonceCall {
        _singleton: SINGLETON,
        initializer: setup.abi_encode().into(),
        saltNonce: U256::ZERO,
    };
    let receipt = stack.transact(sender, PROXY_FACTORY, U256::ZERO, create).await;
    let mut logs = receipt.inner.logs().iter().map(|log| &log.inner);
    let created = logs.find_map(|log| SafeMessages::ProxyCreation::decode_log(log).ok());
    created.expect("a ProxyCreation event").proxy
}

/// Signs a text for a Safe: the owner signs the text's hash, wrapped for this Safe.
pub async fn sign_as_safe(stack: &Stack, safe: Address, owner: &PrivateKeySigner, text: &str) -> String {
    let hash = eip191_hash_message(text);
    let wrapped = SafeMessages::new(safe, stack.chain()).getMessageHash(hash.abi_encode().into()).call().await;
    let wrapped: B256 = wrapped.expect("the Safe wraps a hash");
    owner.sign_hash_sync(&wrapped).expect("a signature").to_string()
}
