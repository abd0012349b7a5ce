//! Purchases: payments, if they cost more than the contracts' own fee, else transfers.

use shared::{
    chain::Role,
    model::{self, Amount, Collection, Moment, MomentSale, Payment, SaleType, Transfer, TransferType},
    store::{
        StoreError,
        chain::{payment_keys, transfer_keys},
        engine::PrimaryKey,
    },
};

use super::{Applier, collects::Buyer};
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
        let transfer = self.collected(at, purchase, &moment, &collection, buyer);
        let is_real = !buyer.quantity.is_zero() && !buyer.account.is_zero();
        if is_real {
            self.tell_transfer(at, 0, &transfer)?;
        }
        let sale = self.sale_of(purchase, &moment);
        let sold = sale.map(|sale| (sale.price.0.saturating_mul(buyer.quantity), sale.currency));
        let Some((paid, currency)) = sold.filter(|(paid, _)| !paid.is_zero()) else {
            return if is_real { self.work.add_transfer(&transfer).await } else { Ok(()) };
        };
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
            currency,
            transaction_hash: at.transaction,
            block: at.block,
            log: at.log_index,
            transferred_at: at.time,
        };
        self.work.add_payment(&payment).await?;
        self.tell_payment(at, &payment)
    }

    /// Keys that applying the purchase reads, for prefetching. Its collection and its moment are cached.
    pub(super) async fn purchase_keys(
        &mut self,
        at: &Position,
        purchase: &Purchase,
    ) -> Result<Vec<PrimaryKey>, StoreError> {
        let (chain, place) = (self.chain.id, self.place(purchase.collection, purchase.token));
        let Some(buyer) = self.collects.buyer(at) else { return Ok(Vec::new()) };
        let Some(collection) = self.work.collection(chain, place.collection).await? else { return Ok(Vec::new()) };
        let Some(moment) = self.work.moment(&place).await? else { return Ok(Vec::new()) };
        if self.sale_of(purchase, &moment).is_none_or(|sale| sale.price.0.is_zero()) {
            return Ok(transfer_keys(&self.collected(at, purchase, &moment, &collection, buyer)));
        }
        let of_moment = (place.collection, place.token);
        Ok(payment_keys(chain, collection.creator, buyer.account.into(), of_moment).collect())
    }

    /// The transfer of a purchase that cost nothing, or that has no known price.
    fn collected(
        &self,
        at: &Position,
        purchase: &Purchase,
        moment: &Moment,
        collection: &Collection,
        buyer: Buyer,
    ) -> Transfer {
        let sale = self.sale_of(purchase, moment);
        Transfer {
            id: Transfer::id_of_purchase(self.id(at)),
            r#type: TransferType::Payment,
            chain_id: self.chain.id,
            collection: moment.collection,
            token_id: moment.token_id,
            creator: collection.creator,
            from: model::Address::ZERO,
            to: buyer.account.into(),
            quantity: Amount(buyer.quantity),
            value: sale.map(|sale| Amount(sale.price.0.saturating_mul(buyer.quantity))),
            currency: sale.map(|sale| sale.currency),
            transaction_hash: at.transaction,
            block: at.block,
            log: at.log_index,
            transferred_at: at.time,
        }
    }

    fn sale_of<'a>(&self, purchase: &Purchase, moment: &'a Moment) -> Option<&'a MomentSale> {
        let strategy = self.strategy(purchase)?;
        moment.sales.iter().find(|sale| sale.strategy == strategy)
    }

    /// The seller's strategy; `None` for one without known prices.
    fn strategy(&self, purchase: &Purchase) -> Option<SaleType> {
        let known = &self.chain.addresses;
        match purchase.seller {
            it if known.all(Role::FixedPriceMinter).contains(&it) => Some(SaleType::FixedPrice),
            it if known.all(Role::Erc20Minter).contains(&it) => Some(SaleType::Erc20),
            it if known.registry.is_some_and(|registry| registry.controller == it) => Some(SaleType::Erc20),
            _ => None,
        }
    }
}
