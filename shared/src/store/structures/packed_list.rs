//! Lists of ascending numbers, many to a row. The newest row has a fixed key and the length: appending writes it alone.

use serde::{Deserialize, Serialize};

use crate::store::{
    index::UnitOfWork,
    table::{PrimaryKey, StoreError, Table, text},
};

const NEWEST: &str = "NEWEST";

/// Numbers of a full row: with it, the row stays under a write unit.
const MAX_NUMBERS: u64 = 64;

#[derive(Clone, Default, Serialize, Deserialize)]
struct NumbersRow {
    /// Numbers in the rows before.
    before: u64,
    numbers: Vec<u64>,
}

impl NumbersRow {
    fn end(&self) -> u64 {
        self.before + self.numbers.len() as u64
    }
}

pub(in crate::store) struct NumbersPage {
    /// Newest first.
    pub(in crate::store) numbers: Vec<u64>,
    /// Length of the list.
    pub(in crate::store) total: u64,
}

impl UnitOfWork {
    /// Appends a number. One row; one more after each [`MAX_NUMBERS`].
    pub(in crate::store) async fn append_number(&mut self, partition: &str, number: u64) -> Result<(), StoreError> {
        let key = newest_key(partition);
        let mut row = self.get_often::<NumbersRow>(&key).await?.unwrap_or_default();
        if row.numbers.len() as u64 >= MAX_NUMBERS {
            self.insert(&full_key(partition, row.before), &row)?;
            row = NumbersRow { before: row.end(), numbers: Vec::new() };
        }
        row.numbers.push(number);
        self.put_often(&key, &row)
    }
}

impl Table {
    /// One Query; with an offset, a read and a Query.
    pub(in crate::store) async fn newest_numbers(
        &self,
        partition: &str,
        offset: u64,
        limit: usize,
    ) -> Result<NumbersPage, StoreError> {
        let limit = limit as u64;
        let rows = if offset == 0 {
            self.rows_of_numbers(partition, newest_key(partition), 2 + limit / MAX_NUMBERS).await?
        } else {
            let newest: Option<NumbersRow> = self.get(&newest_key(partition)).await?;
            let Some(newest) = newest else { return Ok(NumbersPage { numbers: Vec::new(), total: 0 }) };
            // The position of the page's first number.
            let first = newest.end().checked_sub(offset.saturating_add(1));
            let mut rows = Vec::new();
            if let Some(first) = first.filter(|first| *first + 1 - limit.min(*first + 1) < newest.before) {
                let last = full_key(partition, first / MAX_NUMBERS * MAX_NUMBERS);
                rows = self.rows_of_numbers(partition, last, 2 + limit / MAX_NUMBERS).await?;
            }
            // Another reader's row may be older than the one that was read first.
            rows.retain(|row| row.before < newest.before);
            rows.insert(0, newest);
            rows
        };
        let total = rows.first().map_or(0, NumbersRow::end);
        let position_of = |row: &NumbersRow, number: usize| row.before + number as u64;
        let first = total.saturating_sub(offset);
        let wanted = first.saturating_sub(limit)..first;
        let numbers = rows.iter().flat_map(|row| {
            let placed = row.numbers.iter().enumerate().rev();
            placed.filter(|(at, _)| wanted.contains(&position_of(row, *at))).map(|(_, number)| *number)
        });
        Ok(NumbersPage { numbers: numbers.collect(), total })
    }

    /// Rows up to key `last`, the newest first.
    async fn rows_of_numbers(
        &self,
        partition: &str,
        last: PrimaryKey,
        limit: u64,
    ) -> Result<Vec<NumbersRow>, StoreError> {
        let call = self.query().key_condition_expression("pk = :list AND sk <= :last");
        let call = call.expression_attribute_values(":list", text(partition));
        let call = call.expression_attribute_values(":last", text(last.sk)).scan_index_forward(false);
        let answer = call.limit(i32::try_from(limit).unwrap_or(i32::MAX)).send().await?;
        Ok(serde_dynamo::from_items(answer.items.unwrap_or_default())?)
    }
}

pub(in crate::store) fn newest_key(partition: &str) -> PrimaryKey {
    PrimaryKey::new(partition, NEWEST)
}

fn full_key(partition: &str, before: u64) -> PrimaryKey {
    PrimaryKey::new(partition, format!("{before:012}"))
}
