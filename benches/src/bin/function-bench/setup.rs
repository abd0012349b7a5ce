//! What must be there before a function's request succeeds.

use alloy::{primitives::Address, signers::local::PrivateKeySigner};
use local::Error;
use tests::{Answer, Collector};

use crate::requests::{Caller, unused_account};

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

    /// A split of the artist's.
    pub async fn split(&self) -> String {
        let shares = [(unused_account(), 70), (unused_account(), 30)];
        self.split.get_or_init(async || self.stack.new_split(&self.key, shares).await).await.clone()
    }

    /// The same with more money in it.
    pub async fn filled_split(&self) -> Result<String, Error> {
        let split = self.split().await;
        self.stack.give_usdc(split.parse()?, 1_000_000).await;
        Ok(split)
    }

    /// The artist's newest transaction.
    pub async fn transaction(&self) -> Result<String, Error> {
        let request = self.stack.get("/transactions?limit=1").bearer_auth(&self.artist.token);
        let list = Answer::of(request).await.expect_success().body;
        Ok(list["transactions"][0]["id"].as_str().ok_or("the artist has no transaction")?.to_owned())
    }
}
