//! Data structures over rows. Layout: docs/data-model.md, Lists and ranked sets.

pub(super) mod merged;
pub(super) mod numbered_list;
pub(super) mod packed_list;
pub(super) mod ranked_set;
