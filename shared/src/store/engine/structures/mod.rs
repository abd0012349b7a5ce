//! Data structures over rows. Layout: docs/data-model.md, Lists and ranked sets.

pub(in crate::store) mod merged;
pub(in crate::store) mod numbered_list;
pub(in crate::store) mod packed_list;
pub(in crate::store) mod ranked_set;
