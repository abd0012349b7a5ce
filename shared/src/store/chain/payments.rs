//! Payments and notifications. Rows: docs/data-model.md, Payments.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use crate::{
    model::{Address, ChainId, EventId, PageStart, Payment, TokenId},
    store::{
        chain::rows,
        engine::{
            index::{Progress, UnitOfWork},
            structures::{
                merged::{self, MergedPage, NewestFirst, Numbered, Rest},
                numbered_list::{CountedPage, ListStart, NumberedList, row_key},
                packed_list::{NumbersPage, newest_key},
            },
            table::{ChainTable, PrimaryKey, StoreError},
        },
    },
};

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

    /// Returns the lists that get each payment of `buyer` to `creator`. The one of both gets them later.
    fn of(creator: Address, buyer: Address, moment: (Address, TokenId)) -> [Self; 3] {
        let collector = Self { collector: Some(buyer), ..Self::default() };
        [Self::of_artist(creator), collector, Self { moment: Some(moment), ..Self::default() }]
    }

    /// The partition: of [`Payment`]s without a filter, else of their numbers, packed.
    pub fn partition(&self, chain: ChainId) -> String {
        let part = |name: &str, address: Option<Address>| address.map_or(String::new(), |it| format!("#{name}#{it}"));
        let moment = self.moment.map_or(String::new(), |(collection, token)| format!("#MOMENT#{collection}#{token}"));
        rows::payments(chain, &format!("{}{}{moment}", part("ARTIST", self.artist), part("COLLECTOR", self.collector)))
    }
}

/// A page of payments.
#[derive(Debug)]
pub struct PaymentPage {
    /// Payments, newest first.
    pub payments: Vec<Payment>,
    /// Length of the list.
    pub total: u64,
    /// What comes after them; nothing of a list of viewed or unviewed ones, whose rows don't keep their numbers.
    pub rest: Rest,
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

/// Most notifications whose order a reorganisation is expected to change; older ones count as settled.
const MAX_UNSETTLED: usize = 1_000;

/// Reads of payments.
#[derive(Clone)]
pub struct Payments(ChainTable);

impl Payments {
    /// Uses the chain table.
    pub fn new(chain: ChainTable) -> Self {
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

    pub(in crate::store) async fn numbered(
        &self,
        chain: ChainId,
        filter: PaymentFilter,
        start: ListStart,
        limit: usize,
    ) -> Result<CountedPage<NumberedPayment>, StoreError> {
        let partition = filter.partition(chain);
        if filter == PaymentFilter::default() {
            return NumberedList { table: &self.0, partition }.counted(start, limit).await;
        }
        let NumbersPage { numbers, total, end } = match filter.artist.filter(|_| filter.collector.is_some()) {
            Some(artist) => {
                let of_collector = PaymentFilter { artist: None, ..filter }.partition(chain);
                self.0.newest_of_label((&of_collector, artist), &partition, start, limit).await?
            }
            None => self.0.newest_numbers(&partition, start, limit).await?,
        };
        Ok(CountedPage { rows: self.by_number(chain, &numbers).await?, total, end })
    }

    /// Returns payments of several lists, newest first. Reads as [`Self::newest`] for each; more beyond the first hundred.
    pub async fn newest_of(
        &self,
        lists: &[(ChainId, PaymentFilter)],
        offset: u64,
        limit: usize,
    ) -> Result<PaymentPage, StoreError> {
        Ok(merged::newest(&self.lists(lists), offset, limit).await?.into())
    }

    /// The same from where a page begins; `None` if the page before was of others. At most three reads a list after another page.
    pub async fn starting_at(
        &self,
        lists: &[(ChainId, PaymentFilter)],
        start: &PageStart,
    ) -> Result<Option<PaymentPage>, StoreError> {
        Ok(merged::starting_at(&self.lists(lists), start).await?.map(PaymentPage::from))
    }

    fn lists(&self, lists: &[(ChainId, PaymentFilter)]) -> Vec<OneList<'_>> {
        let list =
            |(chain, filter): &(ChainId, PaymentFilter)| OneList { payments: self, chain: *chain, filter: *filter };
        lists.iter().map(list).collect()
    }

    /// Returns how many payments an artist received; the newest ones may be missing. Half a read.
    pub async fn count(&self, chain: ChainId, artist: Address) -> Result<u64, StoreError> {
        self.0.recent_count(&PaymentFilter::of_artist(artist).partition(chain)).await
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
        let numbers = self.0.numbers_at(&partition, numbers).await?;
        let rows = self.by_number(list.chain, &numbers).await?;
        Ok(rows.into_iter().map(|row| row.payment).collect())
    }

    /// Returns the places of notifications by id; unknown ones are left out. One read per 100.
    pub async fn notification_places(
        &self,
        ids: &BTreeSet<EventId>,
    ) -> Result<HashMap<EventId, NotificationPlace>, StoreError> {
        let rows: Vec<NotificationRow> = self.0.get_many(ids.iter().map(|id| rows::notification(*id))).await?;
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

    /// Returns the end of an artist's list after block `settled`. Two reads; more after the first few payments in it.
    pub async fn unsettled(&self, list: NotificationList, settled: Option<u64>) -> Result<UnsettledEnd, StoreError> {
        const FIRST: usize = 5;
        const MORE: usize = 100;
        let partition = PaymentFilter::of_artist(list.artist).partition(list.chain);
        let newest = self.0.newest_numbers(&partition, ListStart::Offset(0), MAX_UNSETTLED).await?;
        let (first, others) = newest.numbers.split_at(FIRST.min(newest.numbers.len()));
        let mut end = UnsettledEnd { settled: newest.total - newest.numbers.len() as u64, ids: Vec::new() };
        for numbers in [first].into_iter().chain(others.chunks(MORE)) {
            for NumberedPayment { sk, payment } in self.by_number(list.chain, numbers).await? {
                if settled.is_some_and(|settled| payment.block <= settled) {
                    let newer = newest.numbers.iter().filter(|number| row_key("", **number).sk > sk).count();
                    end.settled = newest.total - newer as u64;
                    return Ok(end);
                }
                end.ids.push(payment.notification_id());
            }
        }
        Ok(end)
    }

    async fn by_number(&self, chain: ChainId, numbers: &[u64]) -> Result<Vec<NumberedPayment>, StoreError> {
        let partition = PaymentFilter::default().partition(chain);
        let mut rows: Vec<NumberedPayment> =
            self.0.get_many(numbers.iter().map(|number| row_key(&partition, *number))).await?;
        rows.sort_unstable_by(|a, b| b.sk.cmp(&a.sk));
        Ok(rows)
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
        self.payments.numbered(self.chain, self.filter, ListStart::Offset(offset), limit).await
    }

    fn key(&self, row: &NumberedPayment) -> Self::Key {
        (row.payment.transferred_at, self.chain, row.sk.clone())
    }
}

impl Numbered for OneList<'_> {
    async fn oldest(&self, end: u64, limit: usize) -> Result<CountedPage<NumberedPayment>, StoreError> {
        self.payments.numbered(self.chain, self.filter, ListStart::End(end), limit).await
    }
}

impl From<MergedPage<NumberedPayment>> for PaymentPage {
    fn from(page: MergedPage<NumberedPayment>) -> Self {
        let total = page.total();
        Self { payments: page.rows.into_iter().map(|row| row.payment).collect(), total, rest: page.rest }
    }
}

#[derive(Deserialize)]
pub(in crate::store) struct NumberedPayment {
    pub(in crate::store) sk: String,
    #[serde(flatten)]
    pub(in crate::store) payment: Payment,
}

impl Payment {
    /// Returns the id of the artist's notification.
    pub fn notification_id(&self) -> EventId {
        self.id.of_its("notification")
    }
}

impl UnitOfWork {
    /// Appends a payment to its lists, with its notification; returns its number in the chain's list.
    pub async fn add_payment(&mut self, payment: &Payment) -> Result<u64, StoreError> {
        let Payment { chain_id: chain, creator, buyer, block, .. } = *payment;
        let number = self.append(&PaymentFilter::default().partition(chain), payment).await?;
        let moment = (payment.collection, payment.token_id);
        let [of_artist, of_collector, of_moment] = PaymentFilter::of(creator, buyer, moment);
        let id = payment.notification_id();
        let in_artists_list = self.append_number(&of_artist.partition(chain), number).await?;
        let notification = NotificationRow { chain, artist: creator, number: in_artists_list, id, block };
        self.insert(&rows::notification(id), &notification)?;
        self.append_number(&of_moment.partition(chain), number).await?;
        let due = self.append_labelled(&of_collector.partition(chain), number, creator).await?;
        let of_both = |artist| PaymentFilter { artist: Some(artist), ..of_collector }.partition(chain);
        self.prefetch(due.iter().map(|(artist, _)| newest_key(&of_both(*artist)))).await?;
        for (artist, number) in due {
            self.append_number(&of_both(artist), number).await?;
        }
        Ok(number)
    }
}

/// Keys that adding a payment of `buyer` to `creator` for a moment reads, for prefetching.
pub fn payment_keys(
    chain: ChainId,
    creator: Address,
    buyer: Address,
    moment: (Address, TokenId),
) -> impl Iterator<Item = PrimaryKey> {
    PaymentFilter::of(creator, buyer, moment).into_iter().map(move |list| newest_key(&list.partition(chain)))
}
