//! To whom collections and moments are attributed that one account made in another's name. Decided once, with the
//! wallets and acceptances of that moment, and kept, so that an index that is made anew attributes them alike; only who
//! was named changes it, by accepting a collection. What is older than the first index that decides is who was named's.

use std::collections::{BTreeSet, HashMap};

use aws_sdk_dynamodb::types::TransactWriteItem;
use serde::{Deserialize, Serialize};

use super::{artist::Artists, outbox::Outbox};
use crate::{
    model::{AcceptanceEvent, Address, ArtistChange, ArtistId, Collection, Event, EventData, EventId},
    store::{
        artist::{rows, service_events::ServiceEvents},
        engine::table::{PrimaryKey, StoreError},
    },
};

/// Rows of one transaction at most.
const KEPT_TOGETHER: usize = 100;

/// Most senders whose collections an artist accepts in advance.
pub const MAX_ACCEPTED_SENDERS: usize = 100;

#[derive(Serialize, Deserialize)]
struct Attribution {
    creator: Address,
    /// Who was named, if it is somebody else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    named: Option<Address>,
    /// Who made it, once it was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    maker: Option<Address>,
}

/// The creator of what an account made in another's name, as it was just decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewAttribution {
    /// The event that made it.
    pub creation: EventId,
    /// The account that was named.
    pub named: Address,
    /// To whom it is attributed: that account, or who made it.
    pub creator: Address,
}

#[derive(Deserialize)]
struct AttributedRow {
    #[serde(flatten)]
    key: PrimaryKey,
    creator: Address,
}

/// From when on creators are decided, in Unix seconds.
#[derive(Serialize, Deserialize)]
struct Since {
    since: u64,
}

#[derive(Serialize, Deserialize)]
struct AcceptedSender {
    artist_id: ArtistId,
    sender: Address,
}

/// Why an acceptance is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceptanceRefusal {
    /// It wasn't made in the name of one of the wallets.
    NotNamed,
    /// There are too many.
    TooMany,
}

impl Artists {
    /// Returns from when on creators are decided, by the chain's Unix seconds: what is older stays with who was named, as it
    /// was shown before. The first caller's `now` stays for good. One read, and at first a write.
    pub async fn attributed_since(&self, now: u64) -> Result<u64, StoreError> {
        let key = rows::attributed_since();
        let known: Option<Since> = self.0.get(&key).await?;
        if let Some(Since { since }) = known {
            return Ok(since);
        }
        if self.0.write_together(vec![self.0.insertion(&key, &Since { since: now })?]).await? {
            return Ok(now);
        }
        let earlier: Option<Since> = self.0.get(&key).await?;
        Ok(earlier.ok_or(StoreError::Missing("the beginning of attributions"))?.since)
    }

    /// Returns the creators of what these events made, where they were decided. One read per 100.
    pub async fn attributed(&self, creations: &[EventId]) -> Result<HashMap<EventId, Address>, StoreError> {
        let creations = creations.iter().map(|creation| (rows::attribution(*creation), *creation));
        let mut creations: HashMap<PrimaryKey, EventId> = creations.collect();
        let kept: Vec<AttributedRow> = self.0.get_many(Vec::from_iter(creations.keys().cloned())).await?;
        Ok(kept.into_iter().filter_map(|row| Some((creations.remove(&row.key)?, row.creator))).collect())
    }

    /// Keeps creators that weren't decided before. Fails if another run decided otherwise meanwhile. One transaction per
    /// 100, and after each that another run's is in the way of, a read and another one.
    pub async fn keep_attributions(&self, decided: &[NewAttribution]) -> Result<(), StoreError> {
        for decided in decided.chunks(KEPT_TOGETHER) {
            let mut left = decided.to_vec();
            while !self.0.write_together(self.keeping(&left)?).await? {
                let kept = self.attributed(&Vec::from_iter(left.iter().map(|decided| decided.creation))).await?;
                let differs =
                    |it: &NewAttribution| kept.get(&it.creation).is_some_and(|creator| *creator != it.creator);
                if kept.is_empty() || left.iter().any(differs) {
                    return Err(StoreError::Contention("attributions"));
                }
                left.retain(|decided| !kept.contains_key(&decided.creation));
                if left.is_empty() {
                    break;
                }
            }
        }
        Ok(())
    }

    fn keeping(&self, decided: &[NewAttribution]) -> Result<Vec<TransactWriteItem>, StoreError> {
        let row = |NewAttribution { creation, named, creator }: &NewAttribution| {
            let named = (named != creator).then_some(*named);
            let kept = Attribution { creator: *creator, named, maker: None };
            self.0.insertion(&rows::attribution(*creation), &kept)
        };
        decided.iter().map(row).collect()
    }

    /// Who made a collection that was accepted since, and to whom it is attributed now. One read.
    pub async fn accepted(&self, collection: EventId) -> Result<Option<(Address, Address)>, StoreError> {
        let attribution: Option<Attribution> = self.0.get(&rows::attribution(collection)).await?;
        Ok(attribution.and_then(|kept| Some((kept.maker?, kept.creator))))
    }

    /// Attributes a collection to the wallet in whose name it was made, and tells the index and everybody at `now` (Unix
    /// seconds). May be repeated. Two reads and a transaction.
    pub async fn accept_collection(
        &self,
        artist: ArtistId,
        wallets: &[Address],
        collection: &Collection,
        now: u64,
    ) -> Result<Option<AcceptanceRefusal>, StoreError> {
        let key = rows::attribution(collection.id);
        let kept: Option<Attribution> = self.0.get(&key).await?;
        let named = kept.as_ref().and_then(|kept| kept.named).filter(|named| wallets.contains(named));
        let Some((kept, named)) = kept.zip(named) else { return Ok(Some(AcceptanceRefusal::NotNamed)) };
        let maker = kept.maker.unwrap_or(kept.creator);
        let accepted = Attribution { creator: named, named: Some(named), maker: Some(maker) };
        let (chain, address) = (collection.chain_id, collection.address);
        let message = ArtistChange::CollectionAccepted { chain, collection: address };
        let writes = vec![self.0.replacement(&key, &accepted)?, Outbox::new(self.0.clone()).posting(artist, message)?];
        let data = AcceptanceEvent { chain_id: chain, collection: address, sender: maker, account: named };
        let id = collection.id.of_its("acceptance");
        let event = Event { id, time: now, is_reverted: false, data: EventData::CollectionAccepted(data) };
        // It is told once.
        let events = if kept.maker.is_none() { vec![event] } else { Vec::new() };
        ServiceEvents::new(self.0.clone()).write_with_events(writes, &events, now).await?;
        Ok(None)
    }

    /// Those of these artists and senders where the artist accepted the sender. One read per 100.
    pub async fn accepting(
        &self,
        pairs: &BTreeSet<(ArtistId, Address)>,
    ) -> Result<BTreeSet<(ArtistId, Address)>, StoreError> {
        let keys = pairs.iter().map(|(artist, sender)| rows::accepted_sender(*artist, *sender));
        let accepted: Vec<AcceptedSender> = self.0.get_many(keys).await?;
        Ok(accepted.into_iter().map(|row| (row.artist_id, row.sender)).collect())
    }

    /// Accepts what a sender makes in the artist's name from now on, and its making the artist an admin. A Query and a
    /// transaction.
    pub async fn accept_sender(
        &self,
        artist: ArtistId,
        sender: Address,
    ) -> Result<Option<AcceptanceRefusal>, StoreError> {
        let known: Vec<AcceptedSender> = self.0.partition(rows::accepted_senders(artist)).await?;
        if known.iter().any(|known| known.sender == sender) {
            return Ok(None);
        }
        if known.len() >= MAX_ACCEPTED_SENDERS {
            return Ok(Some(AcceptanceRefusal::TooMany));
        }
        let row = AcceptedSender { artist_id: artist, sender };
        let put = self.0.replacement(&rows::accepted_sender(artist, sender), &row)?;
        let message = Outbox::new(self.0.clone()).posting(artist, ArtistChange::SenderAccepted)?;
        self.0.write_together(vec![put, message]).await?;
        Ok(None)
    }
}
