//! Artists whom the operator hides: nobody else sees their names and profiles.

use aws_sdk_dynamodb::types::TransactWriteItem;

use super::{artist::Artists, outbox::Outbox, profile::Revision};
use crate::{
    model::{ArtistChange, ArtistId},
    store::engine::table::StoreError,
};

/// A condition of the decision's own writes failed.
#[derive(Clone, Copy)]
struct Refused;

impl Artists {
    /// Hides an artist, or shows them again, together with `decision`, the writes of the decision. Returns `false` if one of
    /// these has a condition that fails, or the artist is gone. One read and one transaction.
    pub(in crate::store::artist) async fn withhold(
        &self,
        artist: ArtistId,
        is_withheld: bool,
        decision: &[TransactWriteItem],
        now: u64,
    ) -> Result<bool, StoreError> {
        let outbox = Outbox::new(self.0.clone());
        let revised = self.revise(artist, now, Refused, |profile| {
            profile.is_withheld = is_withheld;
            let mut writes: Vec<_> = decision.iter().map(|write| (write.clone(), Some(Refused))).collect();
            writes.extend(self.show_name(profile, &profile.username)?.into_iter().map(|write| (write, None)));
            writes.push((outbox.posting(artist, ArtistChange::Renamed)?, None));
            Ok(Revision::Write(writes))
        });
        Ok(revised.await?.is_ok())
    }
}
