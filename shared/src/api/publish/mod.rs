//! Publishing collections and moments: the request, its calls, and what the receipt says was created.

mod created;
mod publication;
mod request;
mod service;
mod token;

pub use self::{
    created::{CreatedCollection, CreatedMoment, CreatedMoments},
    publication::{Publication, locate_split},
    request::{
        CreateCollectionRequest, CreateMomentRequest, CreateMomentsRequest, CreateWritingRequest, MAX_MOMENTS_BYTES,
        MomentContract, SplitRecipient, Splits,
    },
    service::{Publishing, PublishingService},
    token::{MomentToken, PublishedToken, RequestedMoment, WritingToken},
};
