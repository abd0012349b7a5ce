use alloy::primitives::Address;
use axum::Router;
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{Answer, SignedIn, Stack, Writer, eventually};

/// How a picture of one pixel begins.
pub const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0";

/// A picture that nobody else uploads.
pub fn picture(size: usize) -> Vec<u8> {
    let mut content = [PNG, Uuid::new_v4().as_bytes()].concat();
    content.extend((content.len()..size).map(|at| (at % 251) as u8));
    content
}

impl Stack {
    /// The id of an upload of one part whose bytes are there.
    pub async fn finished_upload(&self, artist: &SignedIn, picture: Vec<u8>) -> String {
        let body = json!({"contentType": "image/png", "size": picture.len()});
        let begun = self.send_as(artist, self.post("/uploads").json(&body)).await;
        let part = self.http.put(text(&begun["parts"][0]["url"])).body(picture);
        part.send().await.expect("an answer").error_for_status().expect("success");
        text(&begun["uploadId"])
    }

    /// Ends an upload of a file that is hashed at once.
    pub async fn complete_upload(&self, artist: &SignedIn, id: &str) -> Answer {
        Answer::of(self.post(&format!("/uploads/{id}/complete")).bearer_auth(&artist.token)).await
    }

    /// The CID of a metadata document that nobody else has.
    pub async fn stored_document(&self, artist: &SignedIn) -> String {
        let stored = self.send_as(artist, self.post("/metadata").json(&json!({"name": Uuid::new_v4()}))).await;
        stored["uri"].as_str().and_then(|uri| uri.strip_prefix("ipfs://")).expect("a CID").to_owned()
    }

    /// The address of a split among accounts, in percent, once it is shown.
    pub async fn new_split(&self, key: &str, shares: [(Address, u8); 2]) -> String {
        let made = self.write("/splits", key, &split_among(shares), &[]).await.expect_success().body;
        let split = text(&made["splitAddress"]);
        self.wait_until(&format!("/splits/eip155:8453/{split}"), |body| body["waiting"].is_array()).await;
        split
    }

    /// The hash, in addresses of previews, of a picture that has some.
    pub async fn previewed_picture(&self, writer: &Writer) -> String {
        let dot = "<svg xmlns='http://www.w3.org/2000/svg' width='4' height='2'><rect width='4' height='2'/></svg>";
        let document = json!({"name": "Previewed", "image": format!("data:image/svg+xml,{dot}")}).to_string();
        let uri = format!("data:application/json;base64,{}", BASE64_STANDARD.encode(document));
        let collection = self.release(&writer.key, "Previewed", &[uri]).await;
        let path = format!("/moment?collectionAddress={collection}&tokenId=1");
        let moment = self.wait_until(&path, |body| !body["metadata"]["placeholder"].is_null()).await;
        let url = text(&moment["metadata"]["previews"][0]["url"]);
        url.rsplit('/').nth(1).expect("a hash").to_owned()
    }

    /// The id of a webhook.
    pub async fn new_webhook(&self, artist: &SignedIn, url: &str) -> String {
        text(&self.send_as(artist, self.post("/webhooks").json(&json!({"url": url}))).await["webhook"]["id"])
    }

    /// The ids of a webhook and of a delivery that its receiver took.
    pub async fn told_webhook(&self, artist: &SignedIn) -> [String; 2] {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/x", listener.local_addr().expect("an address"));
        tokio::spawn(axum::serve(listener, Router::new().fallback(local::receiver::take)).into_future());
        let webhook = self.new_webhook(artist, &url).await;
        let delivery = text(&self.send_as(artist, self.post(&format!("/webhooks/{webhook}/test"))).await["id"]);
        eventually(format!("{delivery} is delivered"), async || {
            let list = self.send_as(artist, self.get(&format!("/webhooks/{webhook}/deliveries"))).await;
            (list["deliveries"][0]["status"] == "delivered").then_some(())
        })
        .await;
        [webhook, delivery]
    }

    async fn send_as(&self, artist: &SignedIn, request: reqwest::RequestBuilder) -> Value {
        Answer::of(request.bearer_auth(&artist.token)).await.expect_success().body
    }
}

/// The body that makes a split, with shares in percent.
pub fn split_among(shares: [(Address, u8); 2]) -> Value {
    json!({"splits": shares.map(|(address, share)| json!({"address": address, "percentAllocation": share}))})
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}
