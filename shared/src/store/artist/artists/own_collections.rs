use super::artist::Artists;
use crate::{
    model::{ArtistId, ChainId, OwnCollection},
    store::{artist::rows, engine::table::StoreError},
};

impl Artists {
    /// Returns the artist's own collection on a chain, if it was ever needed. One read.
    pub async fn own_collection(&self, artist: ArtistId, chain: ChainId) -> Result<Option<OwnCollection>, StoreError> {
        self.0.get(&rows::own_collection(artist, chain)).await
    }

    /// Makes this the artist's own collection, unless there is one by now. Returns the one that it is. At most one write
    /// and one read.
    pub async fn claim_own_collection(
        &self,
        artist: ArtistId,
        chain: ChainId,
        collection: OwnCollection,
    ) -> Result<OwnCollection, StoreError> {
        let row = self.0.insertion(&rows::own_collection(artist, chain), &collection)?;
        if self.0.write_together(vec![row]).await? {
            return Ok(collection);
        }
        Ok(self.own_collection(artist, chain).await?.unwrap_or(collection))
    }
}
