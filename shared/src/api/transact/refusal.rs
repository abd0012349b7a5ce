//! Answers to writes that aren't sent.

use crate::{
    chain::transaction::{PolicyError, WriteError},
    http::{ApiError, RateLimit},
    model::Address,
    store::ClaimRefusal,
};

pub(super) fn in_progress() -> ApiError {
    ApiError::in_progress("A request with this Idempotency-Key is being answered: ask again in a moment", 2)
}

/// The answer to a failed write. `gas` is the artist's daily limit.
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
        WriteError::Node(error) => error.into(),
        WriteError::Store(_) | WriteError::ForeignWallet(_) => ApiError::internal(error),
    }
}
