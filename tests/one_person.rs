//! An artist with several wallets and chains is one person in every list.

use alloy::{primitives::U256, providers::ext::AnvilApi, signers::local::PrivateKeySigner};
use serde_json::{Value, json};
use shared::chain::contracts::native::{Creator1155, CreatorFactory, FixedPriceMinter};
use tests::{Answer, Collector, Stack};

use crate::transactions::{QUIET_CHAIN, quiet};

const ETHER: u64 = 1_000_000_000_000_000_000;

/// A collection that the wallet itself made, whose one moment sells for 1000 wei.
async fn made_by(stack: &Stack, wallet: &PrivateKeySigner) -> String {
    let (maker, minter) = (wallet.address(), stack.contract("fixedPriceMinter"));
    stack.chain().anvil_impersonate_account(maker).await.expect("an account");
    stack.set_balance(maker, ETHER).await;
    let sale = FixedPriceMinter::setSaleCall {
        tokenId: U256::ONE,
        salesConfig: FixedPriceMinter::SalesConfig {
            saleStart: 0,
            saleEnd: u64::MAX,
            maxTokensPerAddress: 0,
            pricePerToken: "1000".parse().expect("a price"),
            fundsRecipient: maker,
        },
    };
    use alloy::sol_types::SolCall;
    let actions = [
        Creator1155::setupNewTokenCall { newURI: "ar://own".to_owned(), maxSupply: U256::from(u64::MAX) }.abi_encode(),
        Creator1155::addPermissionCall { tokenId: U256::ONE, user: minter, permissionBits: U256::from(4) }.abi_encode(),
        Creator1155::callSaleCall { tokenId: U256::ONE, salesConfig: minter, data: sale.abi_encode().into() }
            .abi_encode(),
    ];
    let creation = CreatorFactory::createContractCall {
        newContractURI: "ar://collection".to_owned(),
        name: "Own".to_owned(),
        defaultRoyaltyConfiguration: CreatorFactory::RoyaltyConfiguration {
            royaltyMintSchedule: 0,
            royaltyBPS: 1_000,
            royaltyRecipient: maker,
        },
        defaultAdmin: maker,
        setupActions: actions.into_iter().map(Into::into).collect(),
    };
    let receipt = stack.transact(maker, stack.contract("factory"), U256::ZERO, creation).await;
    let mut made = receipt.logs().iter().filter_map(|log| log.log_decode::<CreatorFactory::SetupNewContract>().ok());
    format!("{:#x}", made.next().expect("a collection").inner.data.newContract)
}

async fn body(stack: &Stack, path: &str) -> Value {
    Answer::of(stack.get(path)).await.expect_success().body
}

#[tokio::test]
async fn every_list_means_all_wallets_and_chains_of_an_artist() {
    let stack = Stack::connect();
    let (artist, buyer): (Collector, Collector) = (stack.new_collector().await, stack.new_collector().await);
    let wallet = PrivateKeySigner::random();
    stack.connect_wallet(&artist.artist, &wallet).await.expect_success();
    let name = format!("person-{}", &uuid::Uuid::new_v4().simple().to_string()[..8]);
    let named = stack.patch("/artists/me").bearer_auth(&artist.artist.token).json(&json!({"username": name}));
    Answer::of(named).await.expect_success();
    let first = stack.release(&artist.key, "First", &["ar://first".to_owned()]).await;
    let second = made_by(&stack, &wallet).await;
    let third = {
        let _quiet = quiet(&stack).await;
        let new = json!({"name": "Third", "uri": "ar://third", "chainId": QUIET_CHAIN});
        let made = stack.write("/collections", &artist.key, &new, &[]).await.expect_success();
        made.body["contractAddress"].as_str().expect("an address").to_owned()
    };
    stack.set_balance(buyer.account, ETHER).await;
    for collection in [&first, &second, &first] {
        let order = json!({"moment": {"collectionAddress": collection, "tokenId": "1"}, "amount": 1});
        stack.write("/moment/collect", &buyer.key, &order, &[]).await.expect_success();
    }
    stack.chain().anvil_mine(Some(3), None).await.expect("blocks");

    let own = format!("{:#x}", wallet.address());
    for artist in [&artist.artist.wallet, &own, &name, &name.to_uppercase()] {
        let path = format!("/collections?artist={artist}");
        let all = stack.wait_until(&path, |body| body["pagination"]["total_count"] == 3).await;
        let addresses: Vec<_> =
            all["collections"].as_array().expect("rows").iter().map(|row| &row["address"]).collect();
        assert!([&first, &second, &third].iter().all(|one| addresses.contains(&&json!(one))), "{artist}: {all}");
        assert_eq!(json!(stack.all_pages(&path, "collections", 1).await), all["collections"]);
        let here = body(&stack, &format!("{path}&chain_id=8453")).await;
        assert_eq!(here["pagination"]["total_count"], 2);

        let path = format!("/payments?artist={artist}");
        let all = stack.wait_until(&path, |body| body["pagination"]["total_count"] == 3).await;
        let paid = all["payments"].as_array().expect("rows").iter().map(|row| &row["moment"]["collection"]["address"]);
        assert_eq!(paid.collect::<Vec<_>>(), [&json!(first), &json!(second), &json!(first)]);
        assert_eq!(json!(stack.all_pages(&path, "payments", 1).await), all["payments"]);

        let path = format!("/timeline?artist={artist}");
        let all = stack.wait_until(&path, |body| body["pagination"]["total_count"] == 2).await;
        // Both may be of the same second, and then stand in either order.
        let addresses = [&all["moments"][0]["address"], &all["moments"][1]["address"]];
        assert!(addresses.contains(&&json!(first)) && addresses.contains(&&json!(second)), "{all}");
        assert_eq!(json!(stack.all_pages(&path, "moments", 1).await), all["moments"]);

        let path = format!("/collectors?artist={artist}");
        let all = stack.wait_until(&path, |body| body["collectors"][0]["collected_count"] == 3).await;
        assert_eq!((&all["total_count"], &all["total_pages"]), (&json!(1), &json!(1)));
        assert_eq!(all["collectors"][0]["eth_spent"], "0.000000000000003");
    }

    let path = format!("/notifications?artist={name}");
    let all = body(&stack, &path).await;
    assert_eq!(all["pagination"], json!({"page": 1, "limit": 20, "total_count": 3, "total_pages": 1}));
    let ids = |body: &Value| {
        let rows = body["notifications"].as_array().expect("rows").iter();
        rows.map(|row| row["id"].clone()).collect::<Vec<_>>()
    };
    let mark = json!({"ids": [ids(&all)[1]]});
    let marked = stack.put("/notifications").bearer_auth(&artist.artist.token).json(&mark);
    assert_eq!(Answer::of(marked).await.expect_success().body["updated"], 1);
    let [viewed, others] = [true, false].map(|viewed| format!("{path}&viewed={viewed}"));
    let (viewed, unviewed) = (body(&stack, &viewed).await, body(&stack, &others).await);
    assert_eq!((ids(&viewed), &viewed["pagination"]["total_count"]), (vec![ids(&all)[1].clone()], &json!(1)));
    assert_eq!(ids(&unviewed), [ids(&all)[0].clone(), ids(&all)[2].clone()]);
    assert_eq!(json!(stack.all_pages(&others, "notifications", 1).await), unviewed["notifications"]);
    // Among those of everyone it is on one of the pages, however many others there are.
    let everyones = stack.all_pages("/notifications?viewed=true", "notifications", 100).await;
    assert!(everyones.iter().any(|row| row["id"] == ids(&all)[1]) && everyones.iter().all(|row| row["viewed"] == true));

    // A moment in the timelines of two wallets is listed once.
    let grant = json!({"moment": {"collectionAddress": first, "tokenId": "1"}, "adminAddress": own});
    stack.write("/moment/permission", &artist.key, &grant, &[]).await.expect_success();
    let path = format!("/timeline?artist={name}");
    let all = stack.wait_until(&path, |body| body["pagination"]["total_count"].is_null()).await;
    assert_eq!(all["moments"].as_array().map(Vec::len), Some(2), "{all}");
    assert_eq!(json!(stack.all_pages(&path, "moments", 1).await), all["moments"]);
    let mutual = body(&stack, &format!("{path}&type=mutual")).await;
    assert_eq!(mutual["moments"], json!([]));
}
