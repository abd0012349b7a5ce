//! Where pages of timelines begin: after a number of moments, or after a position that none of them changes.

use crate::{
    model::{PageStart, Until},
    store::engine::structures::ranked_set::RankKey,
};

/// Where a page begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimelineStart {
    /// After so many of the newest moments.
    Offset(u64),
    /// After this position, however many are before it by now.
    After(TimelinePosition),
}

/// Where a moment is, the same in every timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimelinePosition(pub(super) RankKey);

impl TimelinePosition {
    /// The position as a page's start.
    pub fn until(self) -> Until {
        Until(vec![self.0.score, self.0.id])
    }

    /// The position that a page's start names; `None` if it names none.
    pub fn named(until: &Until) -> Option<Self> {
        let [score, id] = *until.0.as_slice() else { return None };
        Some(Self(RankKey { score, id }))
    }
}

impl TimelineStart {
    /// Where a page begins; `None` if the page before was of another kind of list.
    pub fn of(start: &PageStart) -> Option<Self> {
        match &start.until {
            None => Some(Self::Offset(start.page.offset())),
            Some(until) => TimelinePosition::named(until).map(Self::After),
        }
    }
}
