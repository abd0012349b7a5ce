//! Collectors ranked by spending in final blocks: nothing is ever undone. Rows: docs/data-model.md, Leaderboards.

mod board;
mod count;

pub use self::{
    board::{Leaderboard, LeaderboardScope, Leaderboards, RankedCollector},
    count::{PaymentCursor, SpendingChange},
};
