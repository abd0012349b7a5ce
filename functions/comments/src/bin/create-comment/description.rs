use shared::api::{request::CollectionPath, transact::SentTransaction};

use super::CreateCommentRequest;

/// Comment on a moment
///
/// The artist's embedded wallet must hold the moment or be its admin. Listed comments can be replied to.
#[utoipa::path(
    post,
    path = "/comments/{network}/{contract}",
    tag = "Comments",
    security(("apiKey" = []), ("token" = [])),
    params(CollectionPath),
    request_body(content = CreateCommentRequest, example = json!({"tokenId": "1", "text": "The light on the water!"})),
    responses((status = 200, description = "The transaction.", body = SentTransaction)),
)]
fn create_comment() {}

openapi::published!(create_comment writes, 404);
