//! Writes to a chain: authentication, idempotency, permissions, admission and the reply.

mod admins;
mod follow;
mod refusal;
mod reply;
mod service;
mod session;
mod view;

pub use self::{
    reply::{PendingTransaction, SentTransaction, WriteResponse, WritesInProgressResponse, WritesResponse},
    service::TransactionService,
    session::{Cost, WriteSession},
    view::TransactionView,
};
