use shared::{
    http::publication_form::CreateCollectionRequest,
    publication::FoundCollection,
    writing::{SentTransaction, WriteResponse},
};

/// Create a collection
///
/// Makes an ERC-1155 contract that the artist's account is the admin of.
#[utoipa::path(
    post,
    path = "/collections",
    tag = "Collections",
    security(("apiKey" = [])),
    request_body(content = CreateCollectionRequest, example = json!({
        "name": "Weather diary",
        "uri": "ipfs://bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy",
    })),
    responses(
        (status = 200, description = "The collection is there.", body = inline(WriteResponse<FoundCollection>)),
        (status = 202, description = "Its transaction isn't mined yet: send the request again, with the same \
            `Idempotency-Key`, to ask how it went.", body = SentTransaction),
    ),
)]
fn create_collection() {}

contract::published!(create_collection writes);
