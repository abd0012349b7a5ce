//! Sales: the terms of each strategy. The newest setting is in force.

use alloy::primitives::{Address, U256};
use shared::{model::MomentSale, store::StoreError};

use super::Applier;
use crate::event::Position;

impl Applier<'_> {
    pub(super) async fn sale_set(
        &mut self,
        at: &Position,
        collection: Address,
        token: U256,
        sale: &MomentSale,
        is_reset: bool,
    ) -> Result<(), StoreError> {
        let place = self.place(collection, token);
        let Some(collection) = self.work.collection(self.chain.id, place.collection).await? else { return Ok(()) };
        let sale = MomentSale { set_in: (at.block, at.log_index), ..sale.clone() };
        self.tell_sale(at, &collection, token, &sale, is_reset)?;
        self.change_moment(at, &place, &collection, |_, settings| {
            settings.sales.retain(|other| other.strategy != sale.strategy);
            if !is_reset {
                settings.sales.push(sale);
            }
        })
        .await
    }
}
