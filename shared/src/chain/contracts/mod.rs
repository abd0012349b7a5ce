//! Bindings of contracts that the service calls or whose events it indexes.

pub mod native;
pub mod safe;
pub mod third_party;
