use shared::{model::CollectionPath, writing::SentTransaction};

use super::CreateCommentRequest;

/// Comment on a moment
///
/// As the artist's account, which must have the moment or be its admin. A comment that is in the list can be replied to.
#[utoipa::path(
    post,
    path = "/comments/{network}/{contract}",
    tag = "Comments",
    security(("apiKey" = [])),
    params(CollectionPath),
    request_body(content = CreateCommentRequest, example = json!({"tokenId": "1", "text": "The light on the water!"})),
    responses((status = 200, description = "The transaction.", body = SentTransaction)),
)]
fn create_comment() {}

contract::published!(create_comment writes, 404);
