//! Publishing collections and moments: the request, its calls, and what the receipt says was created.

mod created;
pub mod example;
mod own;
mod publication;
mod request;
mod service;
mod token;
mod wallet;

pub use self::{
    created::{CreatedCollection, CreatedMoment, CreatedMoments, CreatedSplit},
    own::expected_own_collection,
    publication::{Publication, Target, locate_split},
    request::{
        CreateCollectionRequest, CreateMomentRequest, CreateMomentsRequest, CreateSplitRequest, CreateWritingRequest,
        MomentContract, SplitRecipient, Splits,
    },
    service::{Publishing, PublishingService},
    token::{MomentToken, PublishedToken, RequestedMoment, WritingToken},
    wallet::WalletPublication,
};
