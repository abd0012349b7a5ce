//! To whom it is attributed what one account creates in another's name. What many events need is read together, and what
//! they decide is written together, before their batch is committed.

use std::collections::HashMap;

use shared::{
    model::{Address, EventId},
    store::{
        StoreError,
        artist::{Artists, NewAttribution},
    },
};

use super::names::Names;

/// An account created something in another's name.
#[derive(Clone, Copy)]
pub struct Creation {
    /// The event.
    pub id: EventId,
    pub named: Address,
    pub sender: Address,
    /// Unix time in seconds.
    pub time: u64,
}

/// Creators that were decided before, and those that are decided now.
pub struct Creators<'a> {
    artists: &'a Artists,
    /// What is older is who was named's, unless it was decided.
    since: u64,
    /// `None` for what wasn't decided.
    kept: HashMap<EventId, Option<Address>>,
    decided: Vec<NewAttribution>,
}

impl<'a> Creators<'a> {
    /// Nothing is known yet. `since` is when deciding began, in Unix seconds.
    pub fn of(artists: &'a Artists, since: u64) -> Self {
        Self { artists, since, kept: HashMap::new(), decided: Vec::new() }
    }

    /// Asks for what these need and wasn't asked for. Three reads per 100.
    pub async fn learn(&mut self, names: &mut Names<'_>, creations: &[Creation]) -> Result<(), StoreError> {
        let new = creations.iter().filter(|it| it.named != it.sender && !self.kept.contains_key(&it.id));
        let new: Vec<Creation> = new.copied().collect();
        if new.is_empty() {
            return Ok(());
        }
        let mut kept = self.artists.attributed(&Vec::from_iter(new.iter().map(|it| it.id))).await?;
        self.kept.extend(new.iter().map(|it| (it.id, kept.remove(&it.id))));
        let is_undecided = |it: &&Creation| self.kept.get(&it.id).is_none_or(Option::is_none);
        let undecided = new.iter().filter(|it| it.time >= self.since).filter(is_undecided);
        let pairs: Vec<_> = undecided.map(|it| (it.sender, it.named)).collect();
        names.learn_senders(&pairs).await
    }

    /// The creator: who was named, unless that is an artist's account and the sender is neither theirs nor accepted. Reads
    /// nothing that was asked for.
    pub async fn creator(&mut self, names: &mut Names<'_>, creation: Creation) -> Result<Address, StoreError> {
        let Creation { id, named, sender, time } = creation;
        if named == sender {
            return Ok(named);
        }
        self.learn(names, &[creation]).await?;
        if let Some(creator) = self.kept.get(&id).copied().flatten() {
            return Ok(creator);
        }
        if time < self.since {
            return Ok(named);
        }
        names.learn_senders(&[(sender, named)]).await?;
        let creator = if names.may_create(sender, named) { named } else { sender };
        self.kept.insert(id, Some(creator));
        self.decided.push(NewAttribution { creation: id, named, creator });
        Ok(creator)
    }

    /// Keeps what was decided. A transaction per 100.
    pub async fn keep(&mut self) -> Result<(), StoreError> {
        self.artists.keep_attributions(&self.decided).await?;
        self.decided.clear();
        Ok(())
    }
}
