//! Paid collects and moved tokens, in the table of what the chain can rebuild. All are numbered lists in the order of
//! the chain.
//!
//! - `pk = PAYMENTS#<chain>`: payments;
//! - `pk = PAYMENTS#<chain>#ARTIST#<creator>`, `pk = PAYMENTS#<chain>#COLLECTOR#<buyer>` and both together: numbers of
//!   the payments to a collection's creator, of a buyer, of the one to the other;
//! - `pk = NOTIFICATION#<id>`, `sk = PLACE`: where the notification of a payment is among its artist's: its number there;
//! - `pk = TRANSFERS#<moment>`: what moved of a moment;
//! - `pk = HOLDERS#<moment>`, `sk = <address>`: how many tokens an account holds of it.

use std::collections::{BTreeSet, HashMap};

use alloy::primitives::U256;
use serde::{Deserialize, Serialize};

use super::{
    Key, NotificationList, StoreError, Table, Unit,
    numbered::{CountedPage, NumberedList, length_key, row_key},
};
use crate::model::{Address, Amount, ChainId, EventId, MomentRef, Payment, Transfer};

/// The place of a payment in its chain's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentNumber {
    /// Counted from 0.
    pub number: u64,
}

#[derive(Serialize, Deserialize)]
struct HolderRow {
    quantity: Amount,
}

/// Which payments a list holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PaymentFilter {
    /// Only to collections of this creator.
    pub artist: Option<Address>,
    /// Only of this buyer.
    pub collector: Option<Address>,
}

impl PaymentFilter {
    /// The lists that a payment of this buyer to this creator is in, besides that of all.
    pub fn of(creator: Address, buyer: Address) -> [Self; 3] {
        let (artist, collector) = (Some(creator), Some(buyer));
        [Self { artist, collector: None }, Self { artist: None, collector }, Self { artist, collector }]
    }

    /// Where the length of the list is kept.
    pub fn key(&self, chain: ChainId) -> Key {
        length_key(&self.partition(chain))
    }

    /// The partition of the list. Without a filter its rows are [`Payment`]s, else [`PaymentNumber`]s.
    pub fn partition(&self, chain: ChainId) -> String {
        let part = |name: &str, address: Option<Address>| address.map_or(String::new(), |it| format!("#{name}#{it}"));
        format!("PAYMENTS#{chain}{}{}", part("ARTIST", self.artist), part("COLLECTOR", self.collector))
    }
}

/// Some payments of a list.
#[derive(Debug)]
pub struct PaymentPage {
    /// The payments, in the list's order.
    pub payments: Vec<Payment>,
    /// How many the list has.
    pub total: u64,
}

/// Which notification a payment is to the artist: its list, and its number there.
pub type NotificationPlace = (NotificationList, u64);

#[derive(Serialize, Deserialize)]
struct NotificationRow {
    chain: ChainId,
    artist: Address,
    number: u64,
    id: EventId,
}

/// All payments, for those who read.
#[derive(Clone)]
pub struct Payments(Table);

impl Payments {
    /// The payments in the chain's table.
    pub fn new(chain: Table) -> Self {
        Self(chain)
    }

    /// Payments of a chain that satisfy the filter, newest first, from the `offset`th on. Two reads, and with a filter
    /// one more for every hundred.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn newest(
        &self,
        chain: ChainId,
        filter: PaymentFilter,
        offset: u64,
        limit: usize,
    ) -> Result<PaymentPage, StoreError> {
        let list = self.list(chain, filter);
        if filter == PaymentFilter::default() {
            let page: CountedPage<Payment> = list.newest_counted(offset, limit).await?;
            return Ok(PaymentPage { payments: page.rows, total: page.total });
        }
        let page: CountedPage<PaymentNumber> = list.newest_counted(offset, limit).await?;
        let payments = self.by_number(chain, page.rows).await?;
        Ok(PaymentPage { payments, total: page.total })
    }

    /// How many payments of a chain satisfy each filter. One read for every hundred.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn notification_counts(
        &self,
        lists: impl IntoIterator<Item = NotificationList>,
    ) -> Result<HashMap<NotificationList, u64>, StoreError> {
        let partitions = lists.into_iter().map(|list| (artist_filter(list.artist).partition(list.chain), list));
        self.0.list_lengths(&partitions.collect()).await
    }

    /// The payments that have these numbers in an artist's list, in the order in which they are asked for. Two reads for
    /// every hundred.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn of_artist(&self, list: NotificationList, numbers: &[u64]) -> Result<Vec<Payment>, StoreError> {
        let partition = artist_filter(list.artist).partition(list.chain);
        let mut places: Vec<PlacedNumber> = Vec::new();
        for numbers in numbers.chunks(100) {
            places.extend(self.0.get_many::<PlacedNumber>(numbers.iter().map(|it| row_key(&partition, *it))).await?);
        }
        // The numbers in the artist's list and in the chain's have the same order.
        places.sort_unstable_by(|a, b| b.sk.cmp(&a.sk));
        self.by_number(list.chain, places.into_iter().map(|place| place.number).collect()).await
    }

    /// Where notifications are, by their ids; unknown ones are left out. One read for every hundred.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn notification_places(
        &self,
        ids: &BTreeSet<EventId>,
    ) -> Result<HashMap<EventId, NotificationPlace>, StoreError> {
        let mut places = HashMap::new();
        for ids in Vec::from_iter(ids).chunks(100) {
            let rows: Vec<NotificationRow> = self.0.get_many(ids.iter().map(|id| notification_key(**id))).await?;
            let place = |row: &NotificationRow| (NotificationList { chain: row.chain, artist: row.artist }, row.number);
            places.extend(rows.iter().map(|row| (row.id, place(row))));
        }
        Ok(places)
    }

    async fn by_number(&self, chain: ChainId, numbers: Vec<PaymentNumber>) -> Result<Vec<Payment>, StoreError> {
        let partition = PaymentFilter::default().partition(chain);
        let mut payments: Vec<Payment> = Vec::new();
        for numbers in numbers.chunks(100) {
            let mut rows: Vec<NumberedPayment> =
                self.0.get_many(numbers.iter().map(|number| row_key(&partition, number.number))).await?;
            rows.sort_unstable_by(|a, b| b.sk.cmp(&a.sk));
            payments.extend(rows.into_iter().map(|row| row.payment));
        }
        Ok(payments)
    }

    fn list(&self, chain: ChainId, filter: PaymentFilter) -> NumberedList<'_> {
        NumberedList { table: &self.0, partition: filter.partition(chain) }
    }
}

#[derive(Deserialize)]
struct NumberedPayment {
    sk: String,
    #[serde(flatten)]
    payment: Payment,
}

#[derive(Deserialize)]
struct PlacedNumber {
    sk: String,
    #[serde(flatten)]
    number: PaymentNumber,
}

impl Payment {
    /// Id of the notification that the artist gets of it.
    pub fn notification_id(&self) -> EventId {
        self.id.of_its("notification")
    }

    /// The list that its notification is in.
    pub fn notification_list(&self) -> NotificationList {
        NotificationList { chain: self.chain_id, artist: self.creator }
    }
}

impl Unit {
    /// Adds a payment at the end of its chain's list and of those of its creator and buyer. Gives its number.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn add_payment(&mut self, payment: &Payment) -> Result<u64, StoreError> {
        let chain = payment.chain_id;
        let number = self.append(&PaymentFilter::default().partition(chain), payment).await?;
        let [of_artist, of_collector, of_both] = PaymentFilter::of(payment.creator, payment.buyer);
        let in_artists_list = self.append(&of_artist.partition(chain), &PaymentNumber { number }).await?;
        let id = payment.notification_id();
        let notification = NotificationRow { chain, artist: payment.creator, number: in_artists_list, id };
        self.insert(&notification_key(id), &notification)?;
        for filter in [of_collector, of_both] {
            self.append(&filter.partition(chain), &PaymentNumber { number }).await?;
        }
        Ok(number)
    }

    /// Adds what moved of a moment at the end of its list, and counts it with those who have it and had it.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn add_transfer(&mut self, moment: &MomentRef, transfer: &Transfer) -> Result<(), StoreError> {
        self.append(&transfers_partition(moment), transfer).await?;
        let quantity = transfer.quantity.0;
        self.count_held(moment, transfer.from, |held| held.saturating_sub(quantity)).await?;
        self.count_held(moment, transfer.to, |held| held.saturating_add(quantity)).await
    }

    async fn count_held(
        &mut self,
        moment: &MomentRef,
        holder: Address,
        change: impl FnOnce(U256) -> U256,
    ) -> Result<(), StoreError> {
        if holder == Address::ZERO {
            return Ok(());
        }
        let key = holder_key(moment, holder);
        let held: Option<HolderRow> = self.get(&key).await?;
        let quantity = change(held.map_or(U256::ZERO, |row| row.quantity.0));
        if quantity.is_zero() {
            self.delete(&key);
            return Ok(());
        }
        self.put(&key, &HolderRow { quantity: Amount(quantity) })
    }
}

fn artist_filter(artist: Address) -> PaymentFilter {
    PaymentFilter { artist: Some(artist), collector: None }
}

fn notification_key(id: EventId) -> Key {
    Key::new(format!("NOTIFICATION#{id}"), "PLACE")
}

/// Where it is kept how many tokens of a moment an account holds.
pub fn holder_key(moment: &MomentRef, holder: Address) -> Key {
    Key::new(format!("HOLDERS#{moment}"), holder.to_string())
}

/// Where the length of a moment's list of transfers is kept.
pub fn transfers_key(moment: &MomentRef) -> Key {
    length_key(&transfers_partition(moment))
}

fn transfers_partition(moment: &MomentRef) -> String {
    format!("TRANSFERS#{moment}")
}
