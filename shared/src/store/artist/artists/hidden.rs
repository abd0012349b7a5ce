//! Moments that their admins hid, one partition for each chain. What the operator hid is apart, in `moderation`.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{artist::Artists, outbox::Outbox};
use crate::{
    model::{Address, ArtistChange, ArtistId, ChainId, MomentRef, TokenId},
    store::{
        artist::{
            activities::{Activities, Activity},
            rows,
        },
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
    /// Hides a moment, or shows it again, for the artist who hid it: the mark, the message to the index and the
    /// activity of whoever asked. Without a change the message alone: the index then reads the mark again. A read and
    /// a transaction; two transactions without a change.
    pub async fn hide(
        &self,
        artist: ArtistId,
        moment: &MomentRef,
        is_hidden: bool,
        (asking, activity): (ArtistId, &Activity),
    ) -> Result<(), StoreError> {
        const ATTEMPTS: usize = 5;
        let MomentRef { chain, collection, token } = *moment;
        let row = HiddenRow { collection, token, artist_id: artist };
        let key = hidden_key(moment);
        let change = if is_hidden { self.0.insertion(&key, &row)? } else { self.0.removal(&key)? };
        let message = ArtistChange::MomentHidden { chain, collection, token };
        let message = Outbox::new(self.0.clone()).posting(artist, message)?;
        let activities = Activities::new(self.0.clone());
        for _ in 0..ATTEMPTS {
            let mut writes = vec![change.clone(), message.clone()];
            writes.extend(activities.recording_newest(asking, activity).await?);
            match self.0.write_or_failed(writes).await? {
                Ok(()) => return Ok(()),
                Err(failed) if failed.contains(&0) => return self.0.write_together(vec![message]).await.map(drop),
                // Another change of the moment was faster.
                Err(_) => {}
            }
        }
        Err(StoreError::Contention("a day's activities"))
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
