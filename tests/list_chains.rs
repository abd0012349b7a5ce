//! `GET /chains`

use alloy::primitives::Address;
use serde_json::json;
use tests::{Answer, Stack};

#[tokio::test]
async fn chains_are_listed_with_what_clients_need() {
    let stack = Stack::connect();
    let answer = Answer::of(stack.get("/chains")).await.expect_success();
    let chains = answer.body["chains"].as_array().expect("chains");
    let base = chains.iter().find(|chain| chain["chainId"] == 8453).expect("Base");
    assert_eq!((&base["network"], &base["name"]), (&json!("eip155:8453"), &json!("base")));
    assert_eq!(base["explorer"]["address"], "https://basescan.org/address/{address}");
    let factory: Address = base["contracts"]["factory"].as_str().expect("text").parse().expect("an address");
    assert_eq!(factory, stack.contract("factory"));
    let usdc: Address = base["currencies"][1]["address"].as_str().expect("text").parse().expect("an address");
    assert_eq!(usdc, stack.contract("usdc"));
    assert!(answer.header("cache-control").starts_with("public, max-age=300"), "{answer:?}");
}
