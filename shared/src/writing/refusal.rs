//! What a write that isn't made means for the client.

use crate::{
    chain::{engine::WriteError, node::NodeError, node_error::NodeFault, policy::PolicyError},
    http::{ApiError, RateLimit},
    model::{Address, MomentRef},
    store::ClaimRefusal,
};

pub(super) fn no_artist() -> ApiError {
    ApiError::unauthorized_key("The API key's artist is gone")
}

pub(super) fn in_progress() -> ApiError {
    ApiError::in_progress("A request with this Idempotency-Key is being answered: ask again in a moment", 2)
}

/// The one place that says what a failed write means for the client. `gas` is what the artist has left today.
pub(super) fn answer_error(error: WriteError, gas: &RateLimit) -> ApiError {
    const LATER: &str = "The service can't send transactions now: try again later";
    match error {
        WriteError::Reverts(reason) => ApiError::unprocessable(reason),
        WriteError::Forbidden(reason) => ApiError::forbidden(reason),
        WriteError::AccountCannotPay => ApiError::payment_required("Your account can't pay for this"),
        WriteError::Policy(PolicyError::Function { target, .. }) => {
            ApiError::forbidden(format!("This service makes no such call to {}", Address::from(target)))
        }
        WriteError::Policy(PolicyError::Gas { needed, max }) => {
            ApiError::unprocessable(format!("This needs {needed} gas, more than the {max} that one request may use"))
        }
        WriteError::Policy(PolicyError::Fee { .. }) => {
            ApiError::unavailable("The chain's fees are too high now: try again later", 60, error)
        }
        WriteError::Claim(ClaimRefusal::KeyInUse) => in_progress(),
        WriteError::Claim(ClaimRefusal::ArtistGasSpent) => {
            ApiError::limited("Your transactions have used up today's gas: wait until midnight, UTC", gas)
        }
        WriteError::Claim(ClaimRefusal::LaneGasSpent) => ApiError::unavailable(LATER, gas.reset.as_secs(), error),
        WriteError::Claim(ClaimRefusal::LaneFull) => ApiError::unavailable(LATER, 5, error),
        WriteError::Claim(ClaimRefusal::AccountUnderWay) => {
            ApiError::unavailable("Your account is being set up by another request: try again in a moment", 2, error)
        }
        WriteError::LaneCannotPay(_) => ApiError::unavailable(LATER, 60, error),
        WriteError::TooLate => ApiError::unavailable("That took too long, and nothing was sent: try again", 1, error),
        WriteError::Refused(_) => ApiError::bad_gateway("The chain's nodes refuse the transaction", error),
        WriteError::Signer(_) | WriteError::Signature(_) => {
            ApiError::bad_gateway("The transaction could not be signed: try again in a moment", error)
        }
        WriteError::Node(error) => answer_node_error(error),
        WriteError::Store(_) | WriteError::ForeignWallet(_) => error.into(),
    }
}

/// 404: there is no such moment.
pub fn no_moment(moment: &MomentRef) -> ApiError {
    let MomentRef { chain, collection, token } = moment;
    ApiError::not_found(format!("There is no moment {token} in {collection} on chain {chain}"))
}

/// 404: there is no such collection.
pub fn no_collection(address: Address) -> ApiError {
    ApiError::not_found(format!("There is no collection at {address}"))
}

/// What a node that fails means for the client.
pub fn answer_node_error(error: NodeError) -> ApiError {
    match error.fault() {
        NodeFault::Busy => ApiError::unavailable("The chain's nodes are busy: try again in a moment", 2, error),
        _ => ApiError::bad_gateway("The chain's nodes don't answer: try again in a moment", error),
    }
}
