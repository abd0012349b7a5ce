//! A stranger's contract looks like a collection, and asks for all that a collector has.

use alloy::{
    hex,
    primitives::{Address, U256, keccak256},
    providers::{Provider, ext::AnvilApi},
    sol_types::SolCall,
};
use serde_json::json;
use shared::chain::contracts::native::{Creator1155, FixedPriceMinter};
use tests::Stack;
use uuid::Uuid;

const BALANCE: u64 = 1_000_000_000_000_000_000;

/// Code that answers `BALANCE` to `mintFee()`, and to all else that there is such a token.
fn code() -> Vec<u8> {
    let token = [32_u64, 96, 1_000, 0, 0].map(|word| U256::from(word).to_be_bytes::<32>()).concat();
    [
        hex!("60003560e01c63").as_slice(),
        &Creator1155::mintFeeCall::SELECTOR,
        &hex!("14601b5760a0602d60003960a06000f35b67"),
        &BALANCE.to_be_bytes(),
        &hex!("60005260206000f3"),
        &token,
    ]
    .concat()
}

#[tokio::test]
async fn contract_of_no_known_factory_is_paid_nothing() {
    let stack = Stack::connect();
    let collector = stack.new_collector().await;
    stack.set_balance(collector.account, BALANCE).await;
    let fake = Address::from_word(keccak256(Uuid::new_v4()));
    stack.chain().anvil_set_code(fake, code().into()).await.expect("code");
    stack.chain().anvil_impersonate_account(fake).await.expect("an account");
    stack.set_balance(fake, BALANCE).await;
    let sale = FixedPriceMinter::setSaleCall {
        tokenId: U256::ONE,
        salesConfig: FixedPriceMinter::SalesConfig {
            saleStart: 0,
            saleEnd: u64::MAX,
            maxTokensPerAddress: 0,
            pricePerToken: "0".parse().expect("a price"),
            fundsRecipient: fake,
        },
    };
    stack.transact(fake, stack.contract("fixedPriceMinter"), U256::ZERO, sale).await;
    let asked = Creator1155::new(fake, stack.chain()).mintFee().call().await.expect("a fee");
    assert_eq!(asked, U256::from(BALANCE));

    let order = json!({"moment": {"collectionAddress": fake, "tokenId": "1"}, "amount": 1});
    let answer = stack.write_once("/moment/collect", &collector.key, &order, &[]).await.expect_error(422);
    assert!(answer.body["message"].as_str().is_some_and(|words| words.contains("protocol's mint fee")), "{answer:?}");
    let left = stack.chain().get_balance(collector.account).await.expect("a balance");
    assert_eq!(left, U256::from(BALANCE));
}
