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
    security(("apiKey" = [])),
    request_body(content = CreateMomentRequest, example = json!({
        "contract": {
            "name": "Weather diary",
            "uri": "ipfs://bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy",
        },
        "token": {
            "tokenMetadataURI": "ar://jK9sLb1mRzUQxG6cVtYf0sPDNwqk3XeMhA5oTtWZyPI",
            "salesConfig": {
                "type": "fixedPrice",
                "pricePerToken": "1000000000000000",
                "saleStart": 0,
                "saleEnd": "18446744073709551615",
            },
        },
    })),
    responses((status = 200, description = "The moment.", body = inline(WriteResponse<CreatedMoment>))),
)]
fn create_moment() {}

openapi::published!(create_moment writes, 404);
