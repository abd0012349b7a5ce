//! Description of `POST /moment/create/writing`.

use shared::api::{
    publish::{CreateWritingRequest, CreatedMoment},
    transact::WriteResponse,
};

/// Create a moment of a text
///
/// Stores the text and its metadata here, and creates the moment in one call.
#[utoipa::path(
    post,
    path = "/moment/create/writing",
    tag = "Moments",
    security(("apiKey" = []), ("token" = [])),
    request_body(content = CreateWritingRequest, example = json!({
        "contract": shared::api::publish::example::new_contract(),
        "title": "Fog",
        "text": "It came in at four and stayed.",
        "token": {
            "salesConfig": shared::api::publish::example::open_sale(),
        },
    })),
    responses((status = 200, description = "The moment.", body = inline(WriteResponse<CreatedMoment>))),
    extensions(("x-body" = json!("large")), ("x-effect" = json!("write")), ("x-errors" = json!([404]))),
)]
pub fn create_writing() {}
