//! Requests to the functions: their event files, with the examples replaced by the local stack's addresses and ids, so
//! that each request succeeds.

use alloy::{primitives::Address, signers::local::PrivateKeySigner};
use local::Error;
use serde_json::{Value, json};
use tests::{Collector, SignedIn, Stack, personal_sign, unused_email};

/// Examples in the event files: a collection, an artist's account and another account.
const COLLECTION: &str = "0x540c18b7f99b3b599c6feb99964498931c211858";
const ARTIST: &str = "0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc";
const ACCOUNT: &str = "0x2c36d01b9a4bcb4e2ebb5a3a56e9a3b9a8c6b6e1";

const ETHER: u64 = 1_000_000_000_000_000_000;

/// The sender of requests: an artist with an API key, a balance, and a moment that was collected once.
pub struct Caller<'a> {
    stack: &'a Stack,
    artist: SignedIn,
    key: String,
    collection: Address,
    number: usize,
}

impl<'a> Caller<'a> {
    pub async fn new(stack: &'a Stack) -> Result<Self, Error> {
        let (Collector { artist, key, account }, buyer) = (stack.new_collector().await, stack.new_collector().await);
        for account in [account, buyer.account] {
            stack.set_balance(account, ETHER).await;
        }
        stack.give_usdc(account, 1_000_000_000).await;
        let uri = "ipfs://bafybeidemofirstlight/1.json".to_owned();
        let collection = stack.release(&key, "Measured", &[uri]).await.parse()?;
        let order =
            json!({"moment": {"collectionAddress": collection, "tokenId": "1"}, "amount": 1, "comment": "Mine!"});
        stack.write("/moment/collect", &buyer.key, &order, &[]).await.expect_success();
        let path = format!("/notifications?artist={}", artist.wallet);
        stack.wait_until(&path, |body| body["notifications"].as_array().is_some_and(|all| all.len() == 1)).await;
        Ok(Self { stack, artist, key, collection, number: 0 })
    }

    /// Whether a request needs a new artist or another long setup.
    pub fn takes_long(binary: &str) -> bool {
        ["log-in", "create-api-key", "challenge-wallet", "connect-wallet", "disconnect-wallet"].contains(&binary)
    }

    /// Makes the next request to a function, after the setup that it needs to succeed.
    pub async fn request(&mut self, binary: &str, event: &Value) -> Result<Value, Error> {
        self.number += 1;
        let collection = format!("{:#x}", self.collection);
        let mut text = event.to_string().replace(ARTIST, &self.artist.wallet);
        text = match binary {
            "read-artist" => text.replace(COLLECTION, &self.artist.wallet),
            "read-smart-wallet" => text.replace(ACCOUNT, &self.artist.wallet),
            "list-comments" => {
                let commented = self.stack.map.demo["comments"]["collectionAddress"].as_str().unwrap_or_default();
                text.replace(COLLECTION, commented)
            }
            _ => text.replace(COLLECTION, &collection),
        };
        let mut event: Value = serde_json::from_str(&text)?;
        let mut caller = (self.artist.token.clone(), self.key.clone());
        match binary {
            "send-code" => set_body(&mut event, &json!({"email": unused_email()})),
            "log-in" => {
                let email = unused_email();
                let code = self.stack.code_for(&email).await;
                set_body(&mut event, &json!({"email": email, "code": code}));
            }
            // An artist is limited to ten keys and a few open challenges.
            "create-api-key" | "challenge-wallet" => caller.0 = self.stack.new_artist().await.token,
            "revoke-api-key" => {
                self.stack.create_key(&self.artist, &json!({})).await.expect_success();
                let newest = self.stack.list_keys(&self.artist).await.swap_remove(0);
                set_query(&mut event, "keyId", newest["id"].as_str().unwrap_or_default());
            }
            "update-artist" => {
                let name = format!("measured{}", std::process::id());
                set_body(&mut event, &json!({"username": name, "bio": format!("Was changed {} times.", self.number)}));
            }
            "connect-wallet" => {
                let (artist, wallet) = (self.stack.new_artist().await, PrivateKeySigner::random());
                let message = self.stack.message_for(&artist, wallet.address()).await;
                let signature = personal_sign(&wallet, &message);
                set_body(&mut event, &json!({"message": message, "signature": signature}));
                caller.0 = artist.token;
            }
            "disconnect-wallet" => {
                let (artist, wallet) = (self.stack.new_artist().await, PrivateKeySigner::random());
                self.stack.connect_wallet(&artist, &wallet).await.expect_success();
                set_query(&mut event, "address", &format!("{:#x}", wallet.address()));
                caller.0 = artist.token;
            }
            "grant-permission" | "revoke-permission" => {
                let admin = format!("{:#x}", PrivateKeySigner::random().address());
                let body = json!({"moment": {"collectionAddress": collection, "tokenId": "1"}, "adminAddress": admin});
                if binary == "revoke-permission" {
                    self.stack.write("/moment/permission", &self.key, &body, &[]).await.expect_success();
                }
                set_body(&mut event, &body);
            }
            "migrate-moments" => caller.1 = self.migrant().await,
            "mark-notifications" => set_body(&mut event, &json!({})),
            "withdraw-funds" => set_body(&mut event, &json!({"to": ACCOUNT, "amount": "1", "currency": "USDC"})),
            _ => {}
        }
        for (name, value) in [
            ("authorization", format!("Bearer {}", caller.0)),
            ("x-api-key", caller.1),
            ("idempotency-key", format!("measured-{}-{}", std::process::id(), self.number)),
        ] {
            if let Some(header) = event["headers"].get_mut(name) {
                *header = json!(value);
            }
        }
        Ok(event)
    }

    /// The API key of an artist with a connected wallet that isn't an admin of their moment yet.
    async fn migrant(&self) -> String {
        let Collector { artist, key, .. } = self.stack.new_collector().await;
        self.stack.connect_wallet(&artist, &PrivateKeySigner::random()).await.expect_success();
        self.stack.release(&key, "Moved", &["ar://1".to_owned()]).await;
        let path = format!("/timeline?artist={}", artist.wallet);
        self.stack.wait_until(&path, |body| body["moments"].as_array().is_some_and(|all| !all.is_empty())).await;
        key
    }
}

fn set_body(event: &mut Value, body: &Value) {
    event["body"] = json!(body.to_string());
}

fn set_query(event: &mut Value, name: &str, value: &str) {
    event["rawQueryString"] = json!(format!("{name}={value}"));
    event["queryStringParameters"] = json!({name: value});
}
