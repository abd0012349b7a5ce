//! Which answer an error becomes. One that isn't listed doesn't convert with `?`: its handler says what it means.

use crate::{
    api::read::ReadError,
    auth::{sign_in_code::SignInError, token::IssueError},
    bucket::BucketError,
    chain::{
        node::{NodeError, NodeFault},
        protocol::destination::DestinationError,
    },
    clock,
    http::ApiError,
    kms::KmsError,
    model::{Address, ArtistId, Cid, MomentRef, Reason, Suspension},
    store::{
        StoreError,
        artist::{Artists, Profile},
    },
};

/// 401: the credential is right, but its artist no longer exists.
pub fn no_artist() -> ApiError {
    ApiError::unauthorized_caller("The artist is gone: sign in again")
}

/// 409: the artist could never sign in again without this wallet or passkey.
pub fn last_way_in(way: &str) -> ApiError {
    ApiError::conflict(format!(
        "This {way} is your only way in. Add another one first: a wallet or a passkey, which counts after a day, or a mail \
         address, which counts once it signs you in and while mails to it don't come back"
    ))
}

/// 400: what is to prove the change proves something else, was used, or is by a way in that doesn't count.
pub fn unproved(field: &str) -> ApiError {
    ApiError::invalid_field(
        field,
        "was not given for this, has expired or was used, or is by a way in that doesn't count: begin with \
         POST /artists/proofs",
    )
}

/// 404: there is no such moment.
pub fn no_moment(moment: &MomentRef) -> ApiError {
    let MomentRef { chain, collection, token } = moment;
    ApiError::not_found(format!("There is no moment {token} in {collection} on chain {chain}"))
}

/// 404: the operator hid it.
pub fn withheld() -> ApiError {
    ApiError::not_found("The operator of this service doesn't show this")
}

/// Returns an artist who isn't suspended (403), for what isn't written to a chain. One read.
pub async fn require_active(artists: &Artists, artist: ArtistId) -> Result<Profile, ApiError> {
    let profile = artists.profile(artist).await?.ok_or_else(no_artist)?;
    refuse_suspended(profile.suspension, clock::now()?.as_secs())?;
    Ok(profile)
}

/// 403 while the operator suspends the artist, at `now` in Unix seconds.
pub fn refuse_suspended(suspension: Option<Suspension>, now: u64) -> Result<(), ApiError> {
    suspension.filter(|suspension| suspension.holds_at(now)).map_or(Ok(()), |held| Err(suspended(held)))
}

/// 403: the operator suspends the artist.
pub fn suspended(Suspension { reason, until }: Suspension) -> ApiError {
    let until = until.and_then(|end| clock::iso_8601(end).ok()).map(|end| format!(" until {end}")).unwrap_or_default();
    ApiError::forbidden(format!(
        "The operator of this service suspended your account{until} ({reason}): you can sign in, export your data, revoke \
         permissions and withdraw, and publish nothing. To appeal, answer the mail that told you of it"
    ))
}

/// 451: the operator removed the file.
pub fn removed(cid: Cid, reason: Reason) -> ApiError {
    ApiError::removed(format!("The operator of this service removed {cid} ({reason})"))
}

/// 404: there is no such collection.
pub fn no_collection(address: Address) -> ApiError {
    ApiError::not_found(format!("There is no collection at {address}"))
}

/// 404: there is no such split.
pub fn no_split(address: Address) -> ApiError {
    ApiError::not_found(format!("There is no split at {address}"))
}

macro_rules! internal {
    ($($error:ty),+) => {$(
        impl From<$error> for ApiError {
            fn from(error: $error) -> Self {
                Self::internal(error)
            }
        }
    )+};
}

internal!(KmsError, StoreError, BucketError, ReadError, SignInError, IssueError);

impl From<NodeError> for ApiError {
    fn from(error: NodeError) -> Self {
        match error {
            // Faults of the configuration.
            NodeError::None(_) | NodeError::Client(_) => Self::internal(error),
            NodeError::Deadline => Self::late(),
            _ if matches!(error.fault(), NodeFault::Busy) => {
                Self::unavailable("The chain's nodes are busy: try again in a moment", 2, error)
            }
            _ => Self::bad_gateway("The chain's nodes don't answer: try again in a moment", error),
        }
    }
}

impl From<DestinationError> for ApiError {
    fn from(error: DestinationError) -> Self {
        match error {
            DestinationError::NoCollection(address) => no_collection(address),
            DestinationError::Node(error) => error.into(),
        }
    }
}
