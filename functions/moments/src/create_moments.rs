//! Description of `POST /moment/create-batch`.

use shared::api::{
    publish::{CreateMomentsRequest, CreatedMoments},
    transact::WriteResponse,
};

/// Create up to 50 moments
///
/// In one collection, without `contract` your own, and one transaction: all of them or none.
#[utoipa::path(
    post,
    path = "/moment/create-batch",
    tag = "Moments",
    security(("apiKey" = []), ("token" = [])),
    request_body(content = CreateMomentsRequest, example = json!({
        "contract": shared::api::publish::example::new_contract(),
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
                    "saleEnd": "18446744073709551615",
                    "maxTokensPerAddress": 1,
                },
                "maxSupply": 100,
            },
        ],
    })),
    responses((status = 200, description = "The moments.", body = inline(WriteResponse<CreatedMoments>))),
    extensions(("x-body" = json!("large")), ("x-effect" = json!("write")), ("x-errors" = json!([404]))),
)]
pub fn create_moments() {}
