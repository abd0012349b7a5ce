//! Helpers of the tests here.

use std::time::Duration;

use alloy::primitives::{Address, U256};
use settle_transactions::{Settled, Settler};
use shared::{
    chain::{
        contracts::native::Creator1155,
        transaction::{CLAIM_LIFETIME, Confirmation, Outcome, Policy, TransactionSender, WriteRequest},
        wallet::Call,
    },
    store::{Answer, Artist, LaneState, Slot, Transaction},
};

pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// Unix time at which every test begins. No test reads a real clock.
pub const NOW: u64 = 1_800_000_000;
/// A time at which every claim made at [`NOW`] has expired.
pub const LATER: u64 = NOW + CLAIM_LIFETIME.as_secs() + 1;
/// How long writes wait for their receipt.
pub const WAIT: Duration = Duration::from_secs(5);
/// The same where no receipt will come.
pub const SHORT_WAIT: Duration = Duration::from_millis(100);

pub fn policy() -> Policy {
    Policy {
        max_gas: 8_000_000,
        max_fee_per_gas: 50_000_000_000,
        artist_gas_daily: 500_000_000,
        total_gas_daily: 20_000_000_000,
    }
}

pub fn rename(collection: Address, uri: &str) -> Call {
    Call::new(collection, &Creator1155::updateTokenURICall { tokenId: U256::ONE, newURI: uri.to_owned() })
}

pub fn answer(outcome: &Outcome) -> Answer {
    let status = match outcome.end {
        Confirmation::Mined(_) => 200,
        Confirmation::Reverted(..) => 422,
        Confirmation::Pending { .. } => 202,
    };
    Answer { status, body: outcome.hash.to_string() }
}

/// A write by an artist, as an endpoint would request it.
pub async fn write_request(sender: &TransactionSender, artist: Artist, call: Call) -> Result<WriteRequest, Error> {
    let guess = sender.signers().likely(artist.artist_id).map(Into::into);
    let caller = sender.transactions().caller(artist.artist_id, sender.chain().id, guess, None, NOW).await?;
    Ok(WriteRequest { caller: caller.ok_or("no such artist")?, calls: vec![call], replay: None })
}

pub async fn lane(sender: &TransactionSender, artist: &Artist) -> Result<LaneState, Error> {
    Ok(sender.transactions().lane(sender.chain().id, artist.lane).await?.ok_or("the lane isn't open")?)
}

pub async fn transaction(sender: &TransactionSender, artist: &Artist, nonce: u64) -> Result<Transaction, Error> {
    let slot = Slot { chain: sender.chain().id, lane: artist.lane, nonce };
    Ok(sender.transactions().get(&slot).await?.ok_or("no such transaction")?)
}

/// Runs one step and returns its result for the lane of `artist`.
pub async fn settle(sender: &TransactionSender, artist: &Artist, now: u64) -> Result<Settled, Error> {
    let lanes = Settler::new(vec![sender.clone()]).step(now).await?;
    Ok(lanes.iter().find(|lane| lane.lane == artist.lane).ok_or("the lane wasn't settled")?.settled)
}

/// Steps until nothing is open. Nodes take a moment to mine, so `sent` varies from run to run and isn't added up.
pub async fn settle_all(sender: &TransactionSender, artist: &Artist, now: u64) -> Result<Settled, Error> {
    let mut all = Settled::default();
    for _ in 0..100 {
        let step = settle(sender, artist, now).await?;
        all.mined += step.mined;
        all.bumped += step.bumped;
        all.abandoned += step.abandoned;
        all.displaced += step.displaced;
        if step.open == 0 {
            return Ok(all);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err("transactions are still open after 100 steps".into())
}
