//! Lists of ascending numbers, many to a row. The newest row has a fixed key and the length: appending writes it alone.
//! Numbers of a labelled list are also in a list for each label: the newest row collects what these lists don't have yet.

use std::{
    collections::{HashMap, HashSet},
    hash::Hash,
};

use serde::{Deserialize, Serialize};

use crate::{
    aws::Dispatch,
    model::Address,
    store::engine::{
        index::UnitOfWork,
        rows,
        structures::numbered_list::ListStart,
        table::{PrimaryKey, StoreError, Table, text},
    },
};

/// Numbers of a full row: with it, the row stays under a write unit.
const MAX_NUMBERS: u64 = 64;

/// Labels of a row. A full row has none, since they divide [`MAX_NUMBERS`].
const MAX_LABELS: usize = 16;

#[derive(Clone, Default, Serialize, Deserialize)]
struct NumbersRow {
    /// Numbers in the rows before.
    before: u64,
    numbers: Vec<u64>,
    /// Labels of the last numbers: of those that aren't in their label's list yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    labels: Vec<Address>,
}

#[derive(Deserialize)]
struct ListRow {
    pk: String,
    #[serde(flatten)]
    row: NumbersRow,
}

impl NumbersRow {
    fn end(&self) -> u64 {
        self.before + self.numbers.len() as u64
    }

    /// Numbers with their position in the list, newest first.
    fn placed(&self) -> impl Iterator<Item = (u64, u64)> {
        self.numbers.iter().enumerate().rev().map(|(at, number)| (self.before + at as u64, *number))
    }

    /// The last numbers, with their labels.
    fn labelled(&self) -> impl Iterator<Item = (Address, u64)> {
        let first = self.numbers.len().saturating_sub(self.labels.len());
        self.labels.iter().copied().zip(self.numbers.iter().copied().skip(first))
    }
}

pub(in crate::store) struct NumbersPage {
    /// Newest first.
    pub(in crate::store) numbers: Vec<u64>,
    /// Length of the list.
    pub(in crate::store) total: u64,
    /// Number of them from the page's first one to the list's oldest.
    pub(in crate::store) end: u64,
}

impl UnitOfWork {
    /// Appends a number; returns its position, from 0. One row; one more after each [`MAX_NUMBERS`].
    pub(in crate::store) async fn append_number(&mut self, partition: &str, number: u64) -> Result<u64, StoreError> {
        let row = self.get_often::<NumbersRow>(&newest_key(partition)).await?.unwrap_or_default();
        self.push(partition, row, number)
    }

    /// Appends a number to a labelled list. Returns the numbers that are to be appended to their labels' lists now.
    pub(in crate::store) async fn append_labelled(
        &mut self,
        partition: &str,
        number: u64,
        label: Address,
    ) -> Result<Vec<(Address, u64)>, StoreError> {
        let mut row = self.get_often::<NumbersRow>(&newest_key(partition)).await?.unwrap_or_default();
        let mut due = Vec::new();
        if row.labels.len() == MAX_LABELS {
            due.extend(row.labelled());
            row.labels.clear();
        }
        row.labels.push(label);
        self.push(partition, row, number)?;
        Ok(due)
    }

    fn push(&mut self, partition: &str, mut row: NumbersRow, number: u64) -> Result<u64, StoreError> {
        if row.numbers.len() as u64 >= MAX_NUMBERS {
            let labels = std::mem::take(&mut row.labels);
            self.insert(&full_key(partition, row.before), &row)?;
            row = NumbersRow { before: row.end(), numbers: Vec::new(), labels };
        }
        let position = row.end();
        row.numbers.push(number);
        self.put_often(&newest_key(partition), &row)?;
        Ok(position)
    }
}

impl Table {
    /// One Query; with an offset, a read and a Query.
    pub(in crate::store) async fn newest_numbers(
        &self,
        partition: &str,
        start: ListStart,
        limit: usize,
    ) -> Result<NumbersPage, StoreError> {
        if let ListStart::Offset(0) = start {
            let rows = self.rows_of_numbers(partition, newest_key(partition), limit).await?;
            return Ok(page(&rows, start, limit));
        }
        let newest = self.get(&newest_key(partition)).await?;
        self.numbers_from(partition, newest, start, limit).await
    }

    /// The numbers of one label: those of its own list, and before them those that only the labelled list has. A read,
    /// and a Query for later pages.
    pub(in crate::store) async fn newest_of_label(
        &self,
        (labelled, label): (&str, Address),
        own: &str,
        start: ListStart,
        limit: usize,
    ) -> Result<NumbersPage, StoreError> {
        let rows: Vec<ListRow> = self.get_many([labelled, own].map(newest_key)).await?;
        let (mut of_label, mut recent) = (None, Vec::new());
        for ListRow { pk, row } in rows {
            if pk == own {
                of_label = Some(row);
            } else {
                recent.extend(row.labelled().filter(|(of, _)| *of == label).map(|(_, number)| number));
            }
        }
        // The rows may be read before and after the numbers get to their own list.
        let last = of_label.as_ref().and_then(|row| row.numbers.last().copied());
        recent.retain(|number| last.is_none_or(|last| *number > last));
        let own_total = of_label.as_ref().map_or(0, NumbersRow::end);
        let total = own_total + recent.len() as u64;
        let end = start.end(total);
        let skipped = usize::try_from(total - end).unwrap_or(usize::MAX);
        let mut numbers: Vec<u64> = recent.into_iter().rev().skip(skipped).take(limit).collect();
        let rest = limit - numbers.len();
        let older = self.numbers_from(own, of_label, ListStart::End(end.min(own_total)), rest).await?;
        numbers.extend(older.numbers);
        Ok(NumbersPage { numbers, total, end })
    }

    /// A page of a list whose newest row is known. A Query, if it begins or ends before that row.
    async fn numbers_from(
        &self,
        partition: &str,
        newest: Option<NumbersRow>,
        start: ListStart,
        limit: usize,
    ) -> Result<NumbersPage, StoreError> {
        let Some(newest) = newest else { return Ok(NumbersPage { numbers: Vec::new(), total: 0, end: 0 }) };
        // The position of the page's first number.
        let first = start.end(newest.end()).checked_sub(1);
        let mut rows = Vec::new();
        let wanted = limit as u64;
        if let Some(first) = first.filter(|first| *first + 1 - wanted.min(*first + 1) < newest.before) {
            let last = full_key(partition, first / MAX_NUMBERS * MAX_NUMBERS);
            rows = self.rows_of_numbers(partition, last, limit).await?;
        }
        // Another reader's row may be older than the one that was read first.
        rows.retain(|row| row.before < newest.before);
        rows.insert(0, newest);
        Ok(page(&rows, start, limit))
    }

    /// The numbers at these positions, from 0 on. One read per 100 rows.
    pub(in crate::store) async fn numbers_at(
        &self,
        partition: &str,
        positions: &[u64],
    ) -> Result<Vec<u64>, StoreError> {
        let wanted: HashSet<u64> = positions.iter().copied().collect();
        let full = wanted.iter().map(|position| full_key(partition, position / MAX_NUMBERS * MAX_NUMBERS));
        let keys: HashSet<PrimaryKey> = full.chain([newest_key(partition)]).collect();
        let mut found = HashMap::new();
        // The newest row may be read once it is another one, and the one that it was before that one is written.
        for _ in 0..2 {
            let rows: Vec<NumbersRow> = self.get_many(keys.iter().cloned()).await?;
            found.extend(rows.iter().flat_map(NumbersRow::placed).filter(|(position, _)| wanted.contains(position)));
            if found.len() == wanted.len() {
                break;
            }
        }
        Ok(found.into_values().collect())
    }

    /// Length of a list, perhaps of a moment ago.
    pub(in crate::store) async fn recent_count(&self, partition: &str) -> Result<u64, StoreError> {
        let call = self.client.get_item().table_name(&self.name).set_key(Some(newest_key(partition).item()));
        let row: Option<NumbersRow> = call.dispatch().await?.item.map(serde_dynamo::from_item).transpose()?;
        Ok(row.map_or(0, |row| row.end()))
    }

    /// Empty lists are left out. One read per 100.
    pub(in crate::store) async fn list_lengths<T: Copy + Eq + Hash>(
        &self,
        lists: &HashMap<String, T>,
    ) -> Result<HashMap<T, u64>, StoreError> {
        let rows: Vec<ListRow> = self.get_many(lists.keys().map(|partition| newest_key(partition))).await?;
        Ok(rows.into_iter().filter_map(|list| Some((*lists.get(&list.pk)?, list.row.end()))).collect())
    }

    /// Rows up to key `last`, the newest first: as many as a page can need.
    async fn rows_of_numbers(
        &self,
        partition: &str,
        last: PrimaryKey,
        limit: usize,
    ) -> Result<Vec<NumbersRow>, StoreError> {
        let call = self.query().key_condition_expression("pk = :list AND sk <= :last");
        let call = call.expression_attribute_values(":list", text(partition));
        let call = call.expression_attribute_values(":last", text(last.sk)).scan_index_forward(false);
        let rows = 2 + limit as u64 / MAX_NUMBERS;
        let answer = call.limit(i32::try_from(rows).unwrap_or(i32::MAX)).dispatch().await?;
        Ok(serde_dynamo::from_items(answer.items.unwrap_or_default())?)
    }
}

/// A page of these rows, the newest first.
fn page(rows: &[NumbersRow], start: ListStart, limit: usize) -> NumbersPage {
    let total = rows.first().map_or(0, NumbersRow::end);
    let end = start.end(total);
    let wanted = end.saturating_sub(limit as u64)..end;
    let numbers = rows.iter().flat_map(NumbersRow::placed).filter(|(position, _)| wanted.contains(position));
    NumbersPage { numbers: numbers.map(|(_, number)| number).collect(), total, end }
}

pub(in crate::store) fn newest_key(partition: &str) -> PrimaryKey {
    rows::newest_numbers(partition)
}

fn full_key(partition: &str, before: u64) -> PrimaryKey {
    rows::packed_numbers(partition, before)
}
