//! Publishing collections and moments: the request, its calls, and what the receipt says was created.

mod created;
mod publication;
mod request;

pub use self::{
    created::{CreatedCollection, CreatedMoment, CreatedMoments},
    publication::{Publication, locate_split},
    request::{
        CreateCollectionRequest, CreateMomentRequest, CreateMomentsRequest, MAX_MOMENTS_BYTES, MomentContract,
        MomentToken, SplitRecipient, Splits,
    },
};
