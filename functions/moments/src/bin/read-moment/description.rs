use shared::api::read::MomentView;

use super::ReadMomentQuery;

/// Read a moment
///
/// What is indexed of it, seconds behind the chain, with the sale in force.
#[utoipa::path(
    get,
    path = "/moment",
    tag = "Moments",
    params(ReadMomentQuery),
    responses((status = 200, description = "The moment.", body = MomentView)),
)]
fn read_moment() {}

openapi::published!(read_moment, 404);
