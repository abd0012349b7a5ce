//! Which messages of the outbox each chain has stored. A message is deleted once every chain has it. Dead nodes keep
//! none waiting; a chain whose rows can't be written does, and holds up none but itself.

use std::{
    collections::{BTreeMap, BTreeSet},
    iter, mem,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use shared::{
    clock,
    model::{ArtistChanged, ChainId},
    store::{StoreError, artist::Outbox},
};
use uuid::Uuid;

/// Messages that are stored together.
const MESSAGES: usize = 100;

/// Age of the oldest message that every read finds, by its id.
const RECENT: Duration = Duration::from_secs(120);

/// Time between two reads of the whole outbox. They find messages that came later than that, or whose writer's clock is
/// slow.
const SWEEP_EVERY: Duration = Duration::from_secs(60);

/// The outbox, and which messages each chain has taken. A new process takes all that is left once more.
pub struct Deliveries {
    outbox: Outbox,
    taken: Mutex<BTreeMap<ChainId, Taken>>,
}

/// Messages that a chain has stored.
#[derive(Debug, Default)]
struct Taken {
    /// Those that are still in the outbox.
    ids: BTreeSet<Uuid>,
    /// Those of them that every chain has, but that this one couldn't delete.
    undeleted: Vec<Uuid>,
    /// When the whole outbox was read last, since the Unix epoch.
    swept: Option<Duration>,
}

impl Taken {
    /// Returns the first id to read from at `now`, since the Unix epoch: nil for the whole outbox.
    fn first(&self, now: Duration) -> Uuid {
        if self.swept.is_none_or(|at| now.saturating_sub(at) >= SWEEP_EVERY) {
            return Uuid::nil();
        }
        // A UUID v7 begins with its time in milliseconds, in 48 bits.
        Uuid::from_u128(now.saturating_sub(RECENT).as_millis() << 80)
    }
}

impl Deliveries {
    /// Deliveries to these chains.
    pub fn new(outbox: Outbox, chains: impl IntoIterator<Item = ChainId>) -> Self {
        let taken = chains.into_iter().map(|chain| (chain, Taken::default())).collect();
        Self { outbox, taken: Mutex::new(taken) }
    }

    /// Messages that the chain hasn't taken: those of decisions first where there are many, then the oldest. One Query per
    /// hundred.
    pub async fn pending(&self, chain: ChainId) -> Result<Vec<ArtistChanged>, StoreError> {
        // With a wrong clock, every read is of the whole outbox.
        let now = clock::now().unwrap_or_default();
        let state = self.with(|all| all.get(&chain).map(|taken| (taken.first(now), taken.ids.clone())));
        let Some((first, known)) = state else { return Ok(Vec::new()) };
        let messages = self.outbox.since(first, MESSAGES, &known).await?;
        if first.is_nil() && messages.len() < MESSAGES {
            self.with(|all| all.entry(chain).or_default().swept = Some(now));
        }
        if messages.len() < MESSAGES {
            return Ok(messages);
        }
        let mut taken = self.outbox.since(ArtistChanged::FIRST_DECISION, MESSAGES, &known).await?;
        taken.extend(messages.into_iter().filter(|message| message.id < ArtistChanged::FIRST_DECISION));
        Ok(taken)
    }

    /// Records that a chain has stored messages, and deletes those that every chain has, and those that a call before
    /// failed to delete. One write for each of these.
    pub async fn taken(&self, chain: ChainId, messages: &[ArtistChanged]) -> Result<(), StoreError> {
        let ids: Vec<Uuid> = messages.iter().map(|message| message.id).collect();
        let mut left = self.with(|all| take(all, chain, &ids)).into_iter();
        while let Some(id) = left.next() {
            if let Err(error) = self.outbox.remove(id).await {
                // They stay taken: nothing is carried out again.
                self.with(|all| all.entry(chain).or_default().undeleted = iter::once(id).chain(left).collect());
                return Err(error);
            }
            self.with(|all| forget(all, id));
        }
        Ok(())
    }

    fn with<T>(&self, act: impl FnOnce(&mut BTreeMap<ChainId, Taken>) -> T) -> T {
        act(&mut self.taken.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns the messages that every chain has taken now, after those that the chain couldn't delete before.
fn take(all: &mut BTreeMap<ChainId, Taken>, chain: ChainId, ids: &[Uuid]) -> Vec<Uuid> {
    let mut deletable = Vec::new();
    if let Some(taken) = all.get_mut(&chain) {
        taken.ids.extend(ids);
        deletable = mem::take(&mut taken.undeleted);
    }
    let is_everywhere = |id: &Uuid| all.values().all(|taken| taken.ids.contains(id));
    deletable.extend(ids.iter().copied().filter(is_everywhere));
    deletable
}

fn forget(all: &mut BTreeMap<ChainId, Taken>, id: Uuid) {
    for taken in all.values_mut() {
        taken.ids.remove(&id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(seconds: u128) -> Uuid {
        Uuid::from_u128((seconds * 1_000) << 80 | 7)
    }

    #[test]
    fn message_is_deleted_once_every_chain_has_taken_it_however_old_it_is() {
        let (live, slow) = (ChainId(1), ChainId(2));
        let mut all = BTreeMap::from([(live, Taken::default()), (slow, Taken::default())]);
        assert!(take(&mut all, live, &[id(5_000)]).is_empty());
        // The live chain hasn't seen it: it was written late.
        assert_eq!(take(&mut all, slow, &[id(1_000), id(5_000)]), [id(5_000)]);
        assert_eq!(take(&mut all, live, &[id(1_000)]), [id(1_000)]);
    }

    #[test]
    fn deleted_message_is_forgotten() {
        let mut all = BTreeMap::from([(ChainId(1), Taken::default())]);
        assert_eq!(take(&mut all, ChainId(1), &[id(1), id(2)]), [id(1), id(2)]);
        forget(&mut all, id(1));
        assert_eq!(all[&ChainId(1)].ids, BTreeSet::from([id(2)]));
    }

    #[test]
    fn whole_outbox_is_read_first_and_once_a_minute() {
        let at = Duration::from_secs;
        let mut taken = Taken::default();
        assert_eq!(taken.first(at(1_000)), Uuid::nil());
        taken.swept = Some(at(1_000));
        let first = taken.first(at(1_059));
        assert!(first > id(938) && first < id(939), "{first}");
        assert_eq!(taken.first(at(1_060)), Uuid::nil());
    }
}
