//! Moments that their admins hid, one partition for each chain. What the operator hid is apart, in `moderation`.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{artist::Artists, outbox::Outbox};
use crate::{
    model::{Address, ArtistChange, ArtistId, ChainId, MomentRef, TokenId},
    store::{
        artist::rows,
        engine::table::{PrimaryKey, StoreError},
    },
};

#[derive(Serialize, Deserialize)]
struct HiddenRow {
    collection: Address,
    token: TokenId,
    artist_id: ArtistId,
}

impl Artists {
    /// Hides a moment, or shows it again: the mark, and the message to the index. One transaction.
    pub async fn hide(&self, artist: ArtistId, moment: &MomentRef, is_hidden: bool) -> Result<(), StoreError> {
        let MomentRef { chain, collection, token } = *moment;
        let row = HiddenRow { collection, token, artist_id: artist };
        let key = hidden_key(moment);
        let change = if is_hidden { self.0.replacement(&key, &row)? } else { self.0.deletion(&key)? };
        let message = ArtistChange::MomentHidden { chain, collection, token };
        let writes = vec![change, Outbox::new(self.0.clone()).posting(artist, message)?];
        self.0.write_together(writes).await.map(drop)
    }

    /// Returns the artist who hid a moment. One read.
    pub async fn hidden_by(&self, moment: &MomentRef) -> Result<Option<ArtistId>, StoreError> {
        let row: Option<HiddenRow> = self.0.get(&hidden_key(moment)).await?;
        Ok(row.map(|row| row.artist_id))
    }

    /// Returns all hidden moments of a chain, with who hid them: for the indexer's start, never for a request.
    pub async fn hidden_moments(&self, chain: ChainId) -> Result<HashMap<MomentRef, ArtistId>, StoreError> {
        let rows: Vec<HiddenRow> = self.0.partition(rows::hidden_moments(chain)).await?;
        let place = |row: &HiddenRow| MomentRef { chain, collection: row.collection, token: row.token };
        Ok(rows.iter().map(|row| (place(row), row.artist_id)).collect())
    }
}

fn hidden_key(moment: &MomentRef) -> PrimaryKey {
    rows::hidden_moment(moment.chain, moment.collection, moment.token)
}
