//! Transactions of the operator lanes, in the table of what the chain can't rebuild. A lane's nonces are given out here,
//! each together with what it is for: there is no nonce without its transaction.
//!
//! - `pk = LANE#<chain>#<lane>`, `sk = LANE`: the next nonce, the open ones, and the gas given out today;
//! - `pk = LANE#<chain>#<lane>`, `sk = TX#<nonce, 20 digits>`: a transaction;
//! - `pk = LANE#<chain>#<lane>`, `sk = LEASE`: who settles the lane just now;
//! - `pk = ARTIST#<id>`, `sk = GAS#<chain>#<day>`: the gas given out to an artist on a day;
//! - `pk = ARTIST#<id>`, `sk = ACCOUNT#<chain>`: whether the artist's account is deployed, or about to be;
//! - `pk = REPLAY#<artist>#<hash of the key>`, `sk = REQUEST`: the request that brought an idempotency key, and its
//!   answer.

mod claim;
mod rows;
mod settle;

pub use claim::{Claim, ClaimRefusal, GasLimits, NewTransaction};
pub use rows::{
    AccountState, Answer, Attempt, Intent, LaneState, MAX_OPEN, MinedIn, ReplayKey, ReplayedRequest, Slot, Status,
    Transaction,
};

use self::rows::{account_key, gas_key, lane_key, replay_key, transaction_key};
use super::{Artist, StoreError, Table, artists::profile_key};
use crate::model::{Address, ArtistId, ChainId};
use serde::Deserialize;

/// How long a day's gas lasts, in seconds.
pub const DAY: u64 = 24 * 60 * 60;

/// The transactions of all lanes.
#[derive(Clone)]
pub struct Transactions {
    table: Table,
}

/// What is known of a caller before a write.
#[derive(Clone, Debug)]
pub struct CallerState {
    /// The artist.
    pub artist: Artist,
    /// Their account on the chain that they write to.
    pub account: AccountState,
    /// Their lane, if it was the one that was guessed.
    pub lane: Option<LaneState>,
    /// The gas given out to them on the chain today.
    pub gas_spent: u64,
    /// The request that brought the same idempotency key before.
    pub replayed: Option<ReplayedRequest>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum CallerRow {
    Artist(Artist),
    Replay(ReplayedRequest),
    Account(AccountState),
    Gas {
        spent: u64,
    },
    Lane(LaneState),
    /// An answer that outlived the request it was for.
    Other(serde::de::IgnoredAny),
}

impl Transactions {
    /// The transactions in the artists' table.
    pub fn new(artists: Table) -> Self {
        Self { table: artists }
    }

    /// What is known of an artist who wants to write to a chain; `None` when there is no such artist. The artist's lane
    /// comes along if `guess` is it. One read.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn caller(
        &self,
        artist: ArtistId,
        chain: ChainId,
        guess: Option<Address>,
        replay: Option<&ReplayKey>,
        now: u64,
    ) -> Result<Option<CallerState>, StoreError> {
        let mut keys = vec![profile_key(artist), account_key(artist, chain), gas_key(artist, chain, now / DAY)];
        keys.extend(guess.map(|lane| lane_key(chain, lane)));
        keys.extend(replay.map(replay_key));
        let rows = self.table.get_many(keys).await?;
        let (mut known, mut account, mut gas_spent) = (None, AccountState::default(), 0);
        let (mut guessed, mut replayed) = (None, None);
        for row in rows {
            match row {
                CallerRow::Artist(artist) => known = Some(artist),
                CallerRow::Account(state) => account = state,
                CallerRow::Gas { spent } => gas_spent = spent,
                CallerRow::Lane(state) => guessed = Some(state),
                CallerRow::Replay(request) => replayed = Some(request).filter(|request| request.expires_at > now),
                CallerRow::Other(_) => {}
            }
        }
        Ok(known.map(|artist: Artist| {
            let lane = guessed.filter(|_| Some(artist.lane) == guess);
            CallerState { artist, account, lane, gas_spent, replayed }
        }))
    }

    /// A lane as it stands; `None` before its first transaction on the chain. One read.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn lane(&self, chain: ChainId, lane: Address) -> Result<Option<LaneState>, StoreError> {
        self.table.get(&lane_key(chain, lane)).await
    }

    /// One transaction. One read.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn get(&self, slot: &Slot) -> Result<Option<Transaction>, StoreError> {
        self.table.get(&transaction_key(slot)).await
    }

    /// A lane's open transactions, by nonce. One read.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn open(&self, chain: ChainId, lane: Address, state: &LaneState) -> Result<Vec<Transaction>, StoreError> {
        let slots = state.open.iter().map(|&nonce| Slot { chain, lane, nonce });
        let mut open: Vec<Transaction> = self.table.get_many(slots.map(|slot| transaction_key(&slot))).await?;
        open.sort_by_key(|transaction| transaction.slot.nonce);
        Ok(open)
    }
}
