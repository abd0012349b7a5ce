use super::rows::{AccountState, LaneState, ReplayKey, ReplayedRequest, Slot, Transaction};
use crate::{
    model::{Address, ArtistId, ChainId},
    store::{
        artists::{Artist, profile_key},
        table::{StoreError, Table},
        transactions::rows::{account_key, gas_key, lane_key, replay_key, transaction_key},
    },
};
use serde::Deserialize;

/// Length of a gas budget's day, in seconds.
pub const DAY: u64 = 24 * 60 * 60;

/// Transactions of all lanes.
#[derive(Clone)]
pub struct Transactions {
    pub(super) table: Table,
}

/// State of a caller before a write.
#[derive(Clone, Debug)]
pub struct CallerState {
    /// The artist.
    pub artist: Artist,
    /// Their account on the target chain.
    pub account: AccountState,
    /// Their lane, if the guess was right.
    pub lane: Option<LaneState>,
    /// Gas granted to the artist on the chain today.
    pub gas_spent: u64,
    /// Earlier request with the same idempotency key.
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
    /// An answer stored after its request's row was deleted.
    Other(serde::de::IgnoredAny),
}

impl Transactions {
    /// Uses the artist table.
    pub fn new(artists: Table) -> Self {
        Self { table: artists }
    }

    /// Returns the state of a caller, with the lane if `guess` is right; `None` if there is no such artist. One read.
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

    /// Returns a lane's state; `None` before its first transaction on the chain. One read.
    pub async fn lane(&self, chain: ChainId, lane: Address) -> Result<Option<LaneState>, StoreError> {
        self.table.get(&lane_key(chain, lane)).await
    }

    /// Returns a transaction. One read.
    pub async fn get(&self, slot: &Slot) -> Result<Option<Transaction>, StoreError> {
        self.table.get(&transaction_key(slot)).await
    }

    /// Returns a lane's open transactions by nonce. One read.
    pub async fn open(&self, chain: ChainId, lane: Address, state: &LaneState) -> Result<Vec<Transaction>, StoreError> {
        let slots = state.open.iter().map(|&nonce| Slot { chain, lane, nonce });
        let mut open: Vec<Transaction> = self.table.get_many(slots.map(|slot| transaction_key(&slot))).await?;
        open.sort_by_key(|transaction| transaction.slot.nonce);
        Ok(open)
    }
}
