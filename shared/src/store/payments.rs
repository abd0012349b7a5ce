//! Payments and notifications. Rows: docs/data-model.md, Payments.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::{
    notification_reads::NotificationList,
    structures::numbered_list::{CountedPage, NumberedList, length_key, row_key},
    table::{PrimaryKey, StoreError, Table},
};
use crate::{
    model::{Address, ChainId, EventId, Payment},
    store::index::UnitOfWork,
};

/// Reference to a payment by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentNumber {
    /// Number in the chain's list, from 0.
    pub number: u64,
}

/// Selects a list of payments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PaymentFilter {
    /// Only payments to this creator.
    pub artist: Option<Address>,
    /// Only payments of this buyer.
    pub collector: Option<Address>,
}

impl PaymentFilter {
    /// Returns the filtered lists that contain a payment of `buyer` to `creator`.
    pub fn of(creator: Address, buyer: Address) -> [Self; 3] {
        let (artist, collector) = (Some(creator), Some(buyer));
        [Self { artist, collector: None }, Self { artist: None, collector }, Self { artist, collector }]
    }

    /// Returns the key of the list's length.
    pub fn key(&self, chain: ChainId) -> PrimaryKey {
        length_key(&self.partition(chain))
    }

    /// Returns the partition. Rows are [`Payment`]s without a filter, [`PaymentNumber`]s with one.
    pub fn partition(&self, chain: ChainId) -> String {
        let part = |name: &str, address: Option<Address>| address.map_or(String::new(), |it| format!("#{name}#{it}"));
        format!("PAYMENTS#{chain}{}{}", part("ARTIST", self.artist), part("COLLECTOR", self.collector))
    }
}

/// A page of payments.
#[derive(Debug)]
pub struct PaymentPage {
    /// Payments, newest first.
    pub payments: Vec<Payment>,
    /// Length of the list.
    pub total: u64,
}

/// List of a notification and its number there.
pub type NotificationPlace = (NotificationList, u64);

#[derive(Serialize, Deserialize)]
struct NotificationRow {
    chain: ChainId,
    artist: Address,
    number: u64,
    id: EventId,
}

/// Reads of payments.
#[derive(Clone)]
pub struct Payments(Table);

impl Payments {
    /// Uses the chain table.
    pub fn new(chain: Table) -> Self {
        Self(chain)
    }

    /// Returns payments of a chain, newest first, from `offset` on. Two reads; with a filter, one more per 100.
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

    /// Returns the lengths of notification lists; empty ones are left out. One read per 100.
    pub async fn notification_counts(
        &self,
        lists: impl IntoIterator<Item = NotificationList>,
    ) -> Result<HashMap<NotificationList, u64>, StoreError> {
        let partitions = lists.into_iter().map(|list| (artist_filter(list.artist).partition(list.chain), list));
        self.0.list_lengths(&partitions.collect()).await
    }

    /// Returns the payments with these numbers in an artist's list, newest first. Two reads per 100.
    pub async fn of_artist(&self, list: NotificationList, numbers: &[u64]) -> Result<Vec<Payment>, StoreError> {
        let partition = artist_filter(list.artist).partition(list.chain);
        let mut places: Vec<PlacedNumber> = Vec::new();
        for numbers in numbers.chunks(100) {
            places.extend(self.0.get_many::<PlacedNumber>(numbers.iter().map(|it| row_key(&partition, *it))).await?);
        }
        // Numbers in both lists have the same order.
        places.sort_unstable_by(|a, b| b.sk.cmp(&a.sk));
        self.by_number(list.chain, places.into_iter().map(|place| place.number).collect()).await
    }

    /// Returns the places of notifications by id; unknown ones are left out. One read per 100.
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
    /// Returns the id of the artist's notification.
    pub fn notification_id(&self) -> EventId {
        self.id.of_its("notification")
    }
}

impl UnitOfWork {
    /// Appends a payment to its four lists, with its notification; returns its number in the chain's list.
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
}

fn artist_filter(artist: Address) -> PaymentFilter {
    PaymentFilter { artist: Some(artist), collector: None }
}

fn notification_key(id: EventId) -> PrimaryKey {
    PrimaryKey::new(format!("NOTIFICATION#{id}"), "PLACE")
}
