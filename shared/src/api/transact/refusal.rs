//! Answers to writes that aren't queued.

use crate::{
    chain::{
        History, Spending,
        protocol::binding::BindError,
        transaction::{PlanError, PolicyError},
    },
    http::{ApiError, LimitUnit, RateLimit},
    model::{Address, DAY},
    store::artist::AdmissionRefusal,
};
use std::time::Duration;

const WEI_PER_GWEI: u64 = 1_000_000_000;

#[derive(Debug, thiserror::Error)]
#[error("not admitted: {0:?}")]
struct NotAdmitted(AdmissionRefusal);

/// An artist's budgets on a chain, at a Unix time in seconds.
#[derive(Clone, Copy)]
pub(super) struct Budget<'a> {
    pub(super) spending: &'a Spending,
    pub(super) history: History,
    /// Wei of the artist that are reserved or spent today.
    pub(super) spent: u64,
    pub(super) now: u64,
}

impl Budget<'_> {
    /// What is left of the artist's own budget.
    pub(super) fn limit(&self) -> RateLimit {
        let limit = self.spending.artist_limit(self.history);
        RateLimit {
            unit: LimitUnit::Gwei,
            max: limit / WEI_PER_GWEI,
            window: Duration::from_secs(DAY),
            left: limit.saturating_sub(self.spent) / WEI_PER_GWEI,
            reset: Duration::from_secs(DAY - self.now % DAY),
        }
    }

    pub(super) fn refused(&self, refusal: AdmissionRefusal) -> ApiError {
        let limit = self.limit();
        match refusal {
            AdmissionRefusal::DailySpent => ApiError::too_many(
                "This would pass what this API key may spend today: wait until midnight, UTC",
                limit.reset.as_secs(),
            ),
            AdmissionRefusal::ArtistSpent => {
                ApiError::limited("This would pass your budget for today's fees: wait until midnight, UTC", &limit)
            }
            AdmissionRefusal::PoolSpent => {
                let who = self.spending.pool(self.history).pool;
                let words = format!("The service's budget of today for {who} is used up: wait until midnight, UTC");
                ApiError::unavailable(words, limit.reset.as_secs(), NotAdmitted(refusal))
            }
            AdmissionRefusal::TooManyWaiting => {
                ApiError::too_many("Too many of your transactions are waiting: try again in a moment", 5)
            }
            AdmissionRefusal::KeyInUse | AdmissionRefusal::NoPlace => in_progress(),
        }
    }
}

/// What who claims is told: the budgets are those of the link's artist.
pub(super) fn refused_claim(refusal: AdmissionRefusal, now: u64) -> ApiError {
    match refusal {
        AdmissionRefusal::TooManyWaiting => {
            ApiError::too_many("Many people are claiming at once: try again in a moment", 5)
        }
        _ => ApiError::too_many(
            "What may be given away today is used up: come back after midnight, UTC",
            DAY - now % DAY,
        ),
    }
}

pub(super) fn in_progress() -> ApiError {
    ApiError::in_progress("A request with this Idempotency-Key is being answered: ask again in a moment", 2)
}

impl From<PlanError> for ApiError {
    fn from(error: PlanError) -> Self {
        match error {
            PlanError::Reverts(reason) => Self::unprocessable(reason),
            PlanError::Bind(BindError::Refused { field, reason }) => Self::invalid_field(field, reason.to_string()),
            PlanError::Bind(error @ BindError::NoSale) => Self::not_found(error.to_string()),
            PlanError::Bind(error @ BindError::NoNextToken) => Self::unprocessable(error.to_string()),
            PlanError::Bind(error @ (BindError::Changed | BindError::SoldOut)) => Self::conflict(error.to_string()),
            PlanError::Forbidden(reason) => Self::forbidden(reason),
            PlanError::Overtaken(_) => {
                Self::unavailable("Another token is being added to this collection. Try again.", 2, error)
            }
            PlanError::AccountCannotPay => Self::payment_required("Your account can't pay for this", Vec::new()),
            PlanError::Policy(PolicyError::Function { target, .. }) => {
                Self::forbidden(format!("This service makes no such call to {}", Address::from(target)))
            }
            PlanError::TooLong { bytes, most } => Self::unprocessable(format!(
                "The request encodes to {bytes} bytes of calldata; one transaction takes at most {most}. Split the request."
            )),
            PlanError::Gas { needed, most } => {
                Self::unprocessable(format!("This needs {needed} gas, more than the {most} that one request may use"))
            }
            PlanError::Fee { .. } => Self::unavailable("The chain's fees are too high now: try again later", 60, error),
            PlanError::Node(error) => error.into(),
            PlanError::ForeignWallet(_) => Self::internal(error),
        }
    }
}
