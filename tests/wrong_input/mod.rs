//! The words that wrong input is answered with: what was wrong, where, and what to do.

mod account;
mod publication;
mod read;
mod support;
mod write;
