use super::{ReadSplitResponse, SplitPath};

/// Get a split
///
/// Its recipients, and what waits for them until `POST /splits/distribute`. A new split is there within seconds.
#[utoipa::path(
    get,
    path = "/splits/{network}/{address}",
    tag = "Splits",
    params(SplitPath),
    responses((status = 200, description = "The split.", body = ReadSplitResponse)),
)]
fn read_split() {}

openapi::published!(read_split, 404, 429, 502, 503);
