use std::{fmt, str::FromStr};

use super::{
    invalid::Invalid,
    schema::{text_schema, whole_schema},
    text::parse_digits,
};

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

    /// A smaller page that begins where this one does; `None` for one of a single row.
    pub fn smaller(self) -> Option<Self> {
        let offset = self.offset();
        let limit = (1..=self.limit.0 / 2).rev().find(|limit| offset.is_multiple_of(u64::from(*limit)))?;
        let number = u32::try_from(offset / u64::from(limit) + 1).ok()?;
        Some(Self { limit: PageLimit(limit), number: PageNumber(number) })
    }

    /// Number of pages in a list of `rows`; 0 if it is empty.
    pub fn count(self, rows: u64) -> u64 {
        rows.div_ceil(u64::from(self.limit.0))
    }
}

/// Where a page begins, in numbers that stay as they are while rows are added: those of its list, or one of each of the lists
/// that are merged into it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Until(pub Vec<u128>);

impl Until {
    const MOST_NUMBERS: usize = 512;

    /// The numbers of `lists` merged lists, each the length of what is left of it; `None` if it is of others.
    pub fn lengths(&self, lists: usize) -> Option<Vec<u64>> {
        let lengths = self.0.iter().map(|number| u64::try_from(*number).ok());
        lengths.collect::<Option<Vec<_>>>().filter(|lengths| lengths.len() == lists)
    }
}

text_schema!(
    Until,
    "Where the page begins, as the `Link` of the page before names it: following it loses and repeats nothing while rows are \
     added. `page` then only numbers the page.",
    "1f4.2a",
    pattern = r"^[0-9a-f]{1,32}(\.[0-9a-f]{1,32}){0,511}$",
);

impl FromStr for Until {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let number = |digits: &str| u128::from_str_radix(digits, 16).ok().filter(|_| digits.bytes().all(is_digit));
        let numbers: Option<Vec<u128>> = text.split('.').take(Self::MOST_NUMBERS + 1).map(number).collect();
        let numbers = numbers.filter(|numbers| numbers.len() <= Self::MOST_NUMBERS);
        numbers.map(Self).ok_or(Invalid("must be the until of a next page"))
    }
}

impl fmt::Display for Until {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, separator) in self.0.iter().zip(std::iter::once("").chain(std::iter::repeat("."))) {
            write!(formatter, "{separator}{number:x}")?;
        }
        Ok(())
    }
}

/// A page of a list to which rows are added meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageStart {
    /// The page.
    pub page: Page,
    /// Where it begins, unless its number says so.
    pub until: Option<Until>,
}

impl From<Page> for PageStart {
    fn from(page: Page) -> Self {
        Self { page, until: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_read_as_it_is_written() {
        let most = vec!["f".repeat(32); 512].join(".");
        for text in ["0", "1f4", "1f4.2a.0", &most] {
            assert_eq!(text.parse::<Until>().unwrap().to_string(), text);
        }
        for text in ["", ".", "1.", "1F", "+1", "1..2", "g", &"1".repeat(33), &format!("{most}.1")] {
            assert!(text.parse::<Until>().is_err(), "{text:?} was accepted");
        }
        let until: Until = "1f4.2a".parse().unwrap();
        assert_eq!((until.lengths(2), until.lengths(1)), (Some(vec![500, 42]), None));
        assert_eq!(Until(vec![u128::MAX]).lengths(1), None);
    }

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
    fn smaller_pages_begin_where_the_larger_one_does() {
        let page = |limit: u32, number: u32| Page { limit: PageLimit(limit), number: PageNumber(number) };
        assert_eq!(page(100, 1).smaller(), Some(page(50, 1)));
        assert_eq!(page(100, 3).smaller(), Some(page(50, 5)));
        assert_eq!(page(97, 2).smaller(), Some(page(1, 98)));
        assert_eq!(page(1, 7).smaller(), None);
        for number in 1..200 {
            let (mut smaller, offset) = (page(100, number), page(100, number).offset());
            while let Some(next) = smaller.smaller() {
                assert!(next.offset() == offset && next.rows() < smaller.rows());
                smaller = next;
            }
            assert_eq!(smaller.rows(), 1);
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
