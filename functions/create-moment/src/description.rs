use shared::{
    http::publication_form::CreateMomentRequest,
    publication::FoundMoment,
    writing::{SentTransaction, WriteResponse},
};

/// Create a moment
///
/// In a collection that is there or in a new one, which then comes about in the same transaction.
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
                "saleEnd": 18446744073709551615_u64,
            },
        },
    })),
    responses(
        (status = 200, description = "The moment is there.", body = inline(WriteResponse<FoundMoment>)),
        (status = 202, description = "Its transaction isn't mined yet: send the request again, with the same \
            `Idempotency-Key`, to ask how it went.", body = SentTransaction),
    ),
)]
fn create_moment() {}

contract::published!(create_moment writes, 404);
