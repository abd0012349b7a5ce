//! `POST /sale`.

use alloy::{
    primitives::{Address, U256},
    sol_types::SolCall,
};
use serde_json::{Value, json};
use shared::chain::contracts::native::{Creator1155, Erc20Minter, FixedPriceMinter};
use tests::{Answer, Stack, Writer};

const PATH: &str = "/sale";

async fn change(stack: &Stack, writer: &Writer, fields: Value) -> Answer {
    let mut body = json!({"moment": {"collectionAddress": writer.collection, "tokenId": "1"}});
    for (name, value) in fields.as_object().expect("fields") {
        body[name] = value.clone();
    }
    stack.write(PATH, &writer.key, &body, &[]).await
}

async fn sale(stack: &Stack, collection: Address) -> FixedPriceMinter::SalesConfig {
    let strategy = FixedPriceMinter::new(stack.contract("fixedPriceMinter"), stack.chain());
    strategy.sale(collection, U256::ONE).call().await.expect("a sale")
}

#[tokio::test]
async fn omitted_fields_stay() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let recipient = "0x540C18B7f99b3b599c6FeB99964498931c211858";

    let answer = change(&stack, &writer, json!({"pricePerToken": "79228162514264337593543950335"})).await;
    assert_eq!(answer.expect_success().body["chainId"], 8453);
    let now = sale(&stack, writer.collection).await;
    assert_eq!((now.saleStart, now.saleEnd, now.maxTokensPerAddress), (0, u64::MAX, 5));
    assert_eq!(now.pricePerToken.to_string(), "79228162514264337593543950335");
    assert_eq!(now.fundsRecipient, writer.artist.wallet.parse::<Address>().expect("an address"));

    change(&stack, &writer, json!({"pricePerToken": "0", "saleStart": 5, "saleEnd": 4_000_000_000_u64}))
        .await
        .expect_success();
    change(&stack, &writer, json!({"maxTokensPerAddress": 0, "saleEnd": "18446744073709551615"}))
        .await
        .expect_success();
    change(&stack, &writer, json!({"fundsRecipient": recipient})).await.expect_success();
    let now = sale(&stack, writer.collection).await;
    assert_eq!((now.saleStart, now.saleEnd, now.maxTokensPerAddress), (5, u64::MAX, 0));
    assert!(now.pricePerToken.is_zero());
    assert_eq!(now.fundsRecipient, recipient.parse::<Address>().expect("an address"));
}

#[tokio::test]
async fn erc20_sale_keeps_its_currency() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let (minter, currency) = (given_erc20_sale(&stack, &writer).await, stack.contract("usdc"));

    change(&stack, &writer, json!({"pricePerToken": "10000"})).await.expect_success();
    let strategy = Erc20Minter::new(minter, stack.chain());
    let now = strategy.sale(writer.collection, U256::ONE).call().await.expect("a sale");
    let recipient = Address::repeat_byte(7);
    assert_eq!((now.pricePerToken, now.currency, now.fundsRecipient), (U256::from(10_000), currency, recipient));
    assert_eq!((now.saleEnd, now.maxTokensPerAddress), (4_000_000_000, 2));
    let answer = change(&stack, &writer, json!({"pricePerToken": "9999"})).await.expect_error(400);
    assert_eq!(answer.failing_fields(), ["pricePerToken"]);
}

/// Sells token 1 in an ERC-20 currency too, which is in force then. Returns the strategy's contract.
async fn given_erc20_sale(stack: &Stack, writer: &Writer) -> Address {
    let (minter, currency) = (stack.contract("erc20Minter"), stack.contract("usdc"));
    let config = Erc20Minter::SalesConfig {
        saleStart: 0,
        saleEnd: 4_000_000_000,
        maxTokensPerAddress: 2,
        pricePerToken: U256::from(1_500_000),
        fundsRecipient: Address::repeat_byte(7),
        currency,
    };
    let set = Erc20Minter::setSaleCall { tokenId: U256::ONE, salesConfig: config };
    for call in [
        Creator1155::addPermissionCall { tokenId: U256::ONE, user: minter, permissionBits: U256::from(4) }.abi_encode(),
        Creator1155::callSaleCall { tokenId: U256::ONE, salesConfig: minter, data: set.abi_encode().into() }
            .abi_encode(),
    ] {
        stack.send(local::contracts::DEPLOYER, writer.collection, call).await;
    }
    minter
}

/// Two changes of different fields, sent at the same time.
async fn change_at_once(stack: &Stack, writer: &Writer, one: Value, other: Value) {
    let (one, other) = tokio::join!(change(stack, writer, one), change(stack, writer, other));
    one.expect_success();
    other.expect_success();
}

#[tokio::test]
async fn concurrent_changes_of_different_fields_are_all_kept() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    for number in 1..=5_u64 {
        let (price, end) = (1_000 + number, 4_000_000_000 + number);
        change_at_once(&stack, &writer, json!({"pricePerToken": price.to_string()}), json!({"saleEnd": end})).await;
        let recipient = Address::with_last_byte(number as u8);
        let recipient = json!({"fundsRecipient": recipient.to_string(), "saleStart": number});
        change_at_once(&stack, &writer, recipient, json!({"maxTokensPerAddress": number})).await;
        let now = sale(&stack, writer.collection).await;
        assert_eq!(now.pricePerToken.to_string(), price.to_string());
        assert_eq!((now.saleStart, now.saleEnd, now.maxTokensPerAddress), (number, end, number));
        assert_eq!(now.fundsRecipient, Address::with_last_byte(number as u8));
    }
}

#[tokio::test]
async fn concurrent_changes_of_an_erc20_sale_are_all_kept() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let minter = given_erc20_sale(&stack, &writer).await;
    for number in 1..=3_u64 {
        let (price, end) = (20_000 + number, 4_000_000_000 + number);
        change_at_once(&stack, &writer, json!({"pricePerToken": price.to_string()}), json!({"saleEnd": end})).await;
        let now = Erc20Minter::new(minter, stack.chain()).sale(writer.collection, U256::ONE).call().await;
        let now = now.expect("a sale");
        assert_eq!((now.pricePerToken, now.saleEnd), (U256::from(price), end));
        assert_eq!((now.maxTokensPerAddress, now.currency), (2, stack.contract("usdc")));
    }
}

#[tokio::test]
async fn invalid_sale_is_refused() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    for (fields, failing) in [
        (json!({}), "pricePerToken"),
        (json!({"pricePerToken": 1000}), "pricePerToken"),
        (json!({"pricePerToken": "1.5"}), "pricePerToken"),
        (json!({"pricePerToken": "-1"}), "pricePerToken"),
        (json!({"pricePerToken": "79228162514264337593543950336"}), "pricePerToken"),
        (json!({"saleEnd": 0}), "saleEnd"),
        (json!({"saleEnd": -1}), "saleEnd"),
        (json!({"saleEnd": 1.5}), "saleEnd"),
        (json!({"saleStart": "18446744073709551616"}), "saleStart"),
        (json!({"saleStart": 10, "saleEnd": 9}), "saleEnd"),
        (json!({"maxTokensPerAddress": -1}), "maxTokensPerAddress"),
        (json!({"fundsRecipient": format!("0x{}", "0".repeat(40))}), "fundsRecipient"),
        (json!({"fundsRecipient": "0x540c18b7f99b3b599c6FeB99964498931c211858"}), "fundsRecipient"),
    ] {
        let answer = change(&stack, &writer, fields.clone()).await.expect_error(400);
        assert_eq!(answer.failing_fields(), [failing], "{fields}");
    }
    change(&stack, &writer, json!({"saleEnd": 1000})).await.expect_success();
    let answer = change(&stack, &writer, json!({"saleStart": 1001})).await.expect_error(400);
    assert_eq!(answer.failing_fields(), ["saleStart"]);
}

#[tokio::test]
async fn moment_without_a_sale_and_stranger_are_refused() {
    let stack = Stack::connect();
    let (writer, stranger) = (stack.new_writer().await, stack.new_writer().await);
    let bare = Creator1155::setupNewTokenCall { newURI: "ar://bare".to_owned(), maxSupply: U256::ONE };
    stack.send(local::contracts::DEPLOYER, writer.collection, bare.abi_encode()).await;
    let body = |token: &str| json!({"moment": {"collectionAddress": writer.collection, "tokenId": token}, "pricePerToken": "1"});
    stack.write_once(PATH, &writer.key, &body("2"), &[]).await.expect_error(404);
    stack.write_once(PATH, &writer.key, &body("3"), &[]).await.expect_error(404);
    let answer = stack.write_once(PATH, &stranger.key, &body("1"), &[]).await.expect_error(403);
    assert!(answer.body["message"].as_str().is_some_and(|message| message.contains("SALES")), "{answer:?}");
    Answer::of(stack.post(PATH).json(&body("1"))).await.expect_error(401);
}
