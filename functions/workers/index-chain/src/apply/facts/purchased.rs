//! Purchases: payments, if they cost more than the contracts' own fee, else transfers.

use alloy::primitives::{Address, U256};
use shared::{
    chain::{ChainAddresses, Role},
    model::{
        self, Amount, Collection, Counts, EventData, Moment, Payment, Referral, SaleType, StatsSubject, Transfer,
        TransferType,
    },
    store::{
        StoreError,
        chain::{moment_key, payment_keys, stats_keys, transfer_keys},
        engine::PrimaryKey,
    },
};

use crate::{
    apply::{
        applier::{Applier, subjects},
        collects::Buyer,
        events,
        kind::Kind,
    },
    event::{ChainEvent, Position, Purchase},
};

impl Kind for Purchase {
    fn names(&self) -> Option<Address> {
        None
    }

    fn uri(&self) -> Option<&str> {
        None
    }

    fn reads(&self, _event: &ChainEvent, applier: &Applier<'_>) -> Vec<PrimaryKey> {
        vec![moment_key(&applier.place(self.collection, self.token))]
    }

    /// The lists that a payment, or else a transfer, is appended to, and the counts.
    async fn reads_next(
        &self,
        ChainEvent { at, .. }: &ChainEvent,
        applier: &mut Applier<'_>,
    ) -> Result<Vec<PrimaryKey>, StoreError> {
        let Some(found) = self.found(at, applier).await? else { return Ok(Vec::new()) };
        let Found { moment, collection, buyer } = &found;
        let (chain, account) = (moment.chain_id, buyer.account.into());
        let sender = self.referral.map(|sent| (StatsSubject::Artist(sent.account), None));
        let counted = subjects(moment).map(|subject| (subject, Some(account))).into_iter().chain(sender);
        let mut keys: Vec<_> = counted.flat_map(|(subject, who)| stats_keys((chain, subject), who)).collect();
        let sold = self.sold(&applier.chain.addresses, moment, buyer.quantity);
        if sold.is_none_or(|(paid, _)| paid.is_zero()) {
            keys.extend(transfer_keys(&self.transfer(at, applier, &found)));
        } else {
            let of_moment = (moment.collection, moment.token_id);
            keys.extend(payment_keys(chain, collection.creator, account, of_moment));
        }
        Ok(keys)
    }

    async fn apply(
        &self,
        ChainEvent { at, .. }: &ChainEvent,
        applier: &mut Applier<'_>,
        _done: u64,
    ) -> Result<Option<u64>, StoreError> {
        let Some(found) = self.found(at, applier).await? else { return Ok(None) };
        let transfer = self.transfer(at, applier, &found);
        let Found { mut moment, collection, buyer } = found;
        let is_real = !buyer.quantity.is_zero() && !buyer.account.is_zero();
        if is_real {
            applier.emit(at, 0, events::transfer(&transfer))?;
        }
        let sold = self.sold(&applier.chain.addresses, &moment, buyer.quantity);
        if is_real {
            self.count(at, applier, (&moment, &buyer), sold).await?;
        }
        let Some((paid, currency)) = sold.filter(|(paid, _)| !paid.is_zero()) else {
            if is_real {
                applier.work.add_transfer(&transfer).await?;
            }
            return Ok(None);
        };
        // A split may be created after the sale that names it.
        let fee_recipients = applier.fee_recipients(&moment, &collection).await?;
        if moment.fee_recipients != fee_recipients {
            moment.fee_recipients.clone_from(&fee_recipients);
            applier.work.put_moment(&moment)?;
        }
        let payment = Payment {
            id: applier.id(at),
            chain_id: moment.chain_id,
            collection: moment.collection,
            token_id: moment.token_id,
            moment_id: moment.id,
            protocol: moment.protocol,
            uri: moment.uri,
            creator: collection.creator,
            moment_creator: moment.creator,
            fee_recipients,
            buyer: buyer.account.into(),
            quantity: Amount(buyer.quantity),
            amount: Amount(paid.saturating_sub(self.taken)),
            paid: Amount(paid),
            currency,
            referral: self.referral,
            transaction_hash: at.transaction,
            block: at.block,
            log: at.log_index,
            transferred_at: at.time,
        };
        applier.work.add_payment(&payment).await?;
        applier.emit(at, 0, EventData::PaymentReceived(events::payment(&payment)))?;
        Ok(None)
    }
}

/// What a purchase is of, and whose it is.
struct Found {
    moment: Moment,
    collection: Collection,
    buyer: Buyer,
}

impl Purchase {
    /// `None` where any of it is unknown.
    async fn found(&self, at: &Position, applier: &mut Applier<'_>) -> Result<Option<Found>, StoreError> {
        let place = applier.place(self.collection, self.token);
        let Some(buyer) = applier.collects.buyer(at) else { return Ok(None) };
        let Some(collection) = applier.work.collection(place.chain, place.collection).await? else { return Ok(None) };
        let moment = applier.work.moment(&place).await?;
        Ok(moment.map(|moment| Found { moment, collection, buyer }))
    }

    /// Counts the collect for the moment's creator and collection, and for who sent the buyer.
    async fn count(
        &self,
        at: &Position,
        applier: &mut Applier<'_>,
        (moment, buyer): (&Moment, &Buyer),
        sold: Option<(U256, model::Address)>,
    ) -> Result<(), StoreError> {
        let (paid, currency) = sold.unzip();
        let earned = paid.unwrap_or_default().saturating_sub(self.taken);
        let is_ether = currency == Some(model::Address::ZERO);
        let is_usdc = currency.is_some_and(|currency| applier.chain.addresses.is_usdc(currency.into()));
        let amount_if = |is_in_it, amount| if is_in_it { Amount(amount) } else { Amount::default() };
        let collect = Counts {
            collects: 1,
            paid: paid.is_some_and(|paid| !paid.is_zero()).into(),
            tokens: Amount(buyer.quantity),
            eth: amount_if(is_ether, earned),
            usdc: amount_if(is_usdc, earned),
            referred: self.referral.is_some().into(),
            ..Counts::default()
        };
        applier.count(moment, at.time, collect, Some(buyer.account.into())).await?;
        let Some(Referral { account, reward }) = self.referral else { return Ok(()) };
        let sent = Counts {
            referrals: 1,
            referral_eth: amount_if(is_ether, reward.0),
            referral_usdc: amount_if(is_usdc, reward.0),
            ..Counts::default()
        };
        applier.work.count((moment.chain_id, StatsSubject::Artist(account)), at.time, sent, None).await
    }

    /// The transfer of a purchase that cost nothing, or that has no known price.
    fn transfer(&self, at: &Position, applier: &Applier<'_>, found: &Found) -> Transfer {
        let Found { moment, collection, buyer } = found;
        let sold = self.sold(&applier.chain.addresses, moment, buyer.quantity);
        Transfer {
            id: Transfer::id_of_purchase(applier.id(at)),
            r#type: TransferType::Payment,
            chain_id: moment.chain_id,
            collection: moment.collection,
            token_id: moment.token_id,
            creator: collection.creator,
            from: model::Address::ZERO,
            to: buyer.account.into(),
            quantity: Amount(buyer.quantity),
            value: sold.map(|(paid, _)| Amount(paid)),
            currency: sold.map(|(_, currency)| currency),
            transaction_hash: at.transaction,
            block: at.block,
            log: at.log_index,
            transferred_at: at.time,
        }
    }

    /// What was paid for all tokens without the contract's fee, and the currency: by the sale's price, which strategies take
    /// exactly. Of a list, where every account has a price of its own, it is what the fee left of what came with the purchase.
    fn sold(&self, known: &ChainAddresses, moment: &Moment, quantity: U256) -> Option<(U256, model::Address)> {
        let strategy = self.strategy(known)?;
        if strategy == SaleType::AllowList {
            return Some((self.value.saturating_sub(self.fee?), model::Address::ZERO));
        }
        let sale = moment.sales.iter().find(|sale| sale.strategy == strategy)?;
        Some((sale.price.0.saturating_mul(quantity), sale.currency))
    }

    /// The seller's strategy; `None` for one without known prices.
    fn strategy(&self, known: &ChainAddresses) -> Option<SaleType> {
        match self.seller {
            it if known.all(Role::FixedPriceMinter).contains(&it) => Some(SaleType::FixedPrice),
            it if known.all(Role::Erc20Minter).contains(&it) => Some(SaleType::Erc20),
            it if known.all(Role::MerkleMinter).contains(&it) => Some(SaleType::AllowList),
            it if known.registry.is_some_and(|registry| registry.controller == it) => Some(SaleType::Erc20),
            _ => None,
        }
    }
}
