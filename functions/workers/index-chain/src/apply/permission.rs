//! Permissions on moments and, with token id 0, on whole collections.

use alloy::primitives::{Address, U256};
use shared::{
    model::{self, MAX_ADMINS},
    store::{StoreError, chain::TimelineSubject},
};

use super::Applier;
use crate::event::Position;

impl Applier<'_> {
    pub(super) async fn permissions_set(
        &mut self,
        at: &Position,
        collection: Address,
        (token, account): (U256, Address),
        mask: U256,
        is_admin: bool,
    ) -> Result<(), StoreError> {
        let place = self.place(collection, token);
        let Some(mut collection) = self.work.collection(self.chain.id, place.collection).await? else { return Ok(()) };
        // A factory keeps its permissions after the set-up and never uses them again.
        if self.factories.contains(&account) {
            return Ok(());
        }
        self.tell_permissions(at, &collection, (token, account), mask, is_admin)?;
        let account = account.into();
        if token.is_zero() {
            self.work.put_administered(self.chain.id, place.collection, account, is_admin)?;
            if list_admin(&mut collection.admins, account, is_admin) {
                collection.updated_at = at.time;
                self.work.put_collection(&collection)?;
                self.work.relist(self.chain.id, TimelineSubject::Of(collection.address)).await?;
            }
            return Ok(());
        }
        let admins = match self.work.moment(&place).await? {
            Some(moment) => moment.admins,
            None => self.work.early_settings(&place).await?.unwrap_or_default().admins,
        };
        // Other permissions, such as a minter's, appear in no list.
        if admins.binary_search(&account).is_ok() == is_admin {
            return Ok(());
        }
        self.change_moment(at, &place, &collection, |_, settings| {
            list_admin(&mut settings.admins, account, is_admin);
        })
        .await?;
        self.relist(&place).await
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
