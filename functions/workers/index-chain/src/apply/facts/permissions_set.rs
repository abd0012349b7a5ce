//! All permissions of an account on a moment or, with token id 0, on a whole collection.

use alloy::primitives::Address;
use shared::{
    model::{self, EventData, MAX_ADMINS},
    store::{
        StoreError,
        chain::{TimelineSubject, admin_notes_key, moment_key},
        engine::PrimaryKey,
    },
};

use crate::{
    apply::{applier::Applier, events, kind::Kind},
    event::{ChainEvent, PermissionsSet},
};

impl Kind for PermissionsSet {
    /// An artist's timelines change.
    fn names(&self) -> Option<Address> {
        Some(self.account)
    }

    fn uri(&self) -> Option<&str> {
        None
    }

    fn reads(&self, event: &ChainEvent, applier: &Applier<'_>) -> Vec<PrimaryKey> {
        let length = admin_notes_key(applier.chain.id, self.account.into());
        vec![moment_key(&applier.place(event.emitter, self.token)), length]
    }

    async fn apply(
        &self,
        ChainEvent { emitter, at, .. }: &ChainEvent,
        applier: &mut Applier<'_>,
        _done: u64,
    ) -> Result<Option<u64>, StoreError> {
        let place = applier.place(*emitter, self.token);
        let Some(mut collection) = applier.work.collection(place.chain, place.collection).await? else {
            return Ok(None);
        };
        // A factory keeps its permissions after the set-up and never uses them again.
        if applier.factories.contains(&self.account) {
            return Ok(None);
        }
        applier.emit(at, 0, EventData::PermissionChanged(events::permissions(at, &collection, self)))?;
        let (account, is_admin) = (self.account.into(), self.is_admin);
        if self.token.is_zero() {
            applier.work.put_administered(place.chain, place.collection, account, is_admin)?;
            if list_admin(&mut collection.admins, account, is_admin) {
                collection.updated_at = at.time;
                applier.work.put_collection(&collection)?;
                if is_admin {
                    applier.work.note(&place, &TimelineSubject::AdministeredBy(account)).await?;
                }
                if applier.names.is_artists(account) {
                    applier.work.relist(place.chain, TimelineSubject::Of(collection.address)).await?;
                }
            }
            return Ok(None);
        }
        let admins = match applier.work.moment(&place).await? {
            Some(moment) => moment.admins,
            None => applier.work.early_settings(&place).await?.unwrap_or_default().admins,
        };
        // Other permissions, such as a minter's, appear in no list.
        if admins.binary_search(&account).is_ok() == is_admin {
            return Ok(None);
        }
        applier
            .change_moment(at, &place, &collection, |settings| {
                list_admin(&mut settings.admins, account, is_admin);
            })
            .await?;
        // An admin of the collection is noted with it.
        if is_admin && collection.admins.binary_search(&account).is_err() {
            applier.work.note(&place, &TimelineSubject::AdministeredBy(account)).await?;
        }
        if applier.names.is_artists(account) {
            applier.relist(&place).await?;
        }
        Ok(None)
    }
}

/// Adds an account to a sorted list of admins, or removes it. Returns whether the list changed.
fn list_admin(admins: &mut Vec<model::Address>, account: model::Address, is_admin: bool) -> bool {
    match (admins.binary_search(&account), is_admin) {
        (Err(place), true) if admins.len() < MAX_ADMINS => admins.insert(place, account),
        (Ok(place), false) => {
            admins.remove(place);
        }
        _ => return false,
    }
    true
}
