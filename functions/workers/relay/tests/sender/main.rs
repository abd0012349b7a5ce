//! `TransactionSender` with a real chain, real storage and real keys, and how `settle-transactions` completes writes that
//! were interrupted at any step.

mod fees;
mod limits;
mod recovery;
mod support;
mod writes;
