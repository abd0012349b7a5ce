//! What the operator decides about artists: of those who are hidden nobody else sees the name and the profile.

use aws_sdk_dynamodb::types::TransactWriteItem;

use super::{
    artist::Artists,
    outbox::Outbox,
    profile::{Profile, Revision},
};
use crate::{
    model::{ArtistChange, ArtistId, Event},
    store::engine::table::StoreError,
};

/// A condition of the decision's own writes failed.
#[derive(Clone, Copy)]
struct Refused;

impl Artists {
    /// Makes a decision's `change` of a profile together with `decision`, its writes, and `told`, its events. Returns `false`
    /// if one of the writes has a condition that fails, or the artist is gone. One read and one transaction.
    pub(in crate::store::artist) async fn moderate(
        &self,
        artist: ArtistId,
        (decision, told): (&[TransactWriteItem], &[Event]),
        now: u64,
        change: impl Fn(&mut Profile),
    ) -> Result<bool, StoreError> {
        let outbox = Outbox::new(self.0.clone());
        let revised = self.revise(artist, now, Refused, |profile| {
            let was_withheld = profile.is_withheld;
            change(profile);
            let mut writes: Vec<_> = decision.iter().map(|write| (write.clone(), Some(Refused))).collect();
            if profile.is_withheld != was_withheld {
                writes.extend(self.show_name(profile, &profile.username)?.into_iter().map(|write| (write, None)));
                writes.push((outbox.posting_decision(artist, ArtistChange::Renamed)?, None));
            }
            Ok(Revision::Tell(writes, told.to_vec()))
        });
        Ok(revised.await?.is_ok())
    }
}
