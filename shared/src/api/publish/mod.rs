//! Publishing collections and moments: the request, its calls, and what the receipt says was created.

mod created;
mod own;
mod publication;
mod request;
mod token;

pub use self::{
    created::{CreatedCollection, CreatedMoment, CreatedMoments, CreatedSplit},
    own::{expected_own_collection, own_collection},
    publication::{Publication, Target, keep_metadata, locate_split},
    request::{
        CreateCollectionRequest, CreateMomentRequest, CreateMomentsRequest, CreateSplitRequest, CreateWritingRequest,
        MAX_MOMENTS_BYTES, MomentContract, SplitRecipient, Splits,
    },
    token::{MomentToken, PublishedToken, RequestedMoment, WritingToken},
};
