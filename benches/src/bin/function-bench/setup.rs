//! What must be there before a function's request succeeds.

use std::time::Duration;

use alloy::{primitives::Address, signers::local::PrivateKeySigner};
use axum::Router;
use local::Error;
use serde_json::{Value, json};
use tests::{Answer, Collector, SignedIn};
use uuid::Uuid;

use crate::requests::{Caller, unused_account};

/// Functions that take the id of a webhook. An artist has ten of them at most.
pub const WEBHOOKS: [&str; 8] = [
    "create-webhook",
    "delete-webhook",
    "list-deliveries",
    "read-webhook",
    "redeliver-webhook",
    "rotate-webhook",
    "test-webhook",
    "update-webhook",
];

/// How a picture of one pixel begins.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0";

/// Bytes of the uploaded picture.
const PICTURE: usize = 482_113;

/// How often it is looked whether a delivery has arrived, and how many times at most.
const POLL: Duration = Duration::from_millis(50);
const POLLS: usize = 400;

impl Caller<'_> {
    /// The API key of an artist with a connected wallet that isn't an admin of their moment yet.
    pub async fn migrant(&self) -> String {
        let Collector { artist, key, .. } = self.stack.new_collector().await;
        self.stack.connect_wallet(&artist, &PrivateKeySigner::random()).await.expect_success();
        self.stack.release(&key, "Moved", &["ar://1".to_owned()]).await;
        let path = format!("/timeline?artist={}", artist.wallet);
        self.stack.wait_until(&path, |body| body["moments"].as_array().is_some_and(|all| !all.is_empty())).await;
        key
    }

    /// An address that money may be sent to: one that was added a day ago.
    pub async fn payout_address(&self) -> Address {
        let add = async || {
            let address = unused_account();
            self.stack.add_old_payout_address(&self.artist, address).await;
            address
        };
        *self.payout_address.get_or_init(add).await
    }

    /// A split of the artist's with money in it.
    pub async fn split_with_money(&self) -> Result<String, Error> {
        let split = self.split.get_or_try_init(async || self.new_split().await).await?;
        self.stack.give_usdc(split.parse()?, 1_000_000).await;
        Ok(split.clone())
    }

    async fn new_split(&self) -> Result<String, Error> {
        let share = |percent: u8| json!({"address": unused_account(), "percentAllocation": percent});
        let body = json!({"splits": [share(70), share(30)]});
        let made = self.stack.write("/splits", &self.key, &body, &[]).await.expect_success().body;
        let split = text(&made["splitAddress"])?;
        let path = format!("/splits/eip155:8453/{split}");
        self.stack.wait_until(&path, |body| body["waiting"].is_array()).await;
        Ok(split)
    }

    /// An upload whose bytes have arrived.
    pub async fn upload(&self) -> Result<String, Error> {
        let mut content = [PNG, Uuid::new_v4().as_bytes()].concat();
        content.resize(PICTURE, 0);
        let body = json!({"contentType": "image/png", "size": PICTURE});
        let begun = self.post("/uploads", &self.artist, &body).await;
        let url = text(&begun["parts"][0]["url"])?;
        self.stack.http.put(url).body(content).send().await?.error_for_status()?;
        text(&begun["uploadId"])
    }

    /// The CID of a file that is kept.
    pub async fn file(&self) -> Result<String, Error> {
        let stored = self.post("/metadata", &self.artist, &json!({"name": "Measured"})).await;
        Ok(text(&stored["uri"])?.trim_start_matches("ipfs://").to_owned())
    }

    /// The artist's newest transaction.
    pub async fn transaction(&self) -> Result<String, Error> {
        let request = self.stack.get("/transactions?limit=1").bearer_auth(&self.artist.token);
        text(&Answer::of(request).await.expect_success().body["transactions"][0]["id"])
    }

    /// A webhook of the artist's.
    pub async fn webhook(&self, artist: &SignedIn, url: &str) -> Result<String, Error> {
        let made = self.post("/webhooks", artist, &json!({"url": url, "types": ["moment.collected"]})).await;
        text(&made["webhook"]["id"])
    }

    /// A webhook, and what was delivered to it.
    pub async fn delivery(&self, artist: &SignedIn) -> Result<(String, String), Error> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/", listener.local_addr()?);
        tokio::spawn(axum::serve(listener, Router::new().fallback(async || ())).into_future());
        let webhook = self.webhook(artist, &url).await?;
        let delivery = text(&self.post(&format!("/webhooks/{webhook}/test"), artist, &Value::Null).await["id"])?;
        for _ in 0..POLLS {
            let list = self.stack.get(&format!("/webhooks/{webhook}/deliveries")).bearer_auth(&artist.token);
            if Answer::of(list).await.expect_success().body["deliveries"][0]["status"] == "delivered" {
                return Ok((webhook, delivery));
            }
            tokio::time::sleep(POLL).await;
        }
        Err("a test of a webhook doesn't arrive".into())
    }

    async fn post(&self, path: &str, artist: &SignedIn, body: &Value) -> Value {
        let request = self.stack.post(path).bearer_auth(&artist.token);
        Answer::of(if body.is_null() { request } else { request.json(body) }).await.expect_success().body
    }
}

fn text(value: &Value) -> Result<String, Error> {
    Ok(value.as_str().ok_or_else(|| format!("{value} isn't a text"))?.to_owned())
}
