//! Timelines of moments. Changes that affect many moments, such as a collection's new admin, a creator's new name or a
//! fetched document, are queued and applied later in batches.

use std::collections::HashMap;

use shared::{
    model::{Address, ArtistId, ChainId, Collection, ContentType, Counts, Moment, MomentRef},
    store::{
        StoreError,
        artist::{Artists, Withheld},
        chain::{ArrivedDocument, Documents, Listing, TimelineSubject, Timelines},
        engine::UnitOfWork,
    },
};

use super::{applier::Applier, batch_limit::BatchLimit};

/// Most moments whose rows are read together. How many of them are relisted depends on the rows that they change.
const MAX_MOMENTS: u64 = 500;

/// Most fetched documents, and most other queued changes, in one batch.
const MAX_CHANGES: u16 = 500;

impl Applier<'_> {
    /// Adds a new moment to its timelines.
    pub(super) async fn list_new(&mut self, moment: &Moment, collection: &Collection) -> Result<(), StoreError> {
        let curated = self.names.get(&moment.creator).is_some_and(|name| !name.is_empty());
        let listing = Listing::new(moment, collection, self.content_type(&moment.uri), curated);
        self.work.list_new(&moment.place(), &listing).await?;
        self.count(moment, moment.created_at, Counts { created: 1, ..Counts::default() }, None).await
    }

    /// Updates a moment's timelines after a change of its admins or its URI.
    pub(super) async fn relist(&mut self, place: &MomentRef) -> Result<(), StoreError> {
        let Some((mut listing, moment)) = with_admins(self.work, place).await? else { return Ok(()) };
        if listing.uri != moment.uri {
            self.work.note(place, &TimelineSubject::With(Documents::uri_hash(&moment.uri))).await?;
            listing.content_type = self.content_type(&moment.uri);
            listing.uri = moment.uri;
        }
        self.work.list(place, &listing).await
    }

    fn content_type(&self, uri: &str) -> Option<ContentType> {
        self.content_types.get(uri).copied()
    }
}

/// Sets the content types of fetched documents on their moments.
pub(super) async fn apply_documents(
    work: &mut UnitOfWork,
    documents: &Documents,
    chain: ChainId,
    limit: BatchLimit,
) -> Result<(), StoreError> {
    for mut arrived in documents.arrived(chain, MAX_CHANGES).await? {
        if limit.is_reached(work) {
            break;
        }
        let subject = TimelineSubject::With(arrived.uri_hash.clone());
        let (moments, is_all) = work.concerned(chain, &subject, arrived.retyped, MAX_MOMENTS).await?;
        let first = arrived.retyped;
        for moment in &moments {
            set_content_type(work, moment, &arrived).await?;
            arrived.retyped += 1;
            if limit.is_reached(work) {
                break;
            }
        }
        let is_done = is_all && arrived.retyped == first + moments.len() as u64;
        work.set_retyped(chain, &arrived, is_done)?;
    }
    Ok(())
}

async fn set_content_type(
    work: &mut UnitOfWork,
    moment: &MomentRef,
    arrived: &ArrivedDocument,
) -> Result<(), StoreError> {
    let Some(mut listing) = work.listing(moment).await? else { return Ok(()) };
    if Documents::uri_hash(&listing.uri) == arrived.uri_hash {
        listing.content_type = Some(arrived.content_type);
        work.list(moment, &listing).await?;
    }
    Ok(())
}

/// Moves a moment to the timelines of hidden moments, or back.
pub(super) async fn set_hidden(
    work: &mut UnitOfWork,
    place: &MomentRef,
    hidden_by: Option<ArtistId>,
) -> Result<(), StoreError> {
    let Some(mut moment) = work.moment(place).await? else { return Ok(()) };
    moment.hidden_by = hidden_by;
    store_visibility(work, &moment).await
}

/// Takes a moment out of every timeline, or puts it back, as the operator decided.
pub(super) async fn withhold(work: &mut UnitOfWork, place: &MomentRef, withheld: &Withheld) -> Result<(), StoreError> {
    let Some(mut moment) = work.moment(place).await? else { return Ok(()) };
    let is_withheld = withheld.has(place, moment.creator);
    if moment.is_withheld == is_withheld {
        return Ok(());
    }
    moment.is_withheld = is_withheld;
    store_visibility(work, &moment).await
}

/// Stores a moment, and lists it where those that are as visible are.
async fn store_visibility(work: &mut UnitOfWork, moment: &Moment) -> Result<(), StoreError> {
    work.put_moment(moment)?;
    let place = moment.place();
    let Some(mut listing) = work.listing(&place).await? else { return Ok(()) };
    listing.set_hidden(moment);
    work.list(&place, &listing).await
}

/// Relists moments of queued changes.
pub(super) async fn relist_due(
    work: &mut UnitOfWork,
    timelines: &Timelines,
    artists: &Artists,
    withheld: &Withheld,
    chain: ChainId,
    limit: BatchLimit,
) -> Result<(), StoreError> {
    let due = timelines.relistings(chain, MAX_CHANGES).await?;
    let creators = due.iter().filter_map(|relisting| match relisting.by {
        TimelineSubject::By(creator) => Some(creator),
        _ => None,
    });
    let creators = Vec::from_iter(creators);
    let mut names = artists.usernames(&creators).await?;
    // A wallet that belongs to no artist any more has no name.
    for creator in creators {
        names.entry(creator).or_default();
    }
    for mut relisting in due {
        if limit.is_reached(work) {
            break;
        }
        let (moments, is_all) = work.concerned(chain, &relisting.by, relisting.done, MAX_MOMENTS).await?;
        let first = relisting.done;
        for moment in &moments {
            withhold(work, moment, withheld).await?;
            relist(work, moment, &names).await?;
            relisting.done += 1;
            if limit.is_reached(work) {
                break;
            }
        }
        let is_done = is_all && relisting.done == first + moments.len() as u64;
        work.set_relisted(chain, &relisting, is_done)?;
    }
    Ok(())
}

/// Relists a moment with its current admins and, if its creator is in `names`, by the creator's name, which may be empty.
async fn relist(work: &mut UnitOfWork, place: &MomentRef, names: &HashMap<Address, String>) -> Result<(), StoreError> {
    let Some((mut listing, _)) = with_admins(work, place).await? else { return Ok(()) };
    listing.curated = names.get(&listing.creator).map_or(listing.curated, |name| !name.is_empty());
    work.list(place, &listing).await
}

/// A moment and its listing with the current admins; `None` for a moment that isn't listed.
async fn with_admins(work: &mut UnitOfWork, place: &MomentRef) -> Result<Option<(Listing, Moment)>, StoreError> {
    let Some(mut listing) = work.listing(place).await? else { return Ok(None) };
    let Some(moment) = work.moment(place).await? else { return Ok(None) };
    let Some(collection) = work.collection(place.chain, place.collection).await? else { return Ok(None) };
    listing.set_admins(&moment, &collection);
    Ok(Some((listing, moment)))
}
