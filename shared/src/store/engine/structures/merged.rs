//! Pages of several lists as if they were one, newest first: reads grow with the number of lists and the logarithm of the
//! offset.

use std::cmp::Reverse;

use futures::future::try_join_all;

use super::numbered_list::CountedPage;
use crate::{
    model::{PageStart, Until},
    store::engine::table::StoreError,
};

const SKIPPED_AT_ONCE: u64 = 100;

/// A list that is read from its newest row on.
pub(in crate::store) trait NewestFirst {
    type Row;
    type Key: Ord;

    async fn newest(&self, offset: u64, limit: usize) -> Result<CountedPage<Self::Row>, StoreError>;

    /// Never rises along the list.
    fn key(&self, row: &Self::Row) -> Self::Key;
}

/// A list whose rows keep their numbers: a page of it can begin where another ended, whatever was added meanwhile.
pub(in crate::store) trait Numbered: NewestFirst {
    /// Rows among the oldest `end`, newest first.
    async fn oldest(&self, end: u64, limit: usize) -> Result<CountedPage<Self::Row>, StoreError>;
}

pub(in crate::store) struct MergedPage<R> {
    pub(in crate::store) rows: Vec<R>,
    /// Length of each list.
    pub(in crate::store) totals: Vec<u64>,
    pub(in crate::store) rest: Rest,
}

/// What is left of the lists after each row of a page.
#[derive(Clone, Debug, Default)]
pub struct Rest {
    /// Number of rows of each list from the page's first one on.
    ends: Vec<u64>,
    /// The list that has each row of the page.
    of: Vec<usize>,
}

impl Rest {
    /// Where the page after the first `rows` of this one begins; `None` if nothing is left.
    pub fn after(&self, rows: usize) -> Option<Until> {
        let mut ends = self.ends.clone();
        for list in self.of.iter().take(rows) {
            ends.iter_mut().skip(*list).take(1).for_each(|end| *end = end.saturating_sub(1));
        }
        ends.iter().any(|end| *end > 0).then(|| Until(ends.into_iter().map(u128::from).collect()))
    }
}

impl<R> MergedPage<R> {
    pub(in crate::store) fn total(&self) -> u64 {
        self.totals.iter().sum()
    }
}

/// A page of all lists together, from its number or from where the one before ended; `None` if that one was of other lists.
/// With the latter, one read a list.
pub(in crate::store) async fn starting_at<L: Numbered>(
    lists: &[L],
    start: &PageStart,
) -> Result<Option<MergedPage<L::Row>>, StoreError> {
    let (page, limit) = (start.page, start.page.rows());
    let Some(until) = &start.until else { return newest(lists, page.offset(), limit).await.map(Some) };
    let Some(ends) = until.lengths(lists.len()) else { return Ok(None) };
    let pages = try_join_all(lists.iter().zip(ends).map(|(list, end)| list.oldest(end, limit))).await?;
    Ok(Some(merge(lists, pages, 0, limit)))
}

/// A page of all lists together; rows with equal keys come in the reverse order of the lists.
pub(in crate::store) async fn newest<L: NewestFirst>(
    lists: &[L],
    offset: u64,
    limit: usize,
) -> Result<MergedPage<L::Row>, StoreError> {
    if let [only] = lists {
        let page = only.newest(offset, limit).await?;
        return Ok(merge(lists, vec![page], 0, limit));
    }
    let mut starts = vec![0; lists.len()];
    if offset == 0 {
        return page(lists, &starts, 0, limit).await;
    }
    let firsts = try_join_all(lists.iter().map(|list| list.newest(0, 1))).await?;
    let totals: Vec<u64> = firsts.iter().map(|first| first.total).collect();
    if offset >= totals.iter().sum() {
        return Ok(MergedPage { rows: Vec::new(), totals, rest: Rest::default() });
    }
    let mut filled = totals.iter().enumerate().filter(|(_, total)| **total > 0).map(|(list, _)| list);
    if let (Some(only), None) = (filled.next(), filled.next()) {
        let mut pages = firsts.into_iter().map(|_| CountedPage::empty()).collect::<Vec<_>>();
        pages[only] = lists[only].newest(offset, limit).await?;
        return Ok(merge(lists, pages, 0, limit));
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
    Ok(merge(lists, pages, skip, limit))
}

/// One page of each list's, without the first `skip` rows.
pub(in crate::store) fn merge<L: NewestFirst>(
    lists: &[L],
    pages: Vec<CountedPage<L::Row>>,
    skip: usize,
    limit: usize,
) -> MergedPage<L::Row> {
    let totals = pages.iter().map(|page| page.total).collect();
    let mut ends: Vec<u64> = pages.iter().map(|page| page.end).collect();
    let mut rows = Vec::new();
    for (number, (list, page)) in lists.iter().zip(pages).enumerate() {
        rows.extend(page.rows.into_iter().map(|row| (Reverse((list.key(&row), number)), row)));
    }
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    for (Reverse((_, list)), _) in rows.iter().take(skip) {
        ends[*list] = ends[*list].saturating_sub(1);
    }
    let (of, rows) = rows.into_iter().skip(skip).take(limit).map(|(Reverse((_, list)), row)| (list, row)).unzip();
    MergedPage { rows, totals, rest: Rest { ends, of } }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::model::Page;

    struct Plain<'a>(Vec<u64>, &'a Cell<usize>);

    impl NewestFirst for Plain<'_> {
        type Row = u64;
        type Key = u64;

        async fn newest(&self, offset: u64, limit: usize) -> Result<CountedPage<u64>, StoreError> {
            self.1.set(self.1.get() + 1);
            let rows = self.0.iter().copied().skip(offset as usize).take(limit).collect();
            let total = self.0.len() as u64;
            Ok(CountedPage { rows, total, end: total.saturating_sub(offset) })
        }

        fn key(&self, row: &u64) -> u64 {
            row / 10
        }
    }

    impl Numbered for Plain<'_> {
        async fn oldest(&self, end: u64, limit: usize) -> Result<CountedPage<u64>, StoreError> {
            self.newest(self.0.len() as u64 - end, limit).await
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

    #[tokio::test]
    async fn a_walk_from_any_page_misses_and_repeats_nothing_while_rows_are_added() {
        let reads = Cell::new(0);
        for shape in [vec![(250, 7, 3)], vec![(0, 1, 1), (90, 9, 5)], vec![(700, 100, 1), (300, 100, 60), (1, 1, 1)]] {
            let mut lists: Vec<_> =
                shape.iter().map(|(length, spread, seed)| list(&reads, *length, *spread, *seed)).collect();
            let all: u64 = shape.iter().map(|(length, _, _)| length).sum();
            for number in [1_u64, 2, 9] {
                let page = Page { limit: "20".parse().unwrap(), number: number.to_string().parse().unwrap() };
                let expected = newest(&lists, page.offset(), 10_000).await.unwrap().rows;
                let (mut start, mut walked) = (PageStart::from(page), Vec::<u64>::new());
                loop {
                    let found = starting_at(&lists, &start).await.unwrap().unwrap();
                    // A page may end early.
                    let shown = found.rows.len().min(13);
                    walked.extend(&found.rows[..shown]);
                    for list in &mut lists {
                        let newest = list.0.first().map_or(1, |newest| newest + 1);
                        list.0.insert(0, newest);
                    }
                    let Some(until) = found.rest.after(shown) else { break };
                    start.until = Some(until);
                }
                assert_eq!(walked, expected, "from page {number} of {all}");
            }
            let other = PageStart { page: Page::FIRST, until: Some(Until(vec![1; 7])) };
            assert!(starting_at(&lists, &other).await.unwrap().is_none());
        }
    }
}
