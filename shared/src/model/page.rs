use std::str::FromStr;

use utoipa::IntoParams;

use super::{Invalid, moment::parse_digits, schema::whole_schema};

/// How many rows a page of a list has at most: 1 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageLimit(u32);

impl PageLimit {
    /// Where a request doesn't say.
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

/// Which page of a list: 1 is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageNumber(u32);

impl PageNumber {
    /// Where a list begins.
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

whole_schema!(PageLimit, "How many rows a page has.", 20, 1, 100);
whole_schema!(PageNumber, "Which page it is; 1 is the first.", 1, 1, u32::MAX as usize);

/// How a query names a page.
#[derive(Clone, Copy, Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageParameters {
    /// How many rows a page has.
    #[param(default = 20, required = false)]
    pub limit: PageLimit,
    /// Which page; 1 is the first.
    #[param(default = 1, required = false)]
    pub page: PageNumber,
}

/// A page of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// How many rows it has, unless the list ends.
    pub limit: PageLimit,
    /// Which one it is.
    pub number: PageNumber,
}

impl Page {
    /// How many rows it has at most.
    pub fn rows(self) -> usize {
        usize::try_from(self.limit.0).unwrap_or(usize::MAX)
    }

    /// How many rows stand on the pages before.
    pub fn offset(self) -> u64 {
        u64::from(self.number.0 - 1) * u64::from(self.limit.0)
    }

    /// How many rows stand on it and on the pages before.
    pub fn end(self) -> u64 {
        self.offset() + u64::from(self.limit.0)
    }

    /// How many pages a list of `rows` has: none if it is empty.
    pub fn count(self, rows: u64) -> u64 {
        rows.div_ceil(u64::from(self.limit.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_lie_side_by_side() {
        let page = |limit: &str, number: &str| Page { limit: limit.parse().unwrap(), number: number.parse().unwrap() };
        assert_eq!((page("20", "1").offset(), page("20", "3").offset()), (0, 40));
        assert_eq!(page("100", "4294967295").offset(), 429_496_729_400);
        for (rows, count) in [(0, 0), (1, 1), (20, 1), (21, 2), (40, 2)] {
            assert_eq!(page("20", "1").count(rows), count, "{rows}");
        }
    }

    #[test]
    fn what_is_no_page_is_refused() {
        for text in ["", "0", "101", "-1", "1.5", "+1", " 1", "1e1", "ten", "4294967297"] {
            assert!(text.parse::<PageLimit>().is_err(), "{text:?} was accepted as a limit");
        }
        for text in ["", "0", "-1", "1.5", "+1", " 1", "first", "4294967296"] {
            assert!(text.parse::<PageNumber>().is_err(), "{text:?} was accepted as a number");
        }
    }
}
