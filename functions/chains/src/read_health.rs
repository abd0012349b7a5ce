//! Contract of `GET /health`.

use serde::Serialize;
use shared::model::ChainId;
use utoipa::ToSchema;

/// Whether the service answers.
#[derive(Serialize, ToSchema)]
pub struct ReadHealthResponse<'a> {
    pub status: HealthStatus,
    /// The version that runs.
    pub version: &'a str,
    /// How far each chain is read.
    pub chains: Vec<IndexedChain>,
}

/// A chain's progress.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IndexedChain {
    pub chain_id: ChainId,
    /// Number of the last block that reads know of; null before the first.
    #[schema(required = true)]
    pub indexed_block: Option<u64>,
}

/// Nothing but `ok`: a service that doesn't answer so isn't.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum HealthStatus {
    Ok,
}

/// Read the service's health
///
/// For monitors: 200 while requests are answered and the database is read.
#[utoipa::path(
    get,
    path = "/health",
    tag = "Service",
    responses((status = 200, description = "It answers.", body = ReadHealthResponse<'static>)),
)]
pub fn read_health() {}
