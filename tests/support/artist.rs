use alloy::primitives::Address;
use aws_sdk_dynamodb::types::AttributeValue;
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use local::{artists::prove_email, mail};
use serde_json::{Value, json};
use shared::store::artist::{ArtistTable, NewsQueue};
use uuid::Uuid;

use crate::{Answer, Stack};

/// A new, unique e-mail address.
pub fn unused_email() -> String {
    format!("{}@example.com", Uuid::new_v4().simple())
}

/// A sign-in code other than this one.
pub fn another_code(code: &str) -> String {
    format!("{:06}", (code.parse::<u32>().expect("digits") + 1) % 1_000_000)
}

/// A signed-in artist with an access token.
#[derive(Debug, Clone)]
pub struct SignedIn {
    pub email: String,
    pub token: String,
    pub wallet: String,
}

impl SignedIn {
    /// Whom an answer signed in otherwise than by mail.
    pub fn without_mail(answer: &Answer) -> Self {
        let text = |field: &str| answer.body[field].as_str().expect(field).to_owned();
        Self { email: String::new(), token: text("token"), wallet: text("social_wallet") }
    }
}

/// The header (0) or the claims (1) of a token.
pub fn token_part(token: &str, index: usize) -> Value {
    let part = token.split('.').nth(index).expect("three parts");
    serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(part).expect("base64")).expect("JSON")
}

impl Stack {
    /// Requests a sign-in code and reads it from the mail.
    pub async fn code_for(&self, email: &str) -> String {
        let seen = self.mails_to(email).await.len();
        let answer = self.post_json("/oauth/code", &json!({"email": email})).await.expect_success();
        assert_eq!(answer.body, json!({"success": true}));
        mail::newest_code(&self.map.mail, email, seen).await.expect("a mail with a code")
    }

    /// The secret of the newest link that an address was mailed.
    pub async fn newest_link(&self, email: &str) -> String {
        let mails = self.mails_to(email).await;
        mails.iter().rev().find_map(mail::link_in).expect("a mail with a link").to_owned()
    }

    pub async fn use_link(&self, link: &str) -> Answer {
        self.post_json("/oauth/link", &json!({"link": link})).await
    }

    /// Signs in with a mailed code and keeps the device's token.
    pub async fn remember_device(&self, email: &str) -> String {
        let code = self.code_for(email).await;
        let answer = self.post_json("/oauth/login", &json!({"email": email, "code": code, "remember": true})).await;
        answer.expect_success().body["deviceToken"].as_str().expect("a device token").to_owned()
    }

    pub async fn log_in(&self, email: &str, code: &str) -> Answer {
        self.post_json("/oauth/login", &json!({"email": email, "code": code})).await
    }

    pub async fn sign_in(&self, email: &str) -> SignedIn {
        let code = self.code_for(email).await;
        let answer = self.log_in(email, &code).await.expect_success();
        let text = |field: &str| answer.body[field].as_str().expect(field).to_owned();
        SignedIn { email: email.to_owned(), token: text("token"), wallet: text("social_wallet") }
    }

    /// A new artist, signed in.
    pub async fn new_artist(&self) -> SignedIn {
        self.sign_in(&unused_email()).await
    }

    /// What proves a new mail address of the artist's.
    pub async fn proved_email(&self, artist: &SignedIn, email: &str) -> Value {
        prove_email(&self.map, &artist.token, &artist.email, email).await.expect("codes")
    }

    /// Signs out, of all sessions or this one.
    pub async fn log_out(&self, artist: &SignedIn, body: &Value) -> Answer {
        Answer::of(self.post("/oauth/logout").bearer_auth(&artist.token).json(body)).await
    }

    /// Withdraws until it is mined or refused.
    pub async fn withdraw(&self, artist: &SignedIn, body: &Value) -> Answer {
        Answer::of_write(self.post("/smartwallet/withdraw").bearer_auth(&artist.token).json(body)).await
    }

    /// The artist's id, which the token names.
    pub fn artist_id(&self, artist: &SignedIn) -> String {
        token_part(&artist.token, 1)["sub"].as_str().expect("an artist").to_owned()
    }

    /// What stops an artist's mails of news.
    pub async fn unsubscribe_token(&self, artist: &SignedIn) -> String {
        let aws = self.endpoints().sdk_config(&self.map.dynamodb).await;
        let queue = NewsQueue::new(ArtistTable::new(&aws, &*self.map.names["ArtistTable"]));
        let artist = self.artist_id(artist).parse().expect("an id");
        queue.unsubscribe_token(artist).await.expect("a token").to_string()
    }

    /// Adds a payout address.
    pub async fn add_payout_address(&self, artist: &SignedIn, address: Address) -> Answer {
        let request = self.post("/artists/payout-addresses").bearer_auth(&artist.token);
        Answer::of(request.json(&json!({"address": address}))).await
    }

    /// Adds a payout address, as if a day ago.
    pub async fn add_old_payout_address(&self, artist: &SignedIn, address: Address) {
        self.add_payout_address(artist, address).await.expect_success();
        let (table, partition) = (&self.map.names["ArtistTable"], format!("PAYOUTS#{}", self.artist_id(artist)));
        let long_ago = AttributeValue::N("1700000000".to_owned());
        self.set(table, &partition, &format!("{address:#x}"), "added_at", long_ago).await;
    }

    pub async fn create_key(&self, artist: &SignedIn, body: &Value) -> Answer {
        Answer::of(self.post("/artists/api-keys").bearer_auth(&artist.token).json(body)).await
    }

    pub async fn list_keys(&self, artist: &SignedIn) -> Vec<Value> {
        let answer = Answer::of(self.get("/artists/api-keys").bearer_auth(&artist.token)).await.expect_success();
        answer.body["keys"].as_array().expect("a list of keys").clone()
    }

    pub async fn revoke_key(&self, artist: &SignedIn, id: &str) -> Answer {
        let request = self.delete(&format!("/artists/api-keys?keyId={id}"));
        Answer::of(request.bearer_auth(&artist.token)).await
    }
}
