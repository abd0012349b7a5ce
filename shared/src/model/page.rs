use std::str::FromStr;

use super::{invalid::Invalid, moment::parse_digits, schema::whole_schema};

/// Most rows on a page of a list: 1 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageLimit(u32);

impl PageLimit {
    /// 20 rows.
    pub const DEFAULT: Self = Self(20);

    /// The number.
    pub fn get(self) -> u32 {
        self.0
    }
}

impl FromStr for PageLimit {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let limit = parse_digits(text).filter(|limit| (1..=100).contains(limit));
        limit.map(Self).ok_or(Invalid("must be a whole number from 1 to 100"))
    }
}

/// A page of a list; the first is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageNumber(u32);

impl PageNumber {
    /// The first page.
    pub const FIRST: Self = Self(1);

    /// The number.
    pub fn get(self) -> u32 {
        self.0
    }
}

impl FromStr for PageNumber {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let number = parse_digits(text).filter(|number| *number > 0);
        number.map(Self).ok_or(Invalid("must be a whole number from 1 to 4294967295"))
    }
}

whole_schema!(PageLimit, "Most rows on a page.", 20, 1, 100);
whole_schema!(PageNumber, "Number of the page; the first is 1.", 1, 1, u32::MAX as usize);

/// A page of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Most rows on the page.
    pub limit: PageLimit,
    /// Number of the page.
    pub number: PageNumber,
}

impl Page {
    /// The first page, with as many rows as a page has unless asked otherwise.
    pub const FIRST: Self = Self { limit: PageLimit::DEFAULT, number: PageNumber::FIRST };

    /// Most rows on the page.
    pub fn rows(self) -> usize {
        usize::try_from(self.limit.0).unwrap_or(usize::MAX)
    }

    /// Number of rows on earlier pages.
    pub fn offset(self) -> u64 {
        u64::from(self.number.0 - 1) * u64::from(self.limit.0)
    }

    /// Number of rows on this page and earlier ones.
    pub fn end(self) -> u64 {
        self.offset() + u64::from(self.limit.0)
    }

    /// Number of the next page of a list of `rows`, if there is one.
    pub fn next(self, rows: u64) -> Option<u32> {
        self.number.0.checked_add(1).filter(|_| self.end() < rows)
    }

    /// The next page of a list of `rows`, if there is one.
    pub fn following(self, rows: u64) -> Option<Self> {
        self.next(rows).map(|number| Self { number: PageNumber(number), ..self })
    }

    /// Number of pages in a list of `rows`; 0 if it is empty.
    pub fn count(self, rows: u64) -> u64 {
        rows.div_ceil(u64::from(self.limit.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_neither_overlap_nor_leave_gaps() {
        let page = |limit: &str, number: &str| Page { limit: limit.parse().unwrap(), number: number.parse().unwrap() };
        assert_eq!((page("20", "1").offset(), page("20", "3").offset()), (0, 40));
        assert_eq!(page("100", "4294967295").offset(), 429_496_729_400);
        for (rows, count) in [(0, 0), (1, 1), (20, 1), (21, 2), (40, 2)] {
            assert_eq!(page("20", "1").count(rows), count, "{rows}");
        }
    }

    #[test]
    fn invalid_limits_and_page_numbers_are_refused() {
        for text in ["", "0", "101", "-1", "1.5", "+1", " 1", "1e1", "ten", "4294967297"] {
            assert!(text.parse::<PageLimit>().is_err(), "{text:?} was accepted as a limit");
        }
        for text in ["", "0", "-1", "1.5", "+1", " 1", "first", "4294967296"] {
            assert!(text.parse::<PageNumber>().is_err(), "{text:?} was accepted as a number");
        }
    }
}
