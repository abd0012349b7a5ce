//! Payments: purchases that cost more than the contracts' own fee.

use shared::{
    chain::Role,
    model::{Amount, Payment, SaleType},
    store::StoreError,
};

use super::Applier;
use crate::event::{Position, Purchase};

impl Applier<'_> {
    /// The amount is the sale's price: strategies take it exactly, whereas the event's value includes the contract's fee,
    /// which differs from contract to contract.
    pub(super) async fn purchased(&mut self, at: &Position, purchase: &Purchase) -> Result<(), StoreError> {
        let place = self.place(purchase.collection, purchase.token);
        let Some(collection) = self.work.collection(self.chain.id, place.collection).await? else { return Ok(()) };
        let (Some(mut moment), Some(buyer)) = (self.work.moment(&place).await?, self.collects.buyer(at)) else {
            return Ok(());
        };
        let strategy = self.strategy(purchase);
        let Some(sale) = moment.sales.iter().find(|sale| Some(sale.strategy) == strategy).cloned() else {
            return Ok(());
        };
        let paid = sale.price.0.saturating_mul(buyer.quantity);
        if paid.is_zero() {
            return Ok(());
        }
        // A split may be created after the sale that names it.
        let fee_recipients = self.fee_recipients(&moment, &collection).await?;
        if moment.fee_recipients != fee_recipients {
            moment.fee_recipients.clone_from(&fee_recipients);
            self.work.put_moment(&moment)?;
        }
        let payment = Payment {
            id: self.id(at),
            chain_id: self.chain.id,
            collection: place.collection,
            token_id: place.token,
            moment_id: moment.id,
            protocol: moment.protocol,
            uri: moment.uri,
            creator: collection.creator,
            moment_creator: moment.creator,
            fee_recipients,
            buyer: buyer.account.into(),
            quantity: Amount(buyer.quantity),
            amount: Amount(paid.saturating_sub(purchase.taken)),
            paid: Amount(paid),
            currency: sale.currency,
            transaction_hash: at.transaction,
            block: at.block,
            transferred_at: at.time,
        };
        self.work.add_payment(&payment).await?;
        self.tell_payment(at, &payment)
    }

    /// The seller's strategy; `None` for one without known prices.
    pub(super) fn strategy(&self, purchase: &Purchase) -> Option<SaleType> {
        let known = &self.chain.addresses;
        match purchase.seller {
            it if known.all(Role::FixedPriceMinter).contains(&it) => Some(SaleType::FixedPrice),
            it if known.all(Role::Erc20Minter).contains(&it) => Some(SaleType::Erc20),
            it if known.registry.is_some_and(|registry| registry.controller == it) => Some(SaleType::Erc20),
            _ => None,
        }
    }
}
