//! Writes to a chain: authentication, idempotency, permissions and the reply.

mod refusal;
mod reply;
mod series;
mod service;
mod session;

pub use self::{
    reply::{ReceiptFields, ReplyFormat, SentTransaction, WriteResponse, WritesResponse},
    service::TransactionService,
    session::{Cost, WriteSession},
};
