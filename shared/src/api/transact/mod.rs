//! Writes to a chain: authentication, idempotency, permissions, admission and the reply.

mod admins;
mod claim;
mod follow;
mod moving;
mod refusal;
mod reply;
mod service;
mod session;
mod view;

pub use self::{
    claim::{Claim, Claimer},
    moving::Move,
    reply::{PendingTransaction, SentTransaction, WriteResponse, WritesInProgressResponse, WritesResponse},
    service::TransactionService,
    session::WriteSession,
    view::TransactionView,
};
