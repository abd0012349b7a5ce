//! Description of `POST /collections`.

use shared::api::{
    publish::{CreateCollectionRequest, CreatedCollection},
    transact::WriteResponse,
};

/// Create a collection
///
/// Deploys an ERC-1155 contract with the artist's embedded wallet as its admin.
#[utoipa::path(
    post,
    path = "/collections",
    tag = "Collections",
    security(("apiKey" = []), ("token" = [])),
    request_body(content = CreateCollectionRequest, example = json!({
        "name": "Weather diary",
        "uri": "ipfs://bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy",
    })),
    responses((status = 200, description = "The collection.", body = inline(WriteResponse<CreatedCollection>))),
    extensions(("x-effect" = json!("write"))),
)]
pub fn create_collection() {}
