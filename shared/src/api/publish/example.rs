//! Examples for the descriptions of endpoints that publish.

use serde_json::{Value, json};

/// A collection that the moment's transaction creates.
pub fn new_contract() -> Value {
    json!({"name": "Weather diary", "uri": "ipfs://bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy"})
}

/// A sale without an end.
pub fn open_sale() -> Value {
    json!({
        "type": "fixedPrice",
        "pricePerToken": "1000000000000000",
        "saleStart": 0,
        "saleEnd": "18446744073709551615",
    })
}
