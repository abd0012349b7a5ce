use super::ListChainsResponse;

/// List the chains
///
/// The chains that are served, with their contracts, currencies and explorers.
#[utoipa::path(
    get,
    path = "/chains",
    tag = "Service",
    responses((status = 200, description = "The chains.", body = ListChainsResponse<'static>, headers(("cache-control" = String, description = "How long it may be kept.")))),
)]
fn list_chains() {}

openapi::published!(list_chains);
