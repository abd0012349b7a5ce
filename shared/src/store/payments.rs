//! Payments and notifications. Rows: docs/data-model.md, Payments.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::{
    structures::{
        merged::{self, NewestFirst},
        numbered_list::{CountedPage, NumberedList, length_key, row_key},
        packed_list::newest_key,
    },
    table::{PrimaryKey, StoreError, Table},
};
use crate::{
    model::{Address, ChainId, EventId, Payment, TokenId},
    store::index::{Progress, UnitOfWork},
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
    /// Only payments for this token of this collection; without the others.
    pub moment: Option<(Address, TokenId)>,
}

impl PaymentFilter {
    /// Selects all payments to this creator: the list of notifications.
    pub fn of_artist(artist: Address) -> Self {
        Self { artist: Some(artist), ..Self::default() }
    }

    /// Returns the filtered lists that contain a payment of `buyer` to `creator`, the creator's own first.
    pub fn of(creator: Address, buyer: Address, moment: (Address, TokenId)) -> [Self; 4] {
        let of_artist = Self::of_artist(creator);
        let collector = Some(buyer);
        let of_moment = Self { moment: Some(moment), ..Self::default() };
        [of_artist, Self { collector, ..Self::default() }, Self { collector, ..of_artist }, of_moment]
    }

    /// Returns the key of the row that tells the list's length.
    pub fn key(&self, chain: ChainId) -> PrimaryKey {
        let partition = self.partition(chain);
        if self.is_packed() { newest_key(&partition) } else { length_key(&partition) }
    }

    fn is_packed(&self) -> bool {
        self.collector.is_some() || self.moment.is_some()
    }

    /// The partition: of [`Payment`]s without a filter, of [`PaymentNumber`]s of an artist, else of packed numbers.
    pub fn partition(&self, chain: ChainId) -> String {
        let part = |name: &str, address: Option<Address>| address.map_or(String::new(), |it| format!("#{name}#{it}"));
        let moment = self.moment.map_or(String::new(), |(collection, token)| format!("#MOMENT#{collection}#{token}"));
        format!("PAYMENTS#{chain}{}{}{moment}", part("ARTIST", self.artist), part("COLLECTOR", self.collector))
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

/// Notifications of one artist on one chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NotificationList {
    /// The chain.
    pub chain: ChainId,
    /// The artist's embedded wallet.
    pub artist: Address,
}

/// A notification and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NotificationPlace {
    /// Its id.
    pub id: EventId,
    /// The artist's list.
    pub list: NotificationList,
    /// Its number there. A reorganisation can give it to another one, unless the block is final.
    pub number: u64,
    /// Block of the payment.
    pub block: u64,
}

/// The end of an artist's list that a reorganisation can change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnsettledEnd {
    /// Notifications before it.
    pub settled: u64,
    /// Ids of those in it.
    pub ids: Vec<EventId>,
}

#[derive(Serialize, Deserialize)]
struct NotificationRow {
    chain: ChainId,
    artist: Address,
    number: u64,
    id: EventId,
    block: u64,
}

#[derive(Serialize, Deserialize)]
struct NotifiedRow {
    #[serde(flatten)]
    payment: PaymentNumber,
    notification: EventId,
    block: u64,
}

#[derive(Deserialize)]
struct NumberedNotification {
    sk: String,
    notification: EventId,
    block: u64,
}

/// Most notifications whose order a reorganisation is expected to change; older ones count as settled.
const MAX_UNSETTLED: usize = 1_000;

/// Reads of payments.
#[derive(Clone)]
pub struct Payments(Table);

impl Payments {
    /// Uses the chain table.
    pub fn new(chain: Table) -> Self {
        Self(chain)
    }

    /// Returns payments of a chain, newest first, from `offset` on. At most two reads; with a filter, one more per 100.
    pub async fn newest(
        &self,
        chain: ChainId,
        filter: PaymentFilter,
        offset: u64,
        limit: usize,
    ) -> Result<PaymentPage, StoreError> {
        self.newest_of(&[(chain, filter)], offset, limit).await
    }

    pub(super) async fn numbered(
        &self,
        chain: ChainId,
        filter: PaymentFilter,
        offset: u64,
        limit: usize,
    ) -> Result<CountedPage<NumberedPayment>, StoreError> {
        let list = self.list(chain, filter);
        if filter == PaymentFilter::default() {
            return list.newest_counted(offset, limit).await;
        }
        if filter.is_packed() {
            let page = self.0.newest_numbers(&list.partition, offset, limit).await?;
            let numbers = page.numbers.into_iter().map(|number| PaymentNumber { number }).collect();
            return Ok(CountedPage { rows: self.by_number(chain, numbers).await?, total: page.total });
        }
        let page: CountedPage<PaymentNumber> = list.newest_counted(offset, limit).await?;
        Ok(CountedPage { rows: self.by_number(chain, page.rows).await?, total: page.total })
    }

    /// Returns payments of several lists, newest first. Reads as [`Self::newest`] for each; more beyond the first hundred.
    pub async fn newest_of(
        &self,
        lists: &[(ChainId, PaymentFilter)],
        offset: u64,
        limit: usize,
    ) -> Result<PaymentPage, StoreError> {
        let list =
            |(chain, filter): &(ChainId, PaymentFilter)| OneList { payments: self, chain: *chain, filter: *filter };
        let page = merged::newest(&Vec::from_iter(lists.iter().map(list)), offset, limit).await?;
        let total = page.total();
        Ok(PaymentPage { payments: page.rows.into_iter().map(|row| row.payment).collect(), total })
    }

    /// Returns how many payments an artist received; the newest ones may be missing. Half a read.
    pub async fn count(&self, chain: ChainId, artist: Address) -> Result<u64, StoreError> {
        self.0.recent_length(&PaymentFilter::of_artist(artist).partition(chain)).await
    }

    /// Returns the lengths of notification lists; empty ones are left out. One read per 100.
    pub async fn notification_counts(
        &self,
        lists: impl IntoIterator<Item = NotificationList>,
    ) -> Result<HashMap<NotificationList, u64>, StoreError> {
        let partitions =
            lists.into_iter().map(|list| (PaymentFilter::of_artist(list.artist).partition(list.chain), list));
        self.0.list_lengths(&partitions.collect()).await
    }

    /// Returns the payments with these numbers in an artist's list, newest first. Two reads per 100.
    pub async fn of_artist(&self, list: NotificationList, numbers: &[u64]) -> Result<Vec<Payment>, StoreError> {
        let partition = PaymentFilter::of_artist(list.artist).partition(list.chain);
        let mut places: Vec<PlacedNumber> =
            self.0.get_many(numbers.iter().map(|number| row_key(&partition, *number))).await?;
        // Numbers in both lists have the same order.
        places.sort_unstable_by(|a, b| b.sk.cmp(&a.sk));
        let rows = self.by_number(list.chain, places.into_iter().map(|place| place.number).collect()).await?;
        Ok(rows.into_iter().map(|row| row.payment).collect())
    }

    /// Returns the places of notifications by id; unknown ones are left out. One read per 100.
    pub async fn notification_places(
        &self,
        ids: &BTreeSet<EventId>,
    ) -> Result<HashMap<EventId, NotificationPlace>, StoreError> {
        let rows: Vec<NotificationRow> = self.0.get_many(ids.iter().map(|id| notification_key(*id))).await?;
        let place = |NotificationRow { chain, artist, number, id, block }| {
            (id, NotificationPlace { id, list: NotificationList { chain, artist }, number, block })
        };
        Ok(rows.into_iter().map(place).collect())
    }

    /// Returns the last block of a chain whose payments keep their numbers; `None` before the first. One read.
    pub async fn settled_block(&self, chain: ChainId) -> Result<Option<u64>, StoreError> {
        let progress = Progress::of(&self.0, chain).await?;
        let indexed = progress.next_block.and_then(|next| next.checked_sub(1));
        Ok(indexed.and_then(|indexed| Some(indexed.min(progress.final_block?))))
    }

    /// Returns the end of an artist's list after block `settled`. Two reads; more after each hundred notifications in it.
    pub async fn unsettled(&self, list: NotificationList, settled: Option<u64>) -> Result<UnsettledEnd, StoreError> {
        const PAGE: usize = 100;
        let numbered = self.list(list.chain, PaymentFilter::of_artist(list.artist));
        let mut end = UnsettledEnd::default();
        loop {
            let page = numbered.newest_first::<NumberedNotification>(end.ids.len() as u64, PAGE).await?;
            for NumberedNotification { sk, notification, block } in page.rows {
                if settled.is_some_and(|settled| block <= settled) || end.ids.len() == MAX_UNSETTLED {
                    end.settled = sk.parse::<u64>().map_or(0, |number| number + 1);
                    return Ok(end);
                }
                end.ids.push(notification);
            }
            if !page.more {
                return Ok(end);
            }
        }
    }

    async fn by_number(&self, chain: ChainId, numbers: Vec<PaymentNumber>) -> Result<Vec<NumberedPayment>, StoreError> {
        let partition = PaymentFilter::default().partition(chain);
        let mut rows: Vec<NumberedPayment> =
            self.0.get_many(numbers.iter().map(|number| row_key(&partition, number.number))).await?;
        rows.sort_unstable_by(|a, b| b.sk.cmp(&a.sk));
        Ok(rows)
    }

    fn list(&self, chain: ChainId, filter: PaymentFilter) -> NumberedList<'_> {
        NumberedList { table: &self.0, partition: filter.partition(chain) }
    }
}

struct OneList<'a> {
    payments: &'a Payments,
    chain: ChainId,
    filter: PaymentFilter,
}

impl NewestFirst for OneList<'_> {
    type Row = NumberedPayment;
    type Key = (u64, ChainId, String);

    async fn newest(&self, offset: u64, limit: usize) -> Result<CountedPage<NumberedPayment>, StoreError> {
        self.payments.numbered(self.chain, self.filter, offset, limit).await
    }

    fn key(&self, row: &NumberedPayment) -> Self::Key {
        (row.payment.transferred_at, self.chain, row.sk.clone())
    }
}

#[derive(Deserialize)]
pub(super) struct NumberedPayment {
    pub(super) sk: String,
    #[serde(flatten)]
    pub(super) payment: Payment,
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
    /// Appends a payment to its five lists, with its notification; returns its number in the chain's list.
    pub async fn add_payment(&mut self, payment: &Payment) -> Result<u64, StoreError> {
        let chain = payment.chain_id;
        let number = self.append(&PaymentFilter::default().partition(chain), payment).await?;
        let moment = (payment.collection, payment.token_id);
        let [of_artist, packed @ ..] = PaymentFilter::of(payment.creator, payment.buyer, moment);
        let (id, block) = (payment.notification_id(), payment.block);
        let notified = NotifiedRow { payment: PaymentNumber { number }, notification: id, block };
        let in_artists_list = self.append(&of_artist.partition(chain), &notified).await?;
        let notification = NotificationRow { chain, artist: payment.creator, number: in_artists_list, id, block };
        self.insert(&notification_key(id), &notification)?;
        for filter in packed {
            self.append_number(&filter.partition(chain), number).await?;
        }
        Ok(number)
    }
}

fn notification_key(id: EventId) -> PrimaryKey {
    PrimaryKey::new(format!("NOTIFICATION#{id}"), "PLACE")
}
