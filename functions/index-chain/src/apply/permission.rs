//! Permissions: who may do what with a moment, or with token id 0 on the whole collection.

use alloy::primitives::{Address, U256};
use shared::{
    model::{self, MAX_ADMINS},
    store::{Concerned, StoreError},
};

use super::Applier;
use crate::event::Position;

impl Applier<'_> {
    pub(super) async fn permissions_set(
        &mut self,
        at: &Position,
        collection: Address,
        token: U256,
        account: Address,
        mask: U256,
        is_admin: bool,
    ) -> Result<(), StoreError> {
        let place = self.place(collection, token);
        let Some(mut collection) = self.unit.collection(self.chain.id, place.collection).await? else { return Ok(()) };
        // A factory keeps what it got to set a token up, and never uses it again.
        if self.factories.contains(&account) {
            return Ok(());
        }
        self.unit.put_permissions(&place, account.into(), mask)?;
        let account = account.into();
        if token.is_zero() {
            self.unit.put_administered(self.chain.id, place.collection, account, is_admin)?;
            if list_admin(&mut collection.admins, account, is_admin) {
                collection.updated_at = at.time;
                self.unit.put_collection(&collection)?;
                self.unit.relist(self.chain.id, Concerned::Of(collection.address)).await?;
            }
            return Ok(());
        }
        let admins = match self.unit.moment(&place).await? {
            Some(moment) => moment.admins,
            None => self.unit.early_settings(&place).await?.unwrap_or_default().admins,
        };
        // Rights of another kind, such as a minter's, are nothing that shows.
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

/// Puts an account into a sorted list of admins, or takes it out. Whether that changed anything.
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
