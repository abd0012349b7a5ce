//! Groups of moments, or of collections, that are listed again after a change that affects all of them. Rows:
//! docs/data-model.md, Timelines.

use serde::{Deserialize, Serialize};

use super::{
    collection_lists::ListedCollection,
    moments::{collection_key, moment_key},
};
use crate::{
    model::{Address, ChainId, MomentRef, TokenId},
    store::{
        chain::rows,
        engine::{
            index::UnitOfWork,
            structures::numbered_list::length_key,
            table::{PrimaryKey, StoreError},
        },
    },
};

/// A group to list again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relisting {
    /// The group.
    pub by: TimelineSubject,
    /// Number of moments already done.
    pub done: u64,
    /// Number of moments that were done when something changed once more: these are listed again in the end.
    #[serde(default)]
    again: u64,
    /// Number of the moment where it ends; after the group's last one without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end: Option<u64>,
}

/// A group of moments or collections that a change affects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TimelineSubject {
    /// Moments of a collection.
    Of(Address),
    /// Moments that an account created.
    By(Address),
    /// Moments whose metadata URI has, or once had, this hash.
    With(String),
    /// Moments and collections that an account is, or once was, an admin of.
    AdministeredBy(Address),
    /// Collections that an account created.
    CollectionsOf(Address),
}

#[derive(Serialize, Deserialize)]
pub(super) struct NotedRow {
    collection: Address,
    token_id: TokenId,
}

impl NotedRow {
    pub(super) fn place(self, chain: ChainId) -> MomentRef {
        MomentRef { chain, collection: self.collection, token: self.token_id }
    }
}

impl UnitOfWork {
    /// Adds a moment to a group.
    pub async fn note(&mut self, moment: &MomentRef, by: &TimelineSubject) -> Result<(), StoreError> {
        let member = NotedRow { collection: moment.collection, token_id: moment.token };
        self.append(&by.partition(moment.chain), &member).await.map(drop)
    }

    /// Returns moments or whole collections of a group from number `first` on, and whether it ends there. Prefetches
    /// their rows.
    pub async fn concerned(
        &mut self,
        chain: ChainId,
        by: &TimelineSubject,
        first: u64,
        limit: u64,
    ) -> Result<(Vec<MomentRef>, bool), StoreError> {
        let partition = by.partition(chain);
        if let TimelineSubject::CollectionsOf(_) = by {
            let (listed, is_all) = self.numbered::<ListedCollection>(&partition, first, limit).await?;
            self.prefetch(listed.iter().map(|listed| collection_key(chain, listed.address))).await?;
            return Ok((listed.into_iter().map(|listed| MomentRef::whole(chain, listed.address)).collect(), is_all));
        }
        let (members, is_all) = self.numbered::<NotedRow>(&partition, first, limit).await?;
        let moments: Vec<MomentRef> = members.into_iter().map(|noted| noted.place(chain)).collect();
        self.prefetch(moments.iter().flat_map(|moment| [rows::listing(moment), moment_key(moment)])).await?;
        Ok((moments, is_all))
    }

    /// Schedules a group to be listed again, however large it is. One that is being listed goes on, and begins again after that.
    pub async fn relist(&mut self, chain: ChainId, by: TimelineSubject) -> Result<(), StoreError> {
        let relisting = match self.relisting(chain, &by).await? {
            Some(Relisting { by, done, .. }) => Relisting { by, done, again: done, end: None },
            None => Relisting { by, done: 0, again: 0, end: None },
        };
        let (_, is_none) = self.concerned(chain, &relisting.by, 0, 0).await?;
        if is_none { Ok(()) } else { self.set_relisted(chain, relisting, false) }
    }

    /// Loads what [`Self::relist`] reads of groups. One read per 100 rows.
    pub async fn prefetch_relistings(&mut self, chain: ChainId, groups: &[TimelineSubject]) -> Result<(), StoreError> {
        let partitions = groups.iter().map(|by| by.partition(chain));
        let keys = partitions.flat_map(|of| [rows::relisting(chain, &of), length_key(&of)]);
        self.prefetch(keys).await
    }

    /// Returns the progress of a relisting; `None` if none is due.
    pub async fn relisting(&mut self, chain: ChainId, by: &TimelineSubject) -> Result<Option<Relisting>, StoreError> {
        self.get(&rows::relisting(chain, &by.partition(chain))).await
    }

    /// Returns the next members of a relisting, and whether it ends with them. Reads as [`Self::concerned`].
    pub async fn to_relist(
        &mut self,
        chain: ChainId,
        Relisting { by, done, end, .. }: &Relisting,
        limit: u64,
    ) -> Result<(Vec<MomentRef>, bool), StoreError> {
        let left = end.map(|end| end.saturating_sub(*done));
        let (moments, is_all) = self.concerned(chain, by, *done, left.map_or(limit, |left| left.min(limit))).await?;
        Ok((moments, is_all || left.is_some_and(|left| left <= limit)))
    }

    /// Stores the progress of a relisting; when it is done, that of what it has to begin again, if anything.
    pub fn set_relisted(&mut self, chain: ChainId, relisting: Relisting, is_done: bool) -> Result<(), StoreError> {
        let key = rows::relisting(chain, &relisting.by.partition(chain));
        match relisting {
            Relisting { by, again, .. } if is_done && again > 0 => {
                self.put(&key, &Relisting { by, done: 0, again: 0, end: Some(again) })
            }
            relisting if !is_done => self.put(&key, &relisting),
            _ => {
                self.delete(&key);
                Ok(())
            }
        }
    }
}

impl TimelineSubject {
    pub(super) fn partition(&self, chain: ChainId) -> String {
        match self {
            Self::Of(collection) => rows::moments_of(chain, *collection),
            Self::By(creator) => rows::moments_by(chain, *creator),
            Self::AdministeredBy(account) => rows::administered_by(chain, *account),
            Self::With(uri_hash) => rows::moments_with(chain, uri_hash),
            Self::CollectionsOf(creator) => rows::collections_of_creator(chain, *creator),
        }
    }
}

/// Key that noting what an account administers reads, for prefetching.
pub fn admin_notes_key(chain: ChainId, account: Address) -> PrimaryKey {
    length_key(&TimelineSubject::AdministeredBy(account).partition(chain))
}
