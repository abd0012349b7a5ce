use std::fmt::Display;

use alloy::{
    hex,
    primitives::{Address, B256, Bytes, U256, eip191_hash_message},
    providers::Provider,
    rpc::types::TransactionRequest,
    signers::{SignerSync, local::PrivateKeySigner},
    sol,
    sol_types::{SolCall, SolEvent, SolStruct, SolValue, eip712_domain},
};
use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use shared::chain::{
    contracts::safe::{Safe, SafeProxyFactory},
    wallet::{FALLBACK_HANDLER, PROXY_FACTORY, SINGLETON},
};

use crate::{Answer, SignedIn, Stack};

sol! {
    struct SafeMessage {
        bytes message;
    }

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

    /// Returns a message to sign in with.
    pub async fn sign_in_message(&self, wallet: Address, chain: u64) -> String {
        let body = json!({"address": wallet, "chainId": chain});
        let answer = Answer::of(self.post("/oauth/wallet/challenge").json(&body)).await.expect_success();
        answer.body["message"].as_str().expect("a message").to_owned()
    }

    /// Signs in with a wallet.
    pub async fn sign_in_with_wallet(&self, wallet: &PrivateKeySigner) -> SignedIn {
        let message = self.sign_in_message(wallet.address(), 8453).await;
        let body = json!({"message": message, "signature": personal_sign(wallet, &message)});
        SignedIn::without_mail(&Answer::of(self.post("/oauth/wallet").json(&body)).await.expect_success())
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

    /// The same with a proof, with which the wallet counts a day later.
    pub async fn connect_proved_wallet(&self, artist: &SignedIn, wallet: &PrivateKeySigner, proof: &Value) -> Answer {
        let message = self.message_for(artist, wallet.address()).await;
        let body = json!({"message": message, "signature": personal_sign(wallet, &message), "proof": proof});
        Answer::of(self.post("/artists/wallets").bearer_auth(&artist.token).json(&body)).await
    }

    /// Connects a wallet, as if a day ago and with a proof.
    pub async fn connect_old_wallet(&self, artist: &SignedIn, wallet: &PrivateKeySigner) {
        self.connect_wallet(artist, wallet).await.expect_success();
        self.age_wallet(wallet).await;
        self.set_wallet(wallet, "unproved", AttributeValue::Bool(false)).await;
    }

    /// Has a wallet be connected for more than a day.
    pub async fn age_wallet(&self, wallet: &PrivateKeySigner) {
        self.set_wallet(wallet, "connected_at", AttributeValue::N("1700000000".to_owned())).await;
    }

    async fn set_wallet(&self, wallet: &PrivateKeySigner, field: &str, value: AttributeValue) {
        let partition = format!("WALLET#{:#x}", wallet.address());
        self.set(&self.map.names["ArtistTable"], &partition, "ARTIST", field, value).await;
    }

    /// Disconnects a wallet.
    pub async fn disconnect_wallet(&self, artist: &SignedIn, address: impl Display) -> Answer {
        let request = self.delete(&format!("/artists/wallets?address={address}"));
        Answer::of(request.bearer_auth(&artist.token)).await
    }

    /// The same with a proof.
    pub async fn disconnect_proved_wallet(&self, artist: &SignedIn, address: impl Display, proof: &Value) -> Answer {
        let request = self.delete(&format!("/artists/wallets?address={address}"));
        Answer::of(request.bearer_auth(&artist.token).json(&json!({"proof": proof}))).await
    }

    /// Lists the artist's wallets.
    pub async fn wallets(&self, artist: &SignedIn) -> Vec<Value> {
        let answer = Answer::of(self.get("/artists/wallets").bearer_auth(&artist.token)).await.expect_success();
        answer.body["wallets"].as_array().expect("wallets").clone()
    }
}

/// The Safe of an owner as its factory would deploy it, and what the factory is to be called with.
async fn future_safe(stack: &Stack, owner: Address) -> (Address, SafeProxyFactory::createProxyWithNonceCall) {
    let create = creation_of(owner);
    let call = TransactionRequest::default().to(PROXY_FACTORY).input(create.abi_encode().into());
    let answer = stack.chain().call(call).await.expect("an address");
    (Address::abi_decode(&answer).expect("an address"), create)
}

/// An address where no Safe is yet, and its owner's signature of a text, which brings the deployment along (ERC-6492).
pub struct UndeployedSafe {
    pub address: Address,
    owner: PrivateKeySigner,
    create: SafeProxyFactory::createProxyWithNonceCall,
}

impl UndeployedSafe {
    pub async fn new(stack: &Stack) -> Self {
        let owner = PrivateKeySigner::random();
        let (address, create) = future_safe(stack, owner.address()).await;
        Self { address, owner, create }
    }

    /// The signature of `text` by `signer`, or by the owner.
    pub fn sign(&self, chain: u64, text: &str, signer: Option<&PrivateKeySigner>) -> String {
        const MARK: [u8; 2] = [0x64, 0x92];
        let domain = eip712_domain! { chain_id: chain, verifying_contract: self.address, };
        let message = SafeMessage { message: eip191_hash_message(text).abi_encode().into() };
        let signer = signer.unwrap_or(&self.owner);
        let inner = signer.sign_hash_sync(&message.eip712_signing_hash(&domain)).expect("a signature");
        let parts = (PROXY_FACTORY, Bytes::from(self.create.abi_encode()), Bytes::from(inner.as_bytes()));
        format!("0x{}{}", hex::encode(parts.abi_encode_params()), hex::encode(MARK.repeat(16)))
    }
}

/// Signs a text as `personal_sign` does (EIP-191).
pub fn personal_sign(wallet: &PrivateKeySigner, text: &str) -> String {
    wallet.sign_message_sync(text.as_bytes()).expect("a signature").to_string()
}

/// Deploys a Safe with one owner on the default chain; `sender` is an unlocked account.
pub async fn safe_of(stack: &Stack, sender: Address, owner: Address) -> Address {
    let receipt = stack.transact(sender, PROXY_FACTORY, U256::ZERO, creation_of(owner)).await;
    let mut logs = receipt.inner.logs().iter().map(|log| &log.inner);
    let created = logs.find_map(|log| SafeMessages::ProxyCreation::decode_log(log).ok());
    created.expect("a ProxyCreation event").proxy
}

fn creation_of(owner: Address) -> SafeProxyFactory::createProxyWithNonceCall {
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
    SafeProxyFactory::createProxyWithNonceCall {
        _singleton: SINGLETON,
        initializer: setup.abi_encode().into(),
        saltNonce: U256::ZERO,
    }
}

/// Signs a text for a Safe: the owner signs the text's hash, wrapped for this Safe.
pub async fn sign_as_safe(stack: &Stack, safe: Address, owner: &PrivateKeySigner, text: &str) -> String {
    let hash = eip191_hash_message(text);
    let wrapped = SafeMessages::new(safe, stack.chain()).getMessageHash(hash.abi_encode().into()).call().await;
    let wrapped: B256 = wrapped.expect("the Safe wraps a hash");
    owner.sign_hash_sync(&wrapped).expect("a signature").to_string()
}
