//! Answers of public reads: stored rows with names and metadata.

mod avatar;
mod collection;
mod event;
mod metadata;
mod moment;
mod moment_list;
mod page_size;
mod payment;
mod reader;
mod site;
mod transfer;

pub use self::{
    avatar::Avatar,
    collection::CollectionView,
    event::EventView,
    metadata::{ContentView, MetadataView, Placeholder, Preview},
    moment::{CollectionName, MomentView, MovedMoment, Supply},
    moment_list::{MomentList, MomentPage, NamedArtist},
    page_size::fitting,
    payment::{FeeRecipientView, PaymentView},
    reader::{Pagination, Person, ReadError, Reader},
    site::Site,
    transfer::TransferView,
};
