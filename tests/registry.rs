//! `POST /registry/metadata/moment` and `POST /moment/collect` on collections of the registry protocol

use alloy::{
    primitives::{Address, U256, aliases::U96},
    providers::ext::AnvilApi,
    sol,
    sol_types::SolEvent,
};
use serde_json::json;
use shared::chain::contracts::third_party::RegistryFactory::CRContractCreated;
use tests::{Answer, Collector, Stack};

sol! {
    interface Registry {
        struct MintConfiguration {
            uint96 price;
            address fundsRecipient;
        }

        function createRelease() external returns (address);
        function createToken(address artist, string tokenUri) external returns (uint256);
        function setMintConfiguration(address release, uint256 token, MintConfiguration configuration) external;
    }
}

/// A release of the artist's account with two tokens, of which the first costs 1.5 USDC.
async fn release(stack: &Stack, artist: &Collector) -> Address {
    // An address that has sent transactions of its own can't become the account's contract.
    let first = json!({"name": "First", "uri": "ar://first"});
    stack.write("/collections", &artist.key, &first, &[]).await.expect_success();
    let (account, none) = (artist.account, U256::ZERO);
    stack.chain().anvil_impersonate_account(account).await.expect("an account");
    stack.set_balance(account, 1_000_000_000_000_000_000).await;
    let made = stack.transact(account, stack.contract("releaseFactory"), none, Registry::createReleaseCall {}).await;
    let log = made.inner.logs().iter().find_map(|log| CRContractCreated::decode_log(&log.inner).ok());
    let release = log.expect("a release").data._contractAddress;
    for uri in ["ar://release/1", "ar://release/2"] {
        let token = Registry::createTokenCall { artist: account, tokenUri: uri.to_owned() };
        stack.transact(account, release, none, token).await;
    }
    let configuration = Registry::MintConfiguration { price: U96::from(1_500_000), fundsRecipient: account };
    let sale = Registry::setMintConfigurationCall { release, token: U256::ONE, configuration };
    stack.transact(account, stack.contract("releaseController"), none, sale).await;
    release
}

#[tokio::test]
async fn release_is_renamed_by_its_artist_and_collected_by_others() {
    let stack = Stack::connect();
    let (artist, buyer) = (stack.new_collector().await, stack.new_collector().await);
    let release = release(&stack, &artist).await;
    let moment = |token: &str| json!({"collectionAddress": release, "tokenId": token});
    let path = format!("/moment?collectionAddress={release:#x}&tokenId=1");
    stack.wait_until(&path, |body| body["sale"]["pricePerToken"] == "1500000").await;

    let rename = json!({"moment": moment("1"), "newUri": "ar://release/1b"});
    stack.write_once("/registry/metadata/moment", &buyer.key, &rename, &[]).await.expect_error(403);
    stack.write("/registry/metadata/moment", &artist.key, &rename, &[]).await.expect_success();
    stack.wait_until(&path, |body| body["uri"] == "ar://release/1b").await;
    let unknown = json!({"moment": moment("9"), "newUri": "ar://release/9"});
    stack.write_once("/registry/metadata/moment", &artist.key, &unknown, &[]).await.expect_error(404);

    let order = |more: serde_json::Value| {
        let mut order = json!({"moment": moment("1"), "amount": 2, "comment": ""});
        order.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
        order
    };
    let collect = async |body| stack.write("/moment/collect", &buyer.key, &body, &[]).await;
    collect(order(json!({}))).await.expect_error(402);
    stack.give_usdc(buyer.account, 4_000_000).await;
    let dear = collect(order(json!({"maxPrice": "2999999"}))).await.expect_error(409);
    assert_eq!(dear.body["price"], "3000000");
    collect(order(json!({"comment": "mine"}))).await.expect_error(422);
    collect(order(json!({"moment": moment("2")}))).await.expect_error(422);
    collect(order(json!({"moment": moment("9")}))).await.expect_error(404);
    collect(order(json!({"maxPrice": "3000000"}))).await.expect_success();
    assert_eq!(stack.tokens_of(buyer.account, release).await, U256::from(2));
    assert_eq!(stack.usdc_of(buyer.account).await, U256::from(1_000_000));
    assert_eq!(stack.usdc_of(artist.account).await, U256::from(3_000_000));
    let payments = format!("/payments?collector={:#x}", buyer.account);
    let paid = stack.wait_until(&payments, |body| body["payments"].as_array().is_some_and(|all| !all.is_empty())).await;
    assert_eq!(
        (&paid["payments"][0]["amount"], &paid["payments"][0]["currency"]),
        (&json!("3"), &json!(stack.contract("usdc")))
    );
    Answer::of(stack.get(&path)).await.expect_success();
}
