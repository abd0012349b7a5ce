//! Sets ordered by score and paged by offset, of one writer each. Layout: docs/data-model.md, Lists and ranked sets.

mod load;
mod locate;
mod node;
mod place;
mod rank_key;
mod read;
mod set;
mod tree;

pub use self::{
    load::SetLoader, locate::RankedSets, place::Direction, rank_key::RankKey, read::RankedPage, set::RankedSet,
};
