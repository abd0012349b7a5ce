use shared::{
    http::publication_form::CreateMomentsRequest,
    publication::FoundMoments,
    writing::{SentTransaction, WriteResponse},
};

/// Create up to 50 moments
///
/// In one collection and one transaction: all of them or none. The body may have 256 KiB.
#[utoipa::path(
    post,
    path = "/moment/create-batch",
    tag = "Moments",
    security(("apiKey" = [])),
    request_body(content = CreateMomentsRequest, example = json!({
        "contract": {
            "name": "Weather diary",
            "uri": "ipfs://bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy",
        },
        "tokens": [
            {
                "tokenMetadataURI": "ipfs://bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy",
                "salesConfig": {"type": "timed", "pricePerToken": "0", "saleStart": 0, "saleEnd": 0},
            },
            {
                "tokenMetadataURI": "https://example.com/rain.json",
                "salesConfig": {
                    "type": "fixedPrice",
                    "pricePerToken": "0",
                    "saleStart": 0,
                    "saleEnd": 18446744073709551615_u64,
                    "maxTokensPerAddress": 1,
                },
                "maxSupply": 100,
            },
        ],
    })),
    responses(
        (status = 200, description = "The moments are there.", body = inline(WriteResponse<FoundMoments>)),
        (status = 202, description = "Their transaction isn't mined yet: send the request again, with the same \
            `Idempotency-Key`, to ask how it went.", body = SentTransaction),
    ),
)]
fn create_moments() {}

contract::published!(create_moments writes, 404);
