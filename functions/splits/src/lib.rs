//! Splits.

pub mod create_split;
pub mod distribute_split;
pub mod payout;
pub mod read_split;

/// The resource's part of the published contract.
#[derive(utoipa::OpenApi)]
#[openapi(paths(create_split::create_split, distribute_split::distribute_split, read_split::read_split,))]
pub struct Contract;
