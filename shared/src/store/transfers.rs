//! Transfers: who got which tokens. Rows: docs/data-model.md, Transfers.

use serde::Deserialize;

use super::{
    structures::{
        merged::{self, NewestFirst},
        numbered_list::{CountedPage, NumberedList, length_key, row_key},
        packed_list::newest_key,
    },
    table::{PrimaryKey, StoreError, Table},
};
use crate::{
    model::{Address, ChainId, TokenId, Transfer, TransferType},
    store::index::UnitOfWork,
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
}

/// Reads of transfers.
#[derive(Clone)]
pub struct Transfers(Table);

#[derive(Deserialize)]
struct NumberedTransfer {
    sk: String,
    #[serde(flatten)]
    transfer: Transfer,
}

struct OneList<'a> {
    table: &'a Table,
    chain: ChainId,
    list: TransferList,
}

impl TransferList {
    fn partition(self, chain: ChainId) -> String {
        let filter = match self {
            Self::All => String::new(),
            Self::Artist(creator, of) => format!("#ARTIST#{creator}#{of}"),
            Self::Collector(account, of) => format!("#COLLECTOR#{account}#{of}"),
            Self::Moment(collection, token) => format!("#MOMENT#{collection}#{token}"),
        };
        format!("TRANSFERS#{chain}{filter}")
    }
}

impl Transfers {
    /// Uses the chain table.
    pub fn new(chain: Table) -> Self {
        Self(chain)
    }

    /// Returns transfers of several lists, newest first. Two or three reads a list; more beyond the first hundred.
    pub async fn newest_of(
        &self,
        lists: &[(ChainId, TransferList)],
        offset: u64,
        limit: usize,
    ) -> Result<TransferPage, StoreError> {
        let list = |(chain, list): &(ChainId, TransferList)| OneList { table: &self.0, chain: *chain, list: *list };
        let page = merged::newest(&Vec::from_iter(lists.iter().map(list)), offset, limit).await?;
        let total = page.total();
        Ok(TransferPage { transfers: page.rows.into_iter().map(|row| row.transfer).collect(), total })
    }
}

impl NewestFirst for OneList<'_> {
    type Row = NumberedTransfer;
    type Key = (u64, ChainId, String);

    async fn newest(&self, offset: u64, limit: usize) -> Result<CountedPage<NumberedTransfer>, StoreError> {
        let (table, all) = (self.table, TransferList::All.partition(self.chain));
        if self.list == TransferList::All {
            return NumberedList { table, partition: all }.newest_counted(offset, limit).await;
        }
        let page = table.newest_numbers(&self.list.partition(self.chain), offset, limit).await?;
        let mut rows: Vec<NumberedTransfer> = Vec::new();
        for numbers in page.numbers.chunks(100) {
            rows.extend(table.get_many::<NumberedTransfer>(numbers.iter().map(|number| row_key(&all, *number))).await?);
        }
        rows.sort_unstable_by(|a, b| b.sk.cmp(&a.sk));
        Ok(CountedPage { rows, total: page.total })
    }

    fn key(&self, row: &NumberedTransfer) -> Self::Key {
        (row.transfer.transferred_at, self.chain, row.sk.clone())
    }
}

impl UnitOfWork {
    /// Appends a transfer to its four lists.
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
