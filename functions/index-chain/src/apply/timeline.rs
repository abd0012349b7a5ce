//! Timelines: which moments are in which, and what changes that besides the chain: documents that come.

use shared::{
    model::{ChainId, Collection, ContentType, Moment, MomentRef},
    store::{ArrivedDocument, Artists, Concerned, Documents, Listing, StoreError, Timelines, Unit},
};

use super::Applier;

/// Most moments whose timelines are changed in one run for what others found out: the rest is for the next.
const MAX_TOLD: u64 = 2_000;

/// Most documents, and most accounts, looked at in one run.
const MAX_ARRIVED: u16 = 500;

/// How many moments of a collection are looked at together.
const TOGETHER: u64 = 100;

impl Applier<'_> {
    /// Puts a new moment into its timelines.
    pub(super) async fn list_new(&mut self, moment: &Moment, collection: &Collection) -> Result<(), StoreError> {
        let curated = self.names.get(&moment.creator).is_some_and(|name| !name.is_empty());
        let listing = Listing::new(moment, collection, self.content_type(&moment.uri), curated);
        self.unit.list_new(&moment.place(), &listing).await
    }

    /// Puts a moment into other timelines, if its admins or its URI changed.
    pub(super) async fn relist(&mut self, place: &MomentRef) -> Result<(), StoreError> {
        let Some(mut listing) = self.unit.listing(place).await? else { return Ok(()) };
        let Some(moment) = self.unit.moment(place).await? else { return Ok(()) };
        let Some(collection) = self.unit.collection(place.chain, place.collection).await? else { return Ok(()) };
        listing.set_admins(&moment, &collection);
        if listing.uri != moment.uri {
            self.unit.note(place, &Concerned::With(Documents::uri_hash(&moment.uri))).await?;
            listing.content_type = self.content_type(&moment.uri);
            listing.uri = moment.uri;
        }
        self.unit.list(place, &listing).await
    }

    /// The same for every moment of a collection whose admins changed.
    pub(super) async fn relist_all(&mut self, collection: &Collection) -> Result<(), StoreError> {
        let (mut first, mut is_all) = (0, false);
        while !is_all {
            let moments;
            let concerned = Concerned::Of(collection.address);
            (moments, is_all) = self.unit.concerned(self.chain.id, &concerned, first, TOGETHER).await?;
            for moment in &moments {
                self.relist(moment).await?;
            }
            first += TOGETHER;
        }
        Ok(())
    }

    fn content_type(&self, uri: &str) -> Option<ContentType> {
        self.content_types.get(uri).copied()
    }
}

/// Tells moments what documents that have come say of their content. Gives how many moments were told.
pub(super) async fn tell_arrived(unit: &mut Unit, documents: &Documents, chain: ChainId) -> Result<u64, StoreError> {
    let mut told = 0;
    for mut arrived in documents.arrived(chain, MAX_ARRIVED).await? {
        if told >= MAX_TOLD {
            break;
        }
        let concerned = Concerned::With(arrived.uri_hash.clone());
        let (moments, is_all) = unit.concerned(chain, &concerned, arrived.told, MAX_TOLD - told).await?;
        for moment in &moments {
            tell(unit, moment, &arrived).await?;
        }
        // Looking is work too, even where nobody has the URI any more.
        told += 1 + moments.len() as u64;
        arrived.told += moments.len() as u64;
        unit.set_told(chain, &arrived, is_all)?;
    }
    Ok(told)
}

async fn tell(unit: &mut Unit, moment: &MomentRef, arrived: &ArrivedDocument) -> Result<(), StoreError> {
    let Some(mut listing) = unit.listing(moment).await? else { return Ok(()) };
    if Documents::uri_hash(&listing.uri) == arrived.uri_hash {
        listing.content_type = Some(arrived.content_type);
        unit.list(moment, &listing).await?;
    }
    Ok(())
}

/// Lists anew what accounts made that may have another name. Gives how many moments were looked at.
pub(super) async fn relist_renamed(
    unit: &mut Unit,
    timelines: &Timelines,
    artists: &Artists,
    chain: ChainId,
) -> Result<u64, StoreError> {
    let relistings = timelines.relistings(chain, MAX_ARRIVED).await?;
    let accounts: Vec<_> = relistings.iter().map(|relisting| relisting.account).collect();
    let names = artists.usernames(&accounts).await?;
    let mut looked_at = 0;
    for mut relisting in relistings {
        if looked_at >= MAX_TOLD {
            break;
        }
        let curated = names.get(&relisting.account).is_some_and(|name| !name.is_empty());
        let concerned = Concerned::By(relisting.account);
        let (moments, is_all) = unit.concerned(chain, &concerned, relisting.done, MAX_TOLD - looked_at).await?;
        for moment in &moments {
            if let Some(listing) = unit.listing(moment).await? {
                unit.list(moment, &Listing { curated, ..listing }).await?;
            }
        }
        looked_at += 1 + moments.len() as u64;
        relisting.done += moments.len() as u64;
        unit.set_relisted(chain, &relisting, is_all)?;
    }
    Ok(looked_at)
}
