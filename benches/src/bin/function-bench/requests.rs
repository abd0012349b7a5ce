//! Requests to the functions: their event files, with the examples replaced by the local stack's addresses and ids, so
//! that each request succeeds.

use alloy::{primitives::Address, signers::local::PrivateKeySigner};
use local::Error;
use serde_json::{Value, json};
use tests::{Collector, SignedIn, Stack, personal_sign, picture, split_among, unused_email};
use tokio::sync::OnceCell;

/// Examples in the event files: a collection, an artist's account and another account, a file, an upload or transaction, a
/// webhook, and a delivery to it.
const COLLECTION: &str = "0x540c18b7f99b3b599c6feb99964498931c211858";
const ARTIST: &str = "0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc";
const ACCOUNT: &str = "0x2c36d01b9a4bcb4e2ebb5a3a56e9a3b9a8c6b6e1";
const FILE: &str = "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy";
const ITEM: &str = "019a8b7c-5d4e-7f3a-9b2c-1d0e8f7a6b5c";
const WEBHOOK: &str = "019a8b7c-5d4e-7f3a-9b2c-1d0e8f7a6b5d";
const DELIVERY: &str = "019a8b7c-5d4e-7f3a-9b2c-1d0e8f7a6b5e";

/// Functions that limit how often an artist may call them, or after which the artist can't call anything.
const ONCE_AN_ARTIST: [&str; 9] = [
    "create-webhook",
    "create-api-key",
    "challenge-wallet",
    "connect-wallet",
    "disconnect-wallet",
    "add-payout-address",
    "remove-payout-address",
    "log-out",
    "delete-artist",
];

/// Functions that take the id of a webhook, of which an artist has ten at most.
const OF_A_WEBHOOK: [&str; 7] = [
    "delete-webhook",
    "list-deliveries",
    "read-webhook",
    "redeliver-webhook",
    "rotate-webhook",
    "test-webhook",
    "update-webhook",
];

/// Bytes of the uploaded picture.
const PICTURE: usize = 482_113;

const ETHER: u64 = 1_000_000_000_000_000_000;

/// The sender of requests: an artist with an API key, a balance, and a moment that was collected once.
pub struct Caller<'a> {
    pub stack: &'a Stack,
    pub artist: SignedIn,
    pub key: String,
    pub payout_address: OnceCell<Address>,
    pub split: OnceCell<String>,
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
        let (payout_address, split) = Default::default();
        Ok(Self { stack, artist, key, payout_address, split, collection, number: 0 })
    }

    /// Whether a request needs a new artist or another long setup.
    pub fn takes_long(binary: &str) -> bool {
        binary == "log-in" || Self::needs_artist(binary)
    }

    fn needs_artist(binary: &str) -> bool {
        ONCE_AN_ARTIST.contains(&binary) || OF_A_WEBHOOK.contains(&binary)
    }

    /// Makes the next request to a function, after the setup that it needs to succeed.
    pub async fn request(&mut self, binary: &str, event: &Value) -> Result<Value, Error> {
        self.number += 1;
        let artist = if Self::needs_artist(binary) { self.stack.new_artist().await } else { self.artist.clone() };
        let key = if binary == "migrate-moments" { self.migrant().await } else { self.key.clone() };
        let mut text = event.to_string().replace(ARTIST, &artist.wallet);
        for (example, real) in self.examples(binary, &artist).await? {
            text = text.replace(example, &real);
        }
        let mut event = serde_json::from_str(&text)?;
        self.fill_in(binary, &artist, &mut event).await;
        for (name, value) in [
            ("authorization", format!("Bearer {}", artist.token)),
            ("x-api-key", key),
            ("idempotency-key", format!("measured-{}-{}", std::process::id(), self.number)),
        ] {
            if let Some(header) = event["headers"].get_mut(name) {
                *header = json!(value);
            }
        }
        Ok(event)
    }

    /// What stands for the examples of a function's event.
    async fn examples(&self, binary: &str, artist: &SignedIn) -> Result<Vec<(&'static str, String)>, Error> {
        let example = match binary {
            "read-artist" => (COLLECTION, self.artist.wallet.clone()),
            "read-smart-wallet" => (ACCOUNT, self.artist.wallet.clone()),
            "list-comments" => {
                let commented = self.stack.map.demo["comments"]["collectionAddress"].as_str();
                (COLLECTION, commented.unwrap_or_default().to_owned())
            }
            "read-split" => (COLLECTION, self.split().await),
            "distribute-split" => (COLLECTION, self.filled_split().await?),
            "complete-upload" => (ITEM, self.stack.finished_upload(artist, picture(PICTURE)).await),
            "read-content" => (FILE, self.stack.stored_document(artist).await),
            "read-transaction" => (ITEM, self.transaction().await?),
            "redeliver-webhook" => {
                let [webhook, delivery] = self.stack.told_webhook(artist).await;
                return Ok(vec![(WEBHOOK, webhook), (DELIVERY, delivery)]);
            }
            _ if OF_A_WEBHOOK.contains(&binary) => {
                (WEBHOOK, self.stack.new_webhook(artist, "https://example.com/moments").await)
            }
            _ => (COLLECTION, format!("{:#x}", self.collection)),
        };
        Ok(vec![example])
    }

    /// Fills in what must be new in each request.
    async fn fill_in(&self, binary: &str, artist: &SignedIn, event: &mut Value) {
        let (stack, collection) = (self.stack, format!("{:#x}", self.collection));
        match binary {
            "send-code" => set_body(event, &json!({"email": unused_email()})),
            "log-in" => {
                let email = unused_email();
                let code = stack.code_for(&email).await;
                set_body(event, &json!({"email": email, "code": code}));
            }
            "revoke-api-key" => {
                stack.create_key(&self.artist, &json!({})).await.expect_success();
                let newest = stack.list_keys(&self.artist).await.swap_remove(0);
                set_query(event, "keyId", newest["id"].as_str().unwrap_or_default());
            }
            "update-artist" => {
                let name = format!("measured{}", std::process::id());
                set_body(event, &json!({"username": name, "bio": format!("Was changed {} times.", self.number)}));
            }
            "connect-wallet" => {
                let wallet = PrivateKeySigner::random();
                let message = stack.message_for(artist, wallet.address()).await;
                set_body(event, &json!({"message": message, "signature": personal_sign(&wallet, &message)}));
            }
            "disconnect-wallet" => {
                let wallet = PrivateKeySigner::random();
                stack.connect_wallet(artist, &wallet).await.expect_success();
                set_query(event, "address", &format!("{:#x}", wallet.address()));
            }
            "remove-payout-address" => {
                let address = unused_account();
                stack.add_payout_address(artist, address).await.expect_success();
                set_query(event, "address", &format!("{address:#x}"));
            }
            "grant-permission" | "revoke-permission" => {
                let admin = unused_account();
                let body = json!({"moment": {"collectionAddress": collection, "tokenId": "1"}, "adminAddress": admin});
                if binary == "revoke-permission" {
                    stack.write("/moment/permission", &self.key, &body, &[]).await.expect_success();
                }
                set_body(event, &body);
            }
            "add-collection-admin" => set_body(event, &json!({"adminAddress": unused_account()})),
            "remove-collection-admin" => {
                let admin = unused_account();
                let path = format!("/collections/eip155:8453/erc1155:{collection}/admins");
                stack.write(&path, &self.key, &json!({"adminAddress": admin}), &[]).await.expect_success();
                set_query(event, "adminAddress", &format!("{admin:#x}"));
            }
            "hide-moment" => {
                let moment = json!({"collectionAddress": collection, "tokenId": "1"});
                set_body(event, &json!({"moment": moment, "hidden": self.number % 2 == 1}));
            }
            "create-metadata" => set_body(event, &json!({"name": format!("Measured {}", self.number)})),
            "create-split" => {
                set_body(event, &split_among([(unused_account(), 70), (unused_account(), 30)]));
            }
            "mark-notifications" => set_body(event, &json!({})),
            "withdraw-funds" => {
                let to = self.payout_address().await;
                set_body(event, &json!({"to": to, "amount": "1", "unit": "wei", "currency": "USDC"}));
            }
            _ => {}
        }
    }
}

/// An account that nobody has used.
pub fn unused_account() -> Address {
    PrivateKeySigner::random().address()
}

fn set_body(event: &mut Value, body: &Value) {
    event["body"] = json!(body.to_string());
}

fn set_query(event: &mut Value, name: &str, value: &str) {
    event["rawQueryString"] = json!(format!("{name}={value}"));
    event["queryStringParameters"] = json!({name: value});
}
