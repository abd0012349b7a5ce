use super::{
    node::{Node, Part, Target},
    rank_key::RankKey,
};

/// Order of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Least key first.
    Ascending,
    /// Greatest key first.
    Descending,
}

/// Where a page begins.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Least key that counts; for reading downwards only.
    pub(super) since: RankKey,
    pub(super) direction: Direction,
    pub(super) offset: u64,
}

impl Place {
    /// First page of a whole set, which needs no node.
    pub(super) const FIRST: Self = Self { since: RankKey::MIN, direction: Direction::Ascending, offset: 0 };

    pub(super) fn is_first(self) -> bool {
        self.offset == 0 && self.since == RankKey::MIN
    }

    /// Index of the page's first member; `None` beyond the last.
    pub(super) fn index(self, root: &Node) -> Option<u64> {
        let last = root.count().checked_sub(1)?;
        let after = last.checked_sub(self.offset)?;
        Some(if self.direction == Direction::Ascending { self.offset } else { after })
    }

    /// Parts of the root that have the page's first member and `since`.
    pub(super) fn parts(self, root: &Node) -> impl Iterator<Item = Part> {
        let index = self.index(root).filter(|_| self.offset > 0).map(Target::Index);
        let since = Some(Target::Key(self.since)).filter(|_| self.since > RankKey::MIN);
        [index, since].into_iter().flatten().filter_map(|target| Some(root.find(target, 0)?.1))
    }
}
