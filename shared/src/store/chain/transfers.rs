//! Transfers: who got which tokens. Paid ones are in the lists of payments. Rows: docs/data-model.md, Transfers.

use serde::Deserialize;

use super::payments::{PaymentFilter, Payments};
use crate::{
    model::{Address, ChainId, PageStart, TokenId, Transfer, TransferType},
    store::{
        chain::rows,
        engine::{
            index::UnitOfWork,
            structures::{
                merged::{self, MergedPage, NewestFirst, Numbered, Rest},
                numbered_list::{CountedPage, ListStart, NumberedList, length_key, row_key},
                packed_list::newest_key,
            },
            table::{ChainTable, PrimaryKey, StoreError},
        },
    },
};

/// A list of transfers on one chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferList {
    /// All of the chain.
    All,
    /// Those of one type in collections of this creator.
    Artist(Address, TransferType),
    /// Those of one type to this account.
    Collector(Address, TransferType),
    /// Those of a moment.
    Moment(Address, TokenId),
}

/// A page of transfers.
#[derive(Debug)]
pub struct TransferPage {
    /// Newest first.
    pub transfers: Vec<Transfer>,
    /// Length of the lists.
    pub total: u64,
    /// What comes after them.
    pub rest: Rest,
}

/// Reads of transfers.
#[derive(Clone)]
pub struct Transfers(ChainTable);

#[derive(Deserialize)]
struct NumberedTransfer {
    sk: String,
    #[serde(flatten)]
    transfer: Transfer,
}

enum Part {
    Paid(PaymentFilter),
    Other(TransferList),
}

struct OnePart<'a> {
    table: &'a ChainTable,
    chain: ChainId,
    part: Part,
}

impl TransferList {
    fn partition(self, chain: ChainId) -> String {
        let filter = match self {
            Self::All => String::new(),
            Self::Artist(creator, of) => format!("#ARTIST#{creator}#{of}"),
            Self::Collector(account, of) => format!("#COLLECTOR#{account}#{of}"),
            Self::Moment(collection, token) => format!("#MOMENT#{collection}#{token}"),
        };
        rows::transfers(chain, &filter)
    }

    fn parts(self) -> impl Iterator<Item = Part> {
        let collector = |collector| PaymentFilter { collector: Some(collector), ..PaymentFilter::default() };
        let paid = match self {
            Self::All => Some(PaymentFilter::default()),
            Self::Artist(creator, TransferType::Payment) => Some(PaymentFilter::of_artist(creator)),
            Self::Collector(account, TransferType::Payment) => Some(collector(account)),
            Self::Artist(..) | Self::Collector(..) => None,
            Self::Moment(collection, token) => {
                Some(PaymentFilter { moment: Some((collection, token)), ..PaymentFilter::default() })
            }
        };
        paid.map(Part::Paid).into_iter().chain([Part::Other(self)])
    }
}

impl Transfers {
    /// Uses the chain table.
    pub fn new(chain: ChainTable) -> Self {
        Self(chain)
    }

    /// Returns transfers of several lists, newest first. Two or three reads a list; more beyond the first hundred.
    pub async fn newest_of(
        &self,
        lists: &[(ChainId, TransferList)],
        offset: u64,
        limit: usize,
    ) -> Result<TransferPage, StoreError> {
        Ok(merged::newest(&self.parts(lists), offset, limit).await?.into())
    }

    /// The same from where a page begins; `None` if the page before was of others. Two or three reads a list after another page.
    pub async fn starting_at(
        &self,
        lists: &[(ChainId, TransferList)],
        start: &PageStart,
    ) -> Result<Option<TransferPage>, StoreError> {
        Ok(merged::starting_at(&self.parts(lists), start).await?.map(TransferPage::from))
    }

    fn parts(&self, lists: &[(ChainId, TransferList)]) -> Vec<OnePart<'_>> {
        let part = |chain: ChainId| move |part| OnePart { table: &self.0, chain, part };
        lists.iter().flat_map(|(chain, list)| list.parts().map(part(*chain))).collect()
    }
}

impl NewestFirst for OnePart<'_> {
    type Row = NumberedTransfer;
    type Key = (u64, ChainId, u64, u64, String);

    async fn newest(&self, offset: u64, limit: usize) -> Result<CountedPage<NumberedTransfer>, StoreError> {
        self.counted(ListStart::Offset(offset), limit).await
    }

    fn key(&self, row: &NumberedTransfer) -> Self::Key {
        let Transfer { transferred_at, block, log, .. } = row.transfer;
        (transferred_at, self.chain, block, log, row.sk.clone())
    }
}

impl Numbered for OnePart<'_> {
    async fn oldest(&self, end: u64, limit: usize) -> Result<CountedPage<NumberedTransfer>, StoreError> {
        self.counted(ListStart::End(end), limit).await
    }
}

impl From<MergedPage<NumberedTransfer>> for TransferPage {
    fn from(page: MergedPage<NumberedTransfer>) -> Self {
        let total = page.total();
        Self { transfers: page.rows.into_iter().map(|row| row.transfer).collect(), total, rest: page.rest }
    }
}

impl OnePart<'_> {
    async fn counted(&self, start: ListStart, limit: usize) -> Result<CountedPage<NumberedTransfer>, StoreError> {
        let (table, all) = (self.table, TransferList::All.partition(self.chain));
        let list = match self.part {
            Part::Paid(filter) => {
                let page = Payments::new(table.clone()).numbered(self.chain, filter, start, limit).await?;
                let rows =
                    page.rows.into_iter().map(|row| NumberedTransfer { sk: row.sk, transfer: row.payment.into() });
                return Ok(CountedPage { rows: rows.collect(), total: page.total, end: page.end });
            }
            Part::Other(TransferList::All) => {
                return NumberedList { table, partition: all }.counted(start, limit).await;
            }
            Part::Other(list) => list,
        };
        let page = table.newest_numbers(&list.partition(self.chain), start, limit).await?;
        let mut rows: Vec<NumberedTransfer> =
            table.get_many(page.numbers.iter().map(|number| row_key(&all, *number))).await?;
        rows.sort_unstable_by(|a, b| b.sk.cmp(&a.sk));
        Ok(CountedPage { rows, total: page.total, end: page.end })
    }
}

impl UnitOfWork {
    /// Appends a transfer that isn't a payment to its four lists.
    pub async fn add_transfer(&mut self, transfer: &Transfer) -> Result<(), StoreError> {
        let number = self.append(&TransferList::All.partition(transfer.chain_id), transfer).await?;
        for list in lists_of(transfer) {
            self.append_number(&list.partition(transfer.chain_id), number).await?;
        }
        Ok(())
    }
}

/// Keys that adding the transfer reads, for prefetching.
pub fn transfer_keys(transfer: &Transfer) -> Vec<PrimaryKey> {
    let lists = lists_of(transfer).map(|list| newest_key(&list.partition(transfer.chain_id)));
    lists.into_iter().chain([length_key(&TransferList::All.partition(transfer.chain_id))]).collect()
}

fn lists_of(transfer: &Transfer) -> [TransferList; 3] {
    [
        TransferList::Artist(transfer.creator, transfer.r#type),
        TransferList::Collector(transfer.to, transfer.r#type),
        TransferList::Moment(transfer.collection, transfer.token_id),
    ]
}
