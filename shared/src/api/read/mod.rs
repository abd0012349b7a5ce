//! Answers of public reads: stored rows with names and metadata.

mod collection;
mod event;
mod moment;
mod payment;
mod reader;
mod site;
mod transfer;

pub use self::{
    collection::CollectionView,
    event::EventView,
    moment::{CollectionName, MomentView, Supply},
    payment::{FeeRecipientView, PaymentView},
    reader::{Pagination, Person, ReadError, Reader},
    site::Site,
    transfer::TransferView,
};
