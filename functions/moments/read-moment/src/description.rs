use shared::api::read::MomentView;

use super::ReadMomentQuery;

/// Read a moment
#[utoipa::path(
    get,
    path = "/moment",
    tag = "Moments",
    params(ReadMomentQuery),
    responses((status = 200, description = "The moment.", body = MomentView)),
)]
fn read_moment() {}

openapi::published!(read_moment, 404);
