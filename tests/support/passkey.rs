use local::authenticator::{Authenticator, origin};
use serde_json::{Value, json};

use crate::{Answer, SignedIn, Stack};

impl Stack {
    /// What an authenticator makes for the artist with this token, and the body that adds it.
    pub async fn made_passkey(&self, token: &str) -> (Authenticator, Value) {
        let begun = Answer::of(self.post("/artists/passkeys/challenge").bearer_auth(token)).await.expect_success().body;
        let options = &begun["publicKey"];
        assert_eq!(options["authenticatorSelection"]["residentKey"], "required", "{options}");
        let origin = origin(&self.map.api).expect("an origin");
        let (passkey, credential) = Authenticator::create(options, &origin).expect("a passkey");
        (passkey, json!({"ceremony": begun["ceremony"], "credential": credential, "name": "my phone"}))
    }

    /// Adds a passkey to the artist with this token.
    pub async fn added_passkey(&self, token: &str) -> Authenticator {
        let (passkey, body) = self.made_passkey(token).await;
        Answer::of(self.post("/artists/passkeys").bearer_auth(token).json(&body)).await.expect_success();
        passkey
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

    /// Removes a passkey.
    pub async fn remove_passkey(&self, artist: &SignedIn, id: &Value) -> Answer {
        let path = format!("/artists/passkeys?passkeyId={}", id.as_str().expect("an id"));
        Answer::of(self.delete(&path).bearer_auth(&artist.token)).await
    }

    /// The artist's passkeys.
    pub async fn passkeys(&self, artist: &SignedIn) -> Vec<Value> {
        let list = Answer::of(self.get("/artists/passkeys").bearer_auth(&artist.token)).await.expect_success();
        list.body["passkeys"].as_array().expect("passkeys").clone()
    }
}
