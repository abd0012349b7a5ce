//! Contract of `GET /moderation`.

use serde::Serialize;
use shared::{model::Reason, store::artist::DecisionCount};
use utoipa::ToSchema;

/// What the operator decided, in numbers.
#[derive(Serialize, ToSchema)]
pub struct ReadModerationResponse {
    /// Months with decisions, the oldest first, by reason.
    pub decisions: Vec<MonthlyDecisions>,
}

/// Decisions of a month for a reason.
#[derive(Serialize, ToSchema)]
pub struct MonthlyDecisions {
    /// The month (UTC).
    #[schema(example = "2026-11", pattern = "^[0-9]{4}-[0-9]{2}$")]
    pub month: String,
    /// Why something was taken out of sight.
    pub reason: Reason,
    /// How often.
    pub count: u32,
}

impl From<DecisionCount> for MonthlyDecisions {
    fn from(count: DecisionCount) -> Self {
        Self { month: count.month, reason: count.reason, count: count.decisions }
    }
}

/// Count decisions
///
/// How often the operator took something out of sight, by month and reason.
#[utoipa::path(
    get,
    path = "/moderation",
    tag = "Moderation",
    responses((status = 200, description = "The numbers.", body = ReadModerationResponse)),
)]
pub fn read_moderation() {}
