//! New moments.

use serde_json::{Value, json};
use tests::Stack;

use super::support::{expect_words, publication};

#[tokio::test]
async fn wrong_publication_says_which_field_and_why() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let usdc = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
    for (pointer, value, words) in [
        ("/token/maxSuply", json!("25"), "token.maxSuply is not a field here; did you mean maxSupply?"),
        ("/token/max_supply", json!("25"), "token.max_supply is not a field here; did you mean maxSupply?"),
        ("/token/payoutRecipent", json!(usdc), "did you mean payoutRecipient?"),
        ("/split", json!([]), "split is not a field here; did you mean splits?"),
        ("/royalties", json!(1), "royalties is not a field here"),
        ("/token/salesConfig/curency", json!(usdc), "did you mean currency?"),
        ("/token/salesConfig/currency", json!(usdc), "token.salesConfig.currency belongs to the type erc20Mint"),
        ("/token/salesConfig/price", json!("1"), "token.salesConfig.price is not a field here"),
        ("/token/salesConfig/pricePerToken", json!("0.01"), "token.salesConfig.pricePerToken must be"),
        ("/token/salesConfig/pricePerToken", json!("-1"), "token.salesConfig.pricePerToken must be"),
        ("/token/salesConfig/pricePerToken", json!(1), "token.salesConfig.pricePerToken must be a string"),
        ("/token/salesConfig/saleStart", json!(1_795_551_618_000_u64), "Unix time in seconds, not in milliseconds"),
        ("/token/salesConfig/saleEnd", json!(1_795_551_618_000_u64), "Unix time in seconds, not in milliseconds"),
        ("/token/salesConfig/saleEnd", json!(100), "token.salesConfig.saleEnd must be in the future"),
        ("/token/salesConfig/saleEnd", json!(0), "18446744073709551615 for no end"),
        ("/token/salesConfig/saleEnd", json!("tomorrow"), "token.salesConfig.saleEnd must be a whole number"),
        ("/token/salesConfig/type", json!("fixed"), "must be fixedPrice, erc20Mint, timed"),
        ("/token/salesConfig/maxTokensPerAddress", json!(-1), "token.salesConfig.maxTokensPerAddress must be"),
        ("/token/salesConfig", json!({"type": "erc20Mint", "pricePerToken": "20000"}), "currency is required"),
        ("/token/salesConfig", json!({"type": "timed", "maxTokensPerAddress": 2}), "a timed sale has no limit"),
        ("/token/salesConfig", json!("free"), "token.salesConfig must be an object"),
        ("/token/maxSupply", json!(0), "leave it out for an open edition"),
        ("/token/mintToCreatorCount", json!("many"), "token.mintToCreatorCount must be a whole number"),
        ("/token/tokenMetadataURI", json!("picture.png"), "token.tokenMetadataURI must be"),
        ("/token/tokenMetadataURI", json!(""), "token.tokenMetadataURI must be"),
        ("/token/metadata", json!({"name": "Both"}), "must be left out beside metadata"),
        ("/token/payoutRecipient", json!("0x1"), "must be an address: 0x and 40 hexadecimal digits"),
        ("/token/payoutRecipient", json!(usdc.replace('D', "d")), "has a wrong EIP-55 checksum"),
        ("/token/payoutRecipient", json!(format!("0x{:040}", 0)), "must not be the zero address"),
        ("/token", json!([]), "token must be an object"),
        ("/token", Value::Null, "token is required"),
        ("/contract", json!({}), "either an address, or a name and a uri"),
        ("/contract", json!({"name": "Alone"}), "contract.uri is required"),
        ("/contract/address", json!(usdc), "belongs to a new collection"),
        ("/contract/nmae", json!("x"), "contract.nmae is not a field here; did you mean name?"),
        ("/chainId", json!("8453"), "chainId must be a number"),
        ("/chainId", json!(137), "chainId is not a chain"),
        ("/splits", json!([{"address": usdc, "percentAllocation": 100}]), "splits"),
        ("/splits", json!([{"address": usdc, "percent": 100}]), "splits.0.percent is not a field here"),
    ] {
        expect_words(&stack, &writer, "/moment/create", &publication(pointer, value), words).await;
    }
}
