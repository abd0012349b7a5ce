use alloy::{
    primitives::{Address, U256, keccak256},
    providers::ext::AnvilApi,
    sol,
    sol_types::SolCall,
};
use local::{workshop, writes::is_open};
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use shared::chain::{
    contracts::native::{Creator1155, Erc20, FixedPriceMinter},
    protocol::permission::Permission,
};
use uuid::Uuid;

use crate::{Answer, Sandbox, SignedIn, Stack, eventually};

/// An artist with an API key and a collection that their account is an admin of.
pub struct Writer {
    pub artist: SignedIn,
    pub key: String,
    pub collection: Address,
}

/// An artist with an API key and no collection.
pub struct Collector {
    pub artist: SignedIn,
    pub key: String,
    pub account: Address,
}

sol! {
    /// The local chains' USDC, which anyone may mint.
    interface TestCurrency {
        function mint(address account, uint256 amount) external;
    }
}

impl Stack {
    /// Creates an artist with a key and a collection. Its one moment, token 1, sells for 1000 wei without end.
    pub async fn new_writer(&self) -> Writer {
        let Collector { artist, key, .. } = self.new_collector().await;
        let collection = self.collection_of(&artist.wallet).await;
        Writer { artist, key, collection }
    }

    /// Creates a collection that `wallet` is an admin of.
    pub async fn collection_of(&self, wallet: &str) -> Address {
        let (token, minter) = (U256::ONE, self.contract("fixedPriceMinter"));
        let sale = FixedPriceMinter::setSaleCall {
            tokenId: token,
            salesConfig: FixedPriceMinter::SalesConfig {
                saleStart: 0,
                saleEnd: u64::MAX,
                maxTokensPerAddress: 5,
                pricePerToken: "1000".parse().expect("a price"),
                fundsRecipient: wallet.parse().expect("an address"),
            },
        };
        let actions = vec![
            Creator1155::addPermissionCall {
                tokenId: token,
                user: minter,
                permissionBits: U256::from(Permission::Minter as u8),
            }
            .abi_encode(),
            Creator1155::callSaleCall { tokenId: token, salesConfig: minter, data: sale.abi_encode().into() }
                .abi_encode(),
        ];
        let admins = [wallet.parse().expect("an address")];
        workshop::publish(&self.map.rpc["8453"], self.contract("factory"), &admins, actions)
            .await
            .expect("a collection")
    }

    /// Creates an artist with a key of every scope.
    pub async fn new_collector(&self) -> Collector {
        let artist = self.new_artist().await;
        let scopes = json!({"scopes": ["publish", "collect", "admin"]});
        let answer = self.create_key(&artist, &scopes).await.expect_success();
        let key = answer.body["apiKey"].as_str().expect("a key").to_owned();
        let account = artist.wallet.parse().expect("an address");
        Collector { artist, key, account }
    }

    /// Publishes a moment with this sale in a new collection. `more` are further fields of the token.
    pub async fn publish(&self, key: &str, sale: Value, more: Value) -> Address {
        let mut token = json!({"tokenMetadataURI": "ipfs://bafysale/1.json", "salesConfig": sale});
        for (name, value) in more.as_object().into_iter().flatten() {
            token[name] = value.clone();
        }
        let contract = json!({"name": "For Sale", "uri": "ipfs://bafysale/collection.json"});
        let body = json!({"contract": contract, "token": token});
        let answer = self.write("/moment/create", key, &body, &[]).await.expect_success();
        answer.body["contractAddress"].as_str().and_then(|text| text.parse().ok()).expect("an address")
    }

    /// Sets an account's balance of the native currency, in wei.
    pub async fn set_balance(&self, account: Address, wei: u64) {
        self.chain().anvil_set_balance(account, U256::from(wei)).await.expect("a balance");
    }

    /// Mints USDC to an account, in its smallest unit (10⁻⁶).
    pub async fn give_usdc(&self, account: Address, amount: u64) {
        // A sender per call, so that concurrent calls don't compete for nonces.
        let sender = Address::from_word(keccak256(Uuid::new_v4()));
        self.chain().anvil_impersonate_account(sender).await.expect("an account");
        self.set_balance(sender, 1_000_000_000_000_000_000).await;
        let mint = TestCurrency::mintCall { account, amount: U256::from(amount) };
        self.transact(sender, self.contract("usdc"), U256::ZERO, mint).await;
    }

    /// An account's USDC balance, in its smallest unit (10⁻⁶).
    pub async fn usdc_of(&self, account: Address) -> U256 {
        Erc20::new(self.contract("usdc"), self.chain()).balanceOf(account).call().await.expect("a balance")
    }

    /// An account's balance of a collection's token 1.
    pub async fn tokens_of(&self, account: Address, collection: Address) -> U256 {
        let collection = Creator1155::new(collection, self.chain());
        collection.balanceOf(account, U256::ONE).call().await.expect("a balance")
    }

    /// Sends a write with the API key and further headers until it is mined or refused. It gets an idempotency key
    /// unless it has one.
    pub async fn write(&self, path: &str, key: &str, body: &Value, headers: &[(&str, &str)]) -> Answer {
        Answer::of_write(self.write_request(path, key, body, headers)).await
    }

    /// Sends one request for a write, with these headers alone: its answer is the first one, be it mined or not.
    pub async fn write_once(&self, path: &str, key: &str, body: &Value, headers: &[(&str, &str)]) -> Answer {
        Answer::of(self.write_request(path, key, body, headers)).await
    }

    fn write_request(&self, path: &str, key: &str, body: &Value, headers: &[(&str, &str)]) -> RequestBuilder {
        let request = self.post(path).header("x-api-key", key).json(body);
        headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))
    }
}

impl Sandbox {
    /// Invokes the function with a write, under a new idempotency key, until it is mined or refused.
    pub async fn write(&self, event: &Value) -> Value {
        let mut event = event.clone();
        event["headers"]["idempotency-key"] = Uuid::new_v4().to_string().into();
        let outcome = eventually("a write's outcome", async || {
            let answer = self.invoke(&event).await;
            let status = answer["statusCode"].as_u64().and_then(|status| u16::try_from(status).ok());
            (!is_open(status.unwrap_or_default(), answer["body"].as_str().unwrap_or_default())).then_some(answer)
        });
        outcome.await
    }
}
