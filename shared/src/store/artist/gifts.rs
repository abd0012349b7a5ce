//! Moments that were given to mail addresses, until the chain says so. Rows: docs/data-model.md, Mails of news.

use serde::{Deserialize, Serialize};

use crate::{
    model::{Address, ArtistId, ChainId, Email, MomentRef, TokenId},
    store::{
        artist::rows,
        engine::table::{ArtistTable, PrimaryKey, StoreError, putting},
    },
};

/// How long a gift waits for its event, in seconds.
const KEPT: u64 = 3 * 24 * 60 * 60;

/// A moment that was given to a mail address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gift {
    /// To whom; nobody may have signed in as it yet.
    pub artist_id: ArtistId,
    /// The account that gets it.
    pub wallet: Address,
    chain_id: ChainId,
    collection: Address,
    token_id: TokenId,
    /// Who gave it.
    pub from: Address,
    /// The mail address; `None` if it signed in before, and so is known by its artist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<Email>,
    expires_at: u64,
}

/// Gifts of all artists.
#[derive(Clone)]
pub struct Gifts(ArtistTable);

impl Gift {
    /// What the account `from` gives at `now` (Unix seconds) to an artist's `wallet`.
    pub fn new(
        (artist_id, wallet): (ArtistId, Address),
        moment: MomentRef,
        from: Address,
        email: Option<Email>,
        now: u64,
    ) -> Self {
        let MomentRef { chain, collection, token } = moment;
        let expires_at = now + KEPT;
        Self { artist_id, wallet, chain_id: chain, collection, token_id: token, from, email, expires_at }
    }

    /// The moment.
    pub fn moment(&self) -> MomentRef {
        MomentRef { chain: self.chain_id, collection: self.collection, token: self.token_id }
    }
}

impl Gifts {
    /// Uses the artist table.
    pub fn new(artists: ArtistTable) -> Self {
        Self(artists)
    }

    /// Stores gifts of one moment to different accounts. A write per 25.
    pub async fn add(&self, gifts: &[Gift]) -> Result<(), StoreError> {
        let rows = gifts.iter().map(|gift| putting(&key(gift.wallet, &gift.moment()), gift));
        self.0.write_many(rows.collect::<Result<_, _>>()?).await
    }

    /// Returns which of these accounts were given which of these moments. One read per 100; a row that can't be read counts
    /// as none.
    pub async fn of(&self, given: impl IntoIterator<Item = (Address, MomentRef)>) -> Result<Vec<Gift>, StoreError> {
        self.0.get_readable(given.into_iter().map(|(wallet, moment)| key(wallet, &moment))).await
    }
}

fn key(wallet: Address, moment: &MomentRef) -> PrimaryKey {
    rows::gift(wallet, moment.chain, moment.collection, moment.token)
}
