//! Settings of moments.

use shared::{
    model::{Address, Collection, FeeRecipient, Moment, MomentRef, Share},
    store::{StoreError, chain::EarlySettings},
};

use super::applier::Applier;
use crate::event::Position;

impl Applier<'_> {
    /// Changes the settings of a moment, or stores them until it is created.
    pub(super) async fn change_moment(
        &mut self,
        at: &Position,
        place: &MomentRef,
        collection: &Collection,
        change: impl FnOnce(&mut EarlySettings),
    ) -> Result<(), StoreError> {
        let Some(mut moment) = self.work.moment(place).await? else {
            let mut early = self.work.early_settings(place).await?.unwrap_or_default();
            change(&mut early);
            return self.work.put_early_settings(place, &early);
        };
        let mut settings = EarlySettings { admins: moment.admins, sales: moment.sales, royalty: moment.royalty };
        change(&mut settings);
        (moment.admins, moment.sales, moment.royalty) = (settings.admins, settings.sales, settings.royalty);
        moment.updated_at = at.time;
        moment.fee_recipients = self.fee_recipients(&moment, collection).await?;
        self.work.put_moment(&moment)
    }

    /// Shares in a moment's revenue: those of a split, or one account with all of it. Without a recipient in the sale, it
    /// is the royalties' recipient, as in the contracts.
    pub(super) async fn fee_recipients(
        &mut self,
        moment: &Moment,
        collection: &Collection,
    ) -> Result<Vec<FeeRecipient>, StoreError> {
        let named = moment.sale().and_then(|sale| sale.funds_recipient);
        let royalty = moment.royalty.or(collection.royalty).map(|royalty| royalty.recipient);
        let royalty = royalty.filter(|recipient| *recipient != Address::ZERO);
        let recipient = named.or(royalty).unwrap_or(collection.creator);
        let split = self.work.split(self.chain.id, recipient).await?.filter(|parts| !parts.is_empty());
        Ok(split.unwrap_or_else(|| vec![FeeRecipient { address: recipient, millionths: Share::WHOLE }]))
    }
}
