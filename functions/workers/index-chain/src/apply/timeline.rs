//! Timelines of moments. Changes that affect many moments, such as a collection's new admin, a creator's new name or a
//! fetched document, are queued and applied later in batches.

use shared::{
    model::{Address, ArtistId, ChainId, Collection, ContentType, Counts, Moment, MomentRef},
    store::{
        StoreError,
        artist::{Artists, Withheld},
        chain::{ArrivedDocument, Documents, Listing, Relisting, TimelineSubject, Timelines},
        engine::UnitOfWork,
    },
};

use super::{applier::Applier, batch_limit::BatchLimit, collection, names::Names};

/// Most moments, or collections, whose rows are read together. How many are relisted depends on the rows that they
/// change.
const MAX_MOMENTS: u64 = 500;

/// Most fetched documents, and most other queued changes, in one batch.
const MAX_CHANGES: u16 = 500;

/// A collection that was accepted from who made it.
#[derive(Clone, Copy)]
struct Given {
    created_at: u64,
    maker: Address,
    creator: Address,
}

impl Applier<'_> {
    /// Adds a new moment to its timelines.
    pub(super) async fn list_new(&mut self, moment: &Moment, collection: &Collection) -> Result<(), StoreError> {
        let mut listing = Listing::new(moment, self.content_type(&moment.uri));
        set_accounts(&mut listing, moment, collection, &mut self.names).await?;
        self.work.list_new(&moment.place(), &listing).await?;
        self.count(moment, moment.created_at, Counts { created: 1, ..Counts::default() }, None).await
    }

    /// Updates a moment's timelines after a change of its admins or its URI.
    pub(super) async fn relist(&mut self, place: &MomentRef) -> Result<(), StoreError> {
        let Some((mut listing, moment)) = as_it_is(self.work, place, &mut self.names).await? else { return Ok(()) };
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

/// Relists moments of queued changes, and hides or shows collections of theirs.
pub(super) async fn relist_due(
    work: &mut UnitOfWork,
    timelines: &Timelines,
    artists: &Artists,
    withheld: &Withheld,
    chain: ChainId,
    limit: BatchLimit,
) -> Result<(), StoreError> {
    let mut names = Names::of(artists);
    for Relisting { by, .. } in timelines.relistings(chain, MAX_CHANGES).await? {
        if limit.is_reached(work) {
            break;
        }
        // One that came before may have changed it.
        let Some(mut relisting) = work.relisting(chain, &by).await? else { continue };
        let (moments, is_all) = work.to_relist(chain, &relisting, MAX_MOMENTS).await?;
        let end = relisting.done + moments.len() as u64;
        let given = match by {
            TimelineSubject::Of(address) => given(work, artists, chain, address).await?,
            _ => None,
        };
        for moment in &moments {
            match by {
                // The collection's moments, whose number nobody bounds, are listed again in their turn.
                TimelineSubject::AdministeredBy(_) if moment.is_whole_collection() => {
                    work.relist(chain, TimelineSubject::Of(moment.collection)).await?;
                }
                TimelineSubject::CollectionsOf(_) => {
                    collection::withhold(work, chain, moment.collection, withheld).await?;
                }
                _ => {
                    attribute(work, moment, given).await?;
                    withhold(work, moment, withheld).await?;
                    relist(work, moment, &mut names).await?;
                }
            }
            relisting.done += 1;
            if limit.is_reached(work) {
                break;
            }
        }
        let is_done = is_all && relisting.done == end;
        work.set_relisted(chain, relisting, is_done)?;
    }
    Ok(())
}

/// When an accepted collection was created and who made it, and to whom it is attributed now.
async fn given(
    work: &mut UnitOfWork,
    artists: &Artists,
    chain: ChainId,
    address: Address,
) -> Result<Option<Given>, StoreError> {
    let Some(collection) = work.collection(chain, address).await? else { return Ok(None) };
    let accepted = artists.accepted(collection.id).await?;
    Ok(accepted.map(|(maker, creator)| Given { created_at: collection.created_at, maker, creator }))
}

/// Attributes a moment to who accepted its collection if it was made with it.
async fn attribute(work: &mut UnitOfWork, place: &MomentRef, given: Option<Given>) -> Result<(), StoreError> {
    let Some((given, mut moment)) = given.zip(work.moment(place).await?) else { return Ok(()) };
    if (moment.created_at, moment.creator) != (given.created_at, given.maker) {
        return Ok(());
    }
    moment.creator = given.creator;
    work.put_moment(&moment)?;
    work.note(place, &TimelineSubject::By(given.creator)).await?;
    let Some(mut listing) = work.listing(place).await? else { return Ok(()) };
    listing.creator = given.creator;
    work.list(place, &listing).await
}

/// Relists a moment by who its creator and its admins are now.
async fn relist(work: &mut UnitOfWork, place: &MomentRef, names: &mut Names<'_>) -> Result<(), StoreError> {
    let Some((listing, _)) = as_it_is(work, place, names).await? else { return Ok(()) };
    work.list(place, &listing).await
}

/// A moment and its listing by who its creator and its admins are now; `None` for a moment that isn't listed.
async fn as_it_is(
    work: &mut UnitOfWork,
    place: &MomentRef,
    names: &mut Names<'_>,
) -> Result<Option<(Listing, Moment)>, StoreError> {
    let Some(mut listing) = work.listing(place).await? else { return Ok(None) };
    let Some(moment) = work.moment(place).await? else { return Ok(None) };
    let Some(collection) = work.collection(place.chain, place.collection).await? else { return Ok(None) };
    set_accounts(&mut listing, &moment, &collection, names).await?;
    Ok(Some((listing, moment)))
}

/// Sets whether the creator has a name, and which admins are artists who want that: nobody else has timelines.
async fn set_accounts(
    listing: &mut Listing,
    moment: &Moment,
    collection: &Collection,
    names: &mut Names<'_>,
) -> Result<(), StoreError> {
    let admins: Vec<Address> = moment.admins.iter().chain(&collection.admins).copied().collect();
    names.learn(admins.iter().copied().chain([moment.creator, collection.creator])).await?;
    listing.curated = !names.name(moment.creator).is_empty();
    listing.set_others(names.willing(&admins, collection.creator).await?.into_iter());
    Ok(())
}
