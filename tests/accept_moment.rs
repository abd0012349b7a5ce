//! `POST /moment/accept`.

use alloy::{
    primitives::{Address, U256},
    providers::ext::AnvilApi,
    signers::local::PrivateKeySigner,
    sol_types::SolCall,
};
use serde_json::{Value, json};
use shared::chain::contracts::native::{Creator1155, CreatorFactory};
use tests::{Answer, Stack, eventually};

const ETHER: u64 = 1_000_000_000_000_000_000;

/// A collection with one moment that somebody makes in another's name.
async fn made_in_name_of(stack: &Stack, named: Address, sender: Address) -> String {
    let token = Creator1155::setupNewTokenCall { newURI: "ar://gift".to_owned(), maxSupply: U256::from(u64::MAX) };
    let creation = CreatorFactory::createContractCall {
        newContractURI: "ar://collection".to_owned(),
        name: "Gift".to_owned(),
        defaultRoyaltyConfiguration: CreatorFactory::RoyaltyConfiguration {
            royaltyMintSchedule: 0,
            royaltyBPS: 0,
            royaltyRecipient: named,
        },
        defaultAdmin: named,
        setupActions: vec![token.abi_encode().into()],
    };
    let receipt = stack.transact(sender, stack.contract("factory"), U256::ZERO, creation).await;
    let mut made = receipt.logs().iter().filter_map(|log| log.log_decode::<CreatorFactory::SetupNewContract>().ok());
    format!("{:#x}", made.next().expect("a collection").inner.data.newContract)
}

#[tokio::test]
async fn artist_takes_over_what_a_stranger_made_in_their_name_and_nobody_else_can() {
    let stack = Stack::connect();
    let (artist, other) = (stack.new_collector().await, stack.new_collector().await);
    let stranger = PrivateKeySigner::random().address();
    stack.chain().anvil_impersonate_account(stranger).await.expect("an account");
    stack.set_balance(stranger, ETHER).await;
    let named: Address = artist.artist.wallet.parse().expect("an address");
    let collection = made_in_name_of(&stack, named, stranger).await;
    let accept = async |key: &str, body: Value| {
        Answer::of(stack.post("/moment/accept").header("x-api-key", key).json(&body)).await
    };
    let of_collection = json!({"collection": {"collectionAddress": collection}});
    let count = |count: u64| move |body: &Value| body["pagination"]["total_count"] == count;
    let made = |account: Address| format!("/timeline?artist={account:#x}");
    stack.wait_until(&made(stranger), count(1)).await;
    stack.wait_until(&made(named), count(0)).await;

    accept(&other.key, of_collection.clone()).await.expect_error(403);
    let own = stack.release(&artist.key, "Own", &["ar://own".to_owned()]).await;
    stack.wait_until(&made(named), count(1)).await;
    accept(&artist.key, json!({"collection": {"collectionAddress": own}})).await.expect_error(403);
    let none = json!({"collection": {"collectionAddress": artist.artist.wallet}});
    accept(&artist.key, none).await.expect_error(404);
    accept(&artist.key, json!({})).await.expect_error(400);
    Answer::of(stack.post("/moment/accept").json(&of_collection)).await.expect_error(401);

    // Others' events are before and after it, and one request reads so many.
    let latest = Answer::of(stack.get("/events?after=latest")).await.expect_success().body["next"].clone();
    let latest = latest.as_str().expect("a cursor");
    for _ in 0..2 {
        let accepted = accept(&artist.key, of_collection.clone()).await.expect_success();
        assert_eq!(accepted.body, json!({"success": true}));
    }
    stack.wait_until(&made(named), count(2)).await;
    stack.wait_until(&made(stranger), count(0)).await;
    let shown = stack
        .wait_until(&format!("/collections?artist={named:#x}"), |body| {
            body["collections"].as_array().is_some_and(|all| all.iter().any(|it| it["address"] == json!(collection)))
        })
        .await;
    assert!(shown["pagination"]["total_count"] == 2, "{shown}");
    let told = eventually("the event", async || {
        let (mut after, mut told) = (latest.to_owned(), Vec::new());
        loop {
            let path = format!("/events?types=collection.accepted&collection={collection}&after={after}");
            let page = Answer::of(stack.get(&path)).await.expect_success().body;
            told.extend(page["events"].as_array().expect("events").clone());
            let next = page["next"].as_str().expect("a cursor");
            if next == after {
                return (!told.is_empty()).then_some(told);
            }
            next.clone_into(&mut after);
        }
    });
    let told = told.await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["data"]["sender"], json!(format!("{stranger:#x}")));

    accept(&artist.key, json!({"sender": format!("{stranger:#x}")})).await.expect_success();
    made_in_name_of(&stack, named, stranger).await;
    stack.wait_until(&made(named), count(3)).await;
}
