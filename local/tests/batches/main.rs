//! Packed transactions on a real chain, with the real Safe contracts: what hostile operations do to the others, what a
//! write costs, and what is told of a failure.

mod gas;
mod hostile;
mod reasons;
mod site;
