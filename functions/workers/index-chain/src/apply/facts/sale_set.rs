//! A sale's terms. The newest setting of a strategy is in force.

use alloy::primitives::Address;
use shared::{
    model::{EventData, MomentSale},
    store::{
        StoreError,
        chain::{moment_key, split_key},
        engine::PrimaryKey,
    },
};

use crate::{
    apply::{applier::Applier, events, kind::Kind},
    event::{ChainEvent, SaleSet},
};

impl Kind for SaleSet {
    fn names(&self) -> Option<Address> {
        None
    }

    fn uri(&self) -> Option<&str> {
        None
    }

    fn reads(&self, _event: &ChainEvent, applier: &Applier<'_>) -> Vec<PrimaryKey> {
        let moment = moment_key(&applier.place(self.collection, self.token));
        let split = self.sale.funds_recipient.map(|recipient| split_key(applier.chain.id, recipient));
        [moment].into_iter().chain(split).collect()
    }

    async fn apply(
        &self,
        ChainEvent { at, .. }: &ChainEvent,
        applier: &mut Applier<'_>,
        _done: u64,
    ) -> Result<Option<u64>, StoreError> {
        let place = applier.place(self.collection, self.token);
        let Some(collection) = applier.work.collection(place.chain, place.collection).await? else { return Ok(None) };
        let sale = MomentSale { set_in: (at.block, at.log_index), ..self.sale.clone() };
        let terms = (!self.is_reset).then_some(&sale);
        let event = events::sale(at, &collection, self.token, sale.strategy, terms);
        applier.emit(at, 0, EventData::SaleUpdated(event))?;
        applier
            .change_moment(at, &place, &collection, |settings| {
                settings.sales.retain(|other| other.strategy != sale.strategy);
                if !self.is_reset {
                    settings.sales.push(sale);
                }
            })
            .await?;
        Ok(None)
    }
}
