//! Description of `POST /moment/create`.

use shared::api::{
    publish::{CreateMomentRequest, CreatedMoment},
    transact::WriteResponse,
};

/// Create a moment
///
/// In an existing collection, in a new one that the same transaction creates or, without `contract`, in your own: one on each
/// chain, with your username as its name, which the first such request creates.
#[utoipa::path(
    post,
    path = "/moment/create",
    tag = "Moments",
    security(("apiKey" = []), ("token" = [])),
    request_body(content = CreateMomentRequest, example = json!({
        "contract": shared::api::publish::example::new_contract(),
        "token": {
            "tokenMetadataURI": "ar://jK9sLb1mRzUQxG6cVtYf0sPDNwqk3XeMhA5oTtWZyPI",
            "salesConfig": shared::api::publish::example::open_sale(),
        },
    })),
    responses((status = 200, description = "The moment.", body = inline(WriteResponse<CreatedMoment>))),
    extensions(("x-body" = json!("large")), ("x-effect" = json!("write")), ("x-errors" = json!([404]))),
)]
pub fn create_moment() {}
