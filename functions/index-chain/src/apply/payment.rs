//! Payments: collects that cost something beyond the contracts' own fee.

use shared::{
    model::{Amount, Payment, SaleType},
    store::StoreError,
};

use super::Applier;
use crate::event::{Position, Purchase};

impl Applier<'_> {
    /// What was paid follows from the price that is set: the event's own value has the contract's fee in it, which
    /// differs from contract to contract, and the strategies take the price exactly.
    pub(super) async fn purchased(&mut self, at: &Position, purchase: &Purchase) -> Result<(), StoreError> {
        let place = self.place(purchase.collection, purchase.token);
        let Some(collection) = self.unit.collection(self.chain.id, place.collection).await? else { return Ok(()) };
        let (Some(mut moment), Some(buyer)) = (self.unit.moment(&place).await?, self.collects.buyer(at)) else {
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
        // A split may be made after the sale that names it.
        let fee_recipients = self.fee_recipients(&moment, &collection).await?;
        if moment.fee_recipients != fee_recipients {
            moment.fee_recipients.clone_from(&fee_recipients);
            self.unit.put_moment(&moment)?;
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
        self.unit.add_payment(&payment).await.map(drop)
    }

    /// Which strategy the seller is; `None` for one whose prices aren't known.
    fn strategy(&self, purchase: &Purchase) -> Option<SaleType> {
        let known = &self.chain.addresses;
        match purchase.seller {
            it if it == known.fixed_price_minter => Some(SaleType::FixedPrice),
            it if it == known.erc20_minter => Some(SaleType::Erc20),
            it if known.registry.is_some_and(|registry| registry.controller == it) => Some(SaleType::Erc20),
            _ => None,
        }
    }
}
