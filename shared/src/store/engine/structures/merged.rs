//! Pages of several lists as if they were one, newest first: reads grow with the number of lists and the logarithm of the
//! offset.

use std::cmp::Reverse;

use futures::future::try_join_all;

use super::numbered_list::CountedPage;
use crate::store::engine::table::StoreError;

const SKIPPED_AT_ONCE: u64 = 100;

/// A list that is read from its newest row on.
pub(in crate::store) trait NewestFirst {
    type Row;
    type Key: Ord;

    async fn newest(&self, offset: u64, limit: usize) -> Result<CountedPage<Self::Row>, StoreError>;

    /// Never rises along the list.
    fn key(&self, row: &Self::Row) -> Self::Key;
}

pub(in crate::store) struct MergedPage<R> {
    pub(in crate::store) rows: Vec<R>,
    /// Length of each list.
    pub(in crate::store) totals: Vec<u64>,
}

impl<R> MergedPage<R> {
    pub(in crate::store) fn total(&self) -> u64 {
        self.totals.iter().sum()
    }
}

/// A page of all lists together; rows with equal keys come in the reverse order of the lists.
pub(in crate::store) async fn newest<L: NewestFirst>(
    lists: &[L],
    offset: u64,
    limit: usize,
) -> Result<MergedPage<L::Row>, StoreError> {
    if let [only] = lists {
        let page = only.newest(offset, limit).await?;
        return Ok(MergedPage { rows: page.rows, totals: vec![page.total] });
    }
    let mut starts = vec![0; lists.len()];
    if offset == 0 {
        return page(lists, &starts, 0, limit).await;
    }
    let firsts = try_join_all(lists.iter().map(|list| list.newest(0, 1))).await?;
    let totals: Vec<u64> = firsts.iter().map(|first| first.total).collect();
    if offset >= totals.iter().sum() {
        return Ok(MergedPage { rows: Vec::new(), totals });
    }
    let mut filled = lists.iter().zip(&totals).filter(|(_, total)| **total > 0);
    if let (Some((only, _)), None) = (filled.next(), filled.next()) {
        return Ok(MergedPage { rows: only.newest(offset, limit).await?.rows, totals });
    }
    let at_once = SKIPPED_AT_ONCE.max(2 * lists.len() as u64);
    let mut left = offset;
    while left > at_once {
        let probes = probes(&starts, &totals, left);
        let rows =
            try_join_all(probes.iter().map(|(list, step)| lists[*list].newest(starts[*list] + step - 1, 1))).await?;
        let found = probes.into_iter().zip(rows).filter_map(|((list, step), page)| {
            let key = lists[list].key(page.rows.first()?);
            Some((key, list, step))
        });
        // All other lists' rows before it are fewer than their steps, so it and those before it are to be skipped.
        let Some((_, list, step)) = found.max_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1))) else { break };
        starts[list] += step;
        left -= step;
    }
    page(lists, &starts, left, limit).await
}

/// Lists with rows left, and how many of each to skip if its last one is the newest of them: together `left` at most.
fn probes(starts: &[u64], totals: &[u64], left: u64) -> Vec<(usize, u64)> {
    let rests = starts.iter().zip(totals).map(|(start, total)| total.saturating_sub(*start));
    let rests: Vec<(usize, u64)> = rests.enumerate().filter(|(_, rest)| *rest > 0).collect();
    let most = left / (rests.len() as u64).max(1);
    rests.into_iter().map(|(list, rest)| (list, most.min(rest))).collect()
}

async fn page<L: NewestFirst>(
    lists: &[L],
    starts: &[u64],
    skip: u64,
    limit: usize,
) -> Result<MergedPage<L::Row>, StoreError> {
    let skip = usize::try_from(skip).unwrap_or(usize::MAX);
    let wanted = skip.saturating_add(limit);
    let pages = try_join_all(lists.iter().zip(starts).map(|(list, start)| list.newest(*start, wanted))).await?;
    let totals = pages.iter().map(|page| page.total).collect();
    let mut rows = Vec::new();
    for (number, (list, page)) in lists.iter().zip(pages).enumerate() {
        rows.extend(page.rows.into_iter().map(|row| (Reverse((list.key(&row), number)), row)));
    }
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(MergedPage { rows: rows.into_iter().skip(skip).take(limit).map(|(_, row)| row).collect(), totals })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    struct Plain<'a>(Vec<u64>, &'a Cell<usize>);

    impl NewestFirst for Plain<'_> {
        type Row = u64;
        type Key = u64;

        async fn newest(&self, offset: u64, limit: usize) -> Result<CountedPage<u64>, StoreError> {
            self.1.set(self.1.get() + 1);
            let rows = self.0.iter().copied().skip(offset as usize).take(limit).collect();
            Ok(CountedPage { rows, total: self.0.len() as u64 })
        }

        fn key(&self, row: &u64) -> u64 {
            row / 10
        }
    }

    fn list(reads: &Cell<usize>, length: u64, spread: u64, seed: u64) -> Plain<'_> {
        let mut rows: Vec<u64> = (0..length).map(|number| number * number % spread + number * seed).collect();
        rows.sort_unstable_by(|a, b| b.cmp(a));
        Plain(rows, reads)
    }

    #[tokio::test]
    async fn pages_match_a_plain_list_with_few_reads() {
        let reads = Cell::new(0);
        for shape in [
            vec![(0, 1, 1), (0, 1, 1)],
            vec![(5_000, 7, 3), (0, 1, 1), (3, 1, 9_000)],
            vec![(20_000, 1_000, 1), (20_000, 10, 1)],
            vec![(20_000, 100, 1), (300, 100, 60), (2_000, 50, 40), (1, 1, 1), (9_000, 1, 1)],
        ] {
            let lists: Vec<_> =
                shape.into_iter().map(|(length, spread, seed)| list(&reads, length, spread, seed)).collect();
            let mut all: Vec<_> = lists
                .iter()
                .enumerate()
                .flat_map(|(of, list)| list.0.iter().map(move |row| (row / 10, of, *row)))
                .collect();
            all.sort_by_key(|&(key, of, _)| Reverse((key, of)));
            let all: Vec<u64> = all.into_iter().map(|(_, _, row)| row).collect();
            for offset in [0, 1, 99, 100, 101, 2_000, 9_999, 20_000, 31_000, 60_000, u64::MAX - 100] {
                reads.set(0);
                let found = newest(&lists, offset, 20).await.unwrap();
                assert_eq!(found.total(), all.len() as u64);
                let expected: Vec<u64> = all.iter().copied().skip(usize::try_from(offset).unwrap()).take(20).collect();
                assert_eq!(found.rows, expected, "from {offset} of {}", all.len());
                assert!(reads.get() <= 40 * lists.len(), "{} reads from {offset}", reads.get());
            }
        }
    }
}
