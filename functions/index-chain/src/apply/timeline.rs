//! Timelines: which moments are in which. What concerns many moments at once, such as a collection's new admin, a
//! creator's new name or a document that comes, is kept and done later, so many moments at a time.

use std::collections::HashMap;

use shared::{
    model::{Address, ChainId, Collection, ContentType, Moment, MomentRef},
    store::{ArrivedDocument, Artists, Concerned, Documents, Listing, StoreError, Timelines, Unit},
};

use super::Applier;

/// Most moments whose timelines are changed in one batch for one thing and for all: the rest is for the next.
const MAX_FOR_ONE: u64 = 500;
const MAX_FOR_ALL: u64 = 2_000;

/// Most documents that came, and most other things, looked at in one batch.
const MAX_CAUSES: u16 = 500;

impl Applier<'_> {
    /// Puts a new moment into its timelines.
    pub(super) async fn list_new(&mut self, moment: &Moment, collection: &Collection) -> Result<(), StoreError> {
        let curated = self.names.get(&moment.creator).is_some_and(|name| !name.is_empty());
        let listing = Listing::new(moment, collection, self.content_type(&moment.uri), curated);
        self.unit.list_new(&moment.place(), &listing).await
    }

    /// Puts a moment into other timelines, if its admins or its URI changed.
    pub(super) async fn relist(&mut self, place: &MomentRef) -> Result<(), StoreError> {
        let Some((mut listing, moment)) = with_admins(self.unit, place).await? else { return Ok(()) };
        if listing.uri != moment.uri {
            self.unit.note(place, &Concerned::With(Documents::uri_hash(&moment.uri))).await?;
            listing.content_type = self.content_type(&moment.uri);
            listing.uri = moment.uri;
        }
        self.unit.list(place, &listing).await
    }

    fn content_type(&self, uri: &str) -> Option<ContentType> {
        self.content_types.get(uri).copied()
    }
}

/// Tells moments what documents that have come say of their content.
pub(super) async fn tell_arrived(unit: &mut Unit, documents: &Documents, chain: ChainId) -> Result<(), StoreError> {
    let mut looked_at = 0;
    for mut arrived in documents.arrived(chain, MAX_CAUSES).await? {
        let concerned = Concerned::With(arrived.uri_hash.clone());
        let room = MAX_FOR_ONE.min(MAX_FOR_ALL.saturating_sub(looked_at));
        let (moments, is_all) = unit.concerned(chain, &concerned, arrived.told, room).await?;
        for moment in &moments {
            tell(unit, moment, &arrived).await?;
        }
        looked_at += moments.len() as u64;
        arrived.told += moments.len() as u64;
        unit.set_told(chain, &arrived, is_all)?;
    }
    Ok(())
}

async fn tell(unit: &mut Unit, moment: &MomentRef, arrived: &ArrivedDocument) -> Result<(), StoreError> {
    let Some(mut listing) = unit.listing(moment).await? else { return Ok(()) };
    if Documents::uri_hash(&listing.uri) == arrived.uri_hash {
        listing.content_type = Some(arrived.content_type);
        unit.list(moment, &listing).await?;
    }
    Ok(())
}

/// Lists anew what is due.
pub(super) async fn relist_due(
    unit: &mut Unit,
    timelines: &Timelines,
    artists: &Artists,
    chain: ChainId,
) -> Result<(), StoreError> {
    let (due, mut looked_at) = (timelines.relistings(chain, MAX_CAUSES).await?, 0);
    let creators = due.iter().filter_map(|relisting| match relisting.by {
        Concerned::By(creator) => Some(creator),
        _ => None,
    });
    let names = artists.usernames(&Vec::from_iter(creators)).await?;
    for mut relisting in due {
        let room = MAX_FOR_ONE.min(MAX_FOR_ALL.saturating_sub(looked_at));
        let (moments, is_all) = unit.concerned(chain, &relisting.by, relisting.done, room).await?;
        for moment in &moments {
            relist(unit, moment, &names).await?;
        }
        looked_at += moments.len() as u64;
        relisting.done += moments.len() as u64;
        unit.set_relisted(chain, &relisting, is_all)?;
    }
    Ok(())
}

/// Lists a moment anew, with the admins that it has now and the names that are known.
async fn relist(unit: &mut Unit, place: &MomentRef, names: &HashMap<Address, String>) -> Result<(), StoreError> {
    let Some((mut listing, _)) = with_admins(unit, place).await? else { return Ok(()) };
    listing.curated = names.get(&listing.creator).map_or(listing.curated, |name| !name.is_empty());
    unit.list(place, &listing).await
}

/// A moment as it is, and its listing with the admins that it has now. `None` for one that isn't listed.
async fn with_admins(unit: &mut Unit, place: &MomentRef) -> Result<Option<(Listing, Moment)>, StoreError> {
    let Some(mut listing) = unit.listing(place).await? else { return Ok(None) };
    let Some(moment) = unit.moment(place).await? else { return Ok(None) };
    let Some(collection) = unit.collection(place.chain, place.collection).await? else { return Ok(None) };
    listing.set_admins(&moment, &collection);
    Ok(Some((listing, moment)))
}
