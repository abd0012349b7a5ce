use alloy::signers::local::PrivateKeySigner;
use serde_json::{Value, json};

use crate::{Answer, SignedIn, Stack, eventually, personal_sign};

/// A claim link as its artist got it.
#[derive(Clone, Debug)]
pub struct ClaimLink {
    pub id: String,
    /// Last part of the link.
    pub token: String,
    pub url: String,
}

impl Stack {
    /// Makes a link for a collection's first moment, with these further fields.
    pub async fn claim_link(&self, key: &str, collection: impl ToString, more: Value) -> ClaimLink {
        let mut body = json!({"moment": {"collectionAddress": collection.to_string(), "tokenId": "1"}});
        for (name, value) in more.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        let answer = self.write("/moment/claims", key, &body, &[]).await.expect_success();
        let text = |name: &str| answer.body[name].as_str().expect(name).to_owned();
        let url = text("url");
        let token = url.rsplit('/').next().expect("a token").to_owned();
        ClaimLink { id: text("claimId"), token, url }
    }

    /// Claims as a signed-in person until the token is there, or refused. With a link that gives a person several, this
    /// may claim more than one.
    pub async fn claim(&self, link: &ClaimLink, person: &SignedIn) -> Answer {
        Answer::of_repeated(self.post(&format!("/claims/{}", link.token)).bearer_auth(&person.token)).await
    }

    /// Sends one request for a claim as a signed-in person.
    pub async fn claim_once(&self, link: &ClaimLink, person: &SignedIn) -> Answer {
        Answer::of(self.post(&format!("/claims/{}", link.token)).bearer_auth(&person.token)).await
    }

    /// What proves to a claim that the wallet is its sender's.
    pub async fn claim_proof(&self, wallet: &PrivateKeySigner) -> Value {
        let message = self.sign_in_message(wallet.address(), 8453).await;
        json!({"message": message, "signature": personal_sign(wallet, &message)})
    }

    /// Sends one request for a claim with a wallet's proof, which a claim uses up.
    pub async fn claim_with(&self, link: &ClaimLink, proof: &Value) -> Answer {
        Answer::of(self.post(&format!("/claims/{}", link.token)).json(proof)).await
    }

    /// Claims with a wallet until the token is there.
    pub async fn claimed(&self, link: &ClaimLink, wallet: &PrivateKeySigner) -> Answer {
        self.claimed_with(link, async || self.claim_proof(wallet).await).await
    }

    /// Claims with a new proof each time until the token is there.
    pub async fn claimed_with(&self, link: &ClaimLink, proof: impl AsyncFn() -> Value) -> Answer {
        let answer = eventually("a claim's outcome", async || {
            let answer = self.claim_with(link, &proof().await).await;
            (![202, 429, 503].contains(&answer.status)).then_some(answer)
        });
        answer.await.expect_success()
    }
}
