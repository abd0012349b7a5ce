//! Answers of public reads: stored rows with names and metadata.

mod collection;
mod event;
mod moment;
mod payment;
mod reader;
mod transfer;

pub use self::{
    collection::CollectionView,
    event::EventView,
    moment::{MomentView, Supply},
    payment::{FeeRecipientView, PaymentView},
    reader::{Pagination, Person, ReadError, Reader},
    transfer::TransferView,
};
