//! Answers of public reads: stored rows with names and metadata.

mod collection;
mod moment;
mod payment;
mod reader;
mod transfer;

pub use self::{
    collection::CollectionView,
    moment::{MomentView, SaleView, Supply},
    payment::{FeeRecipientView, PaymentView},
    reader::{Pagination, Person, ReadError, Reader},
    transfer::TransferView,
};
