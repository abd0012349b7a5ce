//! Sets ordered by score and paged by offset. Each has a single writer; a page read during a write may begin a few
//! members off. Layout: docs/data-model.md, Lists and ranked sets.

mod load;
mod locate;
mod node;
mod rank_key;
mod read;
mod set;
mod tree;

pub use self::{
    load::SetLoader,
    rank_key::RankKey,
    read::{Direction, RankedPage},
    set::RankedSet,
};
