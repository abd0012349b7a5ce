use alloy::signers::local::PrivateKeySigner;
use aws_sdk_dynamodb::types::AttributeValue;
use local::{
    artists::prove_by_mail,
    authenticator::{Authenticator, origin},
};
use serde_json::{Value, json};

use crate::{Answer, SignedIn, Stack, personal_sign};

/// The ceremony of a body that adds a passkey.
pub fn ceremony_of(body: &Value) -> &str {
    body["ceremony"].as_str().expect("a ceremony")
}

impl Stack {
    /// What an authenticator makes for the artist with this token, and the body that adds it but for the proof.
    pub async fn made_passkey(&self, token: &str) -> (Authenticator, Value) {
        let begun = Answer::of(self.post("/artists/passkeys/challenge").bearer_auth(token)).await.expect_success().body;
        let options = &begun["publicKey"];
        assert_eq!(options["authenticatorSelection"]["residentKey"], "required", "{options}");
        let origin = origin(&self.map.api).expect("an origin");
        let (passkey, credential) = Authenticator::create(options, &origin).expect("a passkey");
        (passkey, json!({"ceremony": begun["ceremony"], "credential": credential, "name": "my phone"}))
    }

    /// Asks for a proof.
    pub async fn ask_proof(&self, artist: &SignedIn, body: &Value) -> Answer {
        Answer::of(self.post("/artists/proofs").bearer_auth(&artist.token).json(body)).await
    }

    /// Gives a proof.
    pub async fn give_proof(&self, artist: &SignedIn, body: &Value) -> Answer {
        Answer::of(self.put("/artists/proofs").bearer_auth(&artist.token).json(body)).await
    }

    /// A proof by the code to the artist's mailbox.
    pub async fn proof_by_mail(&self, artist: &SignedIn, act: &str, subject: &str) -> Value {
        let proof = prove_by_mail(&self.map, &artist.token, &artist.email, act, subject).await;
        json!(proof.expect("a proof"))
    }

    /// A proof by a wallet's signature.
    pub async fn proof_by_wallet(
        &self,
        artist: &SignedIn,
        wallet: &PrivateKeySigner,
        act: &str,
        subject: &str,
    ) -> Value {
        let body = json!({"act": act, "subject": subject, "way": "wallet", "address": wallet.address()});
        let asked = self.ask_proof(artist, &body).await.expect_success().body;
        let signature = personal_sign(wallet, asked["message"].as_str().expect("a message"));
        let given = json!({"proof": asked["proof"], "signature": signature});
        self.give_proof(artist, &given).await.expect_success();
        asked["proof"].clone()
    }

    /// A proof by a passkey's answer.
    pub async fn proof_by_passkey(
        &self,
        artist: &SignedIn,
        passkey: &mut Authenticator,
        act: &str,
        subject: &str,
    ) -> Value {
        let body = json!({"act": act, "subject": subject, "way": "passkey"});
        let asked = self.ask_proof(artist, &body).await.expect_success().body;
        let credential = passkey.sign(&asked["publicKey"]).expect("an answer");
        let given = json!({"proof": asked["proof"], "credential": credential});
        self.give_proof(artist, &given).await.expect_success();
        asked["proof"].clone()
    }

    /// Adds a passkey that was made, with a proof.
    pub async fn add_passkey(&self, artist: &SignedIn, body: &Value, proof: &Value) -> Answer {
        let mut body = body.clone();
        body["proof"] = proof.clone();
        Answer::of(self.post("/artists/passkeys").bearer_auth(&artist.token).json(&body)).await
    }

    /// Adds a passkey to an artist who has a mailbox.
    pub async fn new_passkey(&self, artist: &SignedIn) -> Authenticator {
        let (passkey, body) = self.made_passkey(&artist.token).await;
        let proof = self.proof_by_mail(artist, "addPasskey", ceremony_of(&body)).await;
        self.add_passkey(artist, &body, &proof).await.expect_success();
        passkey
    }

    /// The same, as if a day ago.
    pub async fn added_passkey(&self, artist: &SignedIn) -> Authenticator {
        let passkey = self.new_passkey(artist).await;
        self.age_passkeys(artist).await;
        passkey
    }

    /// Adds a passkey, as if a day ago, to an artist who began with a wallet.
    pub async fn added_passkey_of_wallet(&self, artist: &SignedIn, wallet: &PrivateKeySigner) -> Authenticator {
        let (passkey, body) = self.made_passkey(&artist.token).await;
        let proof = self.proof_by_wallet(artist, wallet, "addPasskey", ceremony_of(&body)).await;
        self.add_passkey(artist, &body, &proof).await.expect_success();
        self.age_passkeys(artist).await;
        passkey
    }

    /// Has the artist's passkeys be older than a day.
    pub async fn age_passkeys(&self, artist: &SignedIn) {
        self.set_passkeys(artist, "created_at", "counts_from", 1_700_000_000).await;
    }

    /// Has the removals of the artist's passkeys be over.
    pub async fn end_passkeys(&self, artist: &SignedIn) {
        self.set_passkeys(artist, "expires_at", "expires_at", 1_700_000_000).await;
    }

    /// Sets a time of all the artist's passkeys, in their rows and in the mark.
    async fn set_passkeys(&self, artist: &SignedIn, in_row: &str, in_mark: &str, time: u64) {
        let (id, time) = (self.artist_id(artist), AttributeValue::N(time.to_string()));
        let mark = format!("SESSIONS#{id}");
        let mut passkeys = self.row("SecretTable", &mark, "PASSKEYS").await.expect("a mark")["passkeys"].clone();
        if let AttributeValue::L(passkeys) = &mut passkeys {
            for passkey in passkeys {
                let AttributeValue::M(passkey) = passkey else { continue };
                passkey.insert(in_mark.to_owned(), time.clone());
                let name = passkey["id"].as_s().expect("an id");
                self.set("SecretTable", &format!("PASSKEYS#{id}"), name, in_row, time.clone()).await;
            }
        }
        self.set("SecretTable", &mark, "PASSKEYS", "passkeys", passkeys).await;
    }

    /// A challenge of a sign-in.
    pub async fn passkey_challenge(&self) -> Value {
        Answer::of(self.post("/oauth/passkey/challenge")).await.expect_success().body
    }

    /// The body with which a passkey signs in.
    pub async fn passkey_answer(&self, passkey: &mut Authenticator) -> Value {
        let begun = self.passkey_challenge().await;
        let credential = passkey.sign(&begun["publicKey"]).expect("an answer");
        json!({"ceremony": begun["ceremony"], "credential": credential})
    }

    /// Signs in with a passkey.
    pub async fn sign_in_with_passkey(&self, passkey: &mut Authenticator) -> SignedIn {
        let answer = self.passkey_answer(passkey).await;
        SignedIn::without_mail(&Answer::of(self.post("/oauth/passkey").json(&answer)).await.expect_success())
    }

    /// Removes a passkey with a proof.
    pub async fn remove_passkey(&self, artist: &SignedIn, id: &Value, proof: &Value) -> Answer {
        let path = format!("/artists/passkeys?passkeyId={}", id.as_str().expect("an id"));
        Answer::of(self.delete(&path).bearer_auth(&artist.token).json(&json!({"proof": proof}))).await
    }

    /// The same with a proof by the artist's mailbox.
    pub async fn remove_passkey_by_mail(&self, artist: &SignedIn, id: &Value) -> Answer {
        let proof = self.proof_by_mail(artist, "removePasskey", id.as_str().expect("an id")).await;
        self.remove_passkey(artist, id, &proof).await
    }

    /// Keeps a passkey that is to be removed.
    pub async fn keep_passkey(&self, artist: &SignedIn, id: &Value, proofs: &[&Value]) -> Answer {
        let path = format!("/artists/passkeys?passkeyId={}", id.as_str().expect("an id"));
        Answer::of(self.patch(&path).bearer_auth(&artist.token).json(&json!({"proofs": proofs}))).await
    }

    /// The id of the artist's only passkey.
    pub async fn only_passkey(&self, artist: &SignedIn) -> Value {
        let [one] = self.passkeys(artist).await.try_into().expect("one passkey");
        one["id"].clone()
    }

    /// The artist's passkeys.
    pub async fn passkeys(&self, artist: &SignedIn) -> Vec<Value> {
        let list = Answer::of(self.get("/artists/passkeys").bearer_auth(&artist.token)).await.expect_success();
        list.body["passkeys"].as_array().expect("passkeys").clone()
    }
}
