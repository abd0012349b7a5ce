//! `POST /governance`

mod encoding;
mod passing;
mod refusing;

use alloy::primitives::{Address, B256};
use serde_json::{Value, json};
use uuid::Uuid;

const PATH: &str = "/governance";

/// The chain with governors.
const CHAIN: &str = "1";

/// A random address without a key.
fn new_address() -> Address {
    Address::from_word(B256::from(alloy::primitives::keccak256(Uuid::new_v4())))
}

fn token(sale: Value) -> Value {
    json!({
        "tokenMetadataURI": "ipfs://bafyvote/1.json",
        "createReferral": Address::ZERO,
        "salesConfig": sale,
        "mintToCreatorCount": 1,
    })
}

fn sale(r#type: &str, price: &str) -> Value {
    json!({"type": r#type, "pricePerToken": price, "saleStart": "7", "saleEnd": "18446744073709551615"})
}

/// A request by `account` for one free moment in a new collection.
fn proposal(account: Address) -> Value {
    json!({
        "chainId": 1,
        "account": account,
        "contract": {"name": "Put to the Vote", "uri": "ipfs://bafyvote/collection.json"},
        "tokens": [token(sale("fixedPrice", "0"))],
        "proposal": {"title": "Publish a moment", "description": "It is worth it.\n\nTruly."},
    })
}
