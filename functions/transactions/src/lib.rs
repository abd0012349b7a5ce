//! Artists' transactions.

pub mod cancel_transaction;
pub mod list_transactions;
mod own;
pub mod read_transaction;

pub use self::own::{OwnTransactions, TransactionPath};

/// The resource's part of the published contract.
#[derive(utoipa::OpenApi)]
#[openapi(paths(
    list_transactions::list_transactions,
    read_transaction::read_transaction,
    cancel_transaction::cancel_transaction,
))]
pub struct Contract;
