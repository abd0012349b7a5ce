use alloy::{
    primitives::{Address, U256, keccak256},
    providers::ext::AnvilApi,
    sol,
    sol_types::SolCall,
};
use local::workshop;
use serde_json::{Value, json};
use shared::chain::{
    contracts::{Creator1155, Erc20, FixedPriceMinter},
    permission::Permission,
};

use uuid::Uuid;

use crate::{Answer, SignedIn, Stack};

/// An artist who can write: with an API key, and a collection that their account is an admin of.
pub struct Writer {
    pub artist: SignedIn,
    pub key: String,
    pub collection: Address,
}

/// An artist who has made nothing.
pub struct Collector {
    pub artist: SignedIn,
    pub key: String,
    pub account: Address,
}

sol! {
    /// The currency of local chains, which anyone may mint.
    interface TestCurrency {
        function mint(address account, uint256 amount) external;
    }
}

impl Stack {
    /// An artist with a key and a collection. Its one moment, token 1, sells for 1000 wei, for ever.
    pub async fn new_writer(&self) -> Writer {
        let Collector { artist, key, .. } = self.new_collector().await;
        let collection = self.collection_of(&artist.wallet).await;
        Writer { artist, key, collection }
    }

    /// A new collection that `wallet` is an admin of.
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

    /// An artist with a key and nothing else.
    pub async fn new_collector(&self) -> Collector {
        let artist = self.new_artist().await;
        let answer = self.create_key(&artist, &json!({})).await.expect_success();
        let key = answer.body["apiKey"].as_str().expect("a key").to_owned();
        let account = artist.wallet.parse().expect("an address");
        Collector { artist, key, account }
    }

    /// Publishes a moment with this sale, as its artist would, in a collection of its own. `more` are further fields of
    /// the token.
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

    /// Sets what an account has of the chain's own currency, in wei.
    pub async fn set_balance(&self, account: Address, wei: u64) {
        self.chain().anvil_set_balance(account, U256::from(wei)).await.expect("a balance");
    }

    /// Gives an account so many millionths of a dollar.
    pub async fn give_usdc(&self, account: Address, amount: u64) {
        // Whoever gives at the same time must not take the same nonces.
        let giver = Address::from_word(keccak256(Uuid::new_v4()));
        self.chain().anvil_impersonate_account(giver).await.expect("an account");
        self.set_balance(giver, 1_000_000_000_000_000_000).await;
        let mint = TestCurrency::mintCall { account, amount: U256::from(amount) };
        self.transact(giver, self.contract("usdc"), U256::ZERO, mint).await;
    }

    /// What an account has, in millionths of a dollar.
    pub async fn usdc_of(&self, account: Address) -> U256 {
        Erc20::new(self.contract("usdc"), self.chain()).balanceOf(account).call().await.expect("a balance")
    }

    /// How many of a collection's first moment an account has.
    pub async fn tokens_of(&self, account: Address, collection: Address) -> U256 {
        let collection = Creator1155::new(collection, self.chain());
        collection.balanceOf(account, U256::ONE).call().await.expect("a balance")
    }

    /// Sends a write, with these headers beside the API key.
    pub async fn write(&self, path: &str, key: &str, body: &Value, headers: &[(&str, &str)]) -> Answer {
        let request = self.post(path).header("x-api-key", key).json(body);
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        Answer::of(request).await
    }
}
