use alloy::{
    primitives::{Address, U256},
    sol_types::SolCall,
};
use local::workshop;
use serde_json::{Value, json};
use shared::chain::{
    contracts::{Creator1155, FixedPriceMinter},
    permission::Permission,
};

use crate::{Answer, SignedIn, Stack};

/// An artist who can write: with an API key, and a collection that their account is an admin of.
pub struct Writer {
    pub artist: SignedIn,
    pub key: String,
    pub collection: Address,
}

impl Stack {
    /// An artist with a key and a collection. Its one moment, token 1, sells for 1000 wei, for ever.
    pub async fn new_writer(&self) -> Writer {
        let artist = self.new_artist().await;
        let answer = self.create_key(&artist, &json!({})).await.expect_success();
        let key = answer.body["apiKey"].as_str().expect("a key").to_owned();
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

    /// Sends a write, with these headers beside the API key.
    pub async fn write(&self, path: &str, key: &str, body: &Value, headers: &[(&str, &str)]) -> Answer {
        let request = self.post(path).header("x-api-key", key).json(body);
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        Answer::of(request).await
    }
}
