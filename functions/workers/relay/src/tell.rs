//! Words that are found after outcomes without them were stored.

use std::collections::HashSet;

use shared::store::artist::Slot;

use crate::{
    chain::Leadership,
    error::{RelayError, ensure_leader},
    lane::Lane,
    outcome::shortened,
    words::{Explained, UNEXPLAINED, Words},
};

/// Adds the words that were found meanwhile to endings that wait, and to those that are stored. One write for each
/// batch of the former, one for each of the latter.
pub(crate) async fn explain(
    leadership: Leadership<'_>,
    lanes: &mut [Lane<'_>],
    words: &mut Words<'_>,
) -> Result<(), RelayError> {
    let mut changed: HashSet<Slot> = HashSet::new();
    for Explained { place: (slot, block), failed, reason } in words.take() {
        if reason == UNEXPLAINED {
            continue;
        }
        let (artist, id) = (failed.member.artist_id, failed.member.transaction_id);
        let Some(lane) = lanes.iter_mut().find(|lane| lane.address == slot.lane) else { continue };
        if lane.open.iter().any(|tracked| tracked.batch.slot == slot) {
            // Its outcomes aren't stored yet.
            continue;
        }
        let tracked = lane.unfinalized.iter_mut().find(|tracked| tracked.batch.slot == slot);
        let waiting = tracked
            .filter(|tracked| tracked.batch.mined.is_some_and(|mined| mined.block_hash == block))
            .and_then(|tracked| tracked.batch.pending.iter_mut().find(|pending| pending.transaction_id == id));
        match waiting {
            Some(pending) if pending.reason != UNEXPLAINED => {}
            Some(pending) => {
                pending.reason = shortened(&reason);
                changed.insert(slot);
            }
            None => {
                let reasons = (UNEXPLAINED, &*reason);
                let now = leadership.now()?;
                leadership.transactions.explain((artist, id), (slot.into(), block), reasons, now).await?;
            }
        }
    }
    for tracked in lanes.iter().flat_map(|lane| &lane.unfinalized) {
        if changed.contains(&tracked.batch.slot) {
            ensure_leader(leadership.transactions.explain_batch(leadership.lease, &tracked.batch).await?)?;
        }
    }
    Ok(())
}
