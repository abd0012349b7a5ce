//! `POST /moment/migrate`

use alloy::{
    network::EthereumWallet,
    primitives::{Address, B256, U256, aliases::U96},
    providers::{Provider, ProviderBuilder},
    signers::local::PrivateKeySigner,
    sol_types::SolCall,
};
use aws_sdk_dynamodb::types::AttributeValue;
use local::workshop;
use serde_json::{Value, json};
use shared::chain::contracts::native::{Creator1155, FixedPriceMinter};
use tests::{Answer, Collector, DAY, Sandbox, SignedIn, Stack, eventually, window_now};

const PATH: &str = "/moment/migrate";

async fn migrate(stack: &Stack, key: &str) -> Answer {
    stack.write(PATH, key, &json!({}), &[]).await
}

/// The hashes of the sent transactions.
fn results(answer: &Answer) -> Vec<B256> {
    assert_eq!(answer.body["message"], "success");
    let results = answer.body["results"].as_array().expect("results");
    assert!(results.iter().all(|result| result["chainId"] == 8453));
    results.iter().map(|result| result["hash"].as_str().and_then(|hash| hash.parse().ok()).expect("a hash")).collect()
}

async fn wait_until_indexed(stack: &Stack, artist: &SignedIn, collection: Address) {
    let (table, partition) = (&stack.map.names["ChainTable"], format!("ADMIN_OF#8453#{}", artist.wallet));
    let collection = format!("{collection:#x}");
    eventually(format!("{collection} is indexed"), async || stack.row(table, &partition, &collection).await).await;
}

/// Creates two collections with `tokens` tokens each, with the artist's account as admin.
async fn collections(stack: &Stack, artist: &SignedIn, tokens: usize) -> [Address; 2] {
    let admins = [artist.wallet.parse().expect("an address")];
    let token =
        |number| Creator1155::setupNewTokenCall { newURI: format!("ar://{number}"), maxSupply: U256::ONE }.abi_encode();
    let mut made = [Address::ZERO; 2];
    for collection in &mut made {
        let actions = (1..tokens).map(token).collect();
        *collection = workshop::publish(&stack.map.rpc["8453"], stack.contract("factory"), &admins, actions)
            .await
            .expect("a collection");
        wait_until_indexed(stack, artist, *collection).await;
    }
    made
}

/// As a flood of what a thief can repeat for nothing does, such as new keys.
async fn use_up_notices(stack: &Stack, artist: &SignedIn) {
    let budget = format!("RATE#notice#{}#{}", stack.artist_id(artist), DAY.as_secs());
    let window = format!("COUNT#{}", window_now(DAY));
    stack.set("SecretTable", &budget, &window, "hits", AttributeValue::N("40".to_owned())).await;
}

async fn permissions(stack: &Stack, collection: Address, token: usize, account: Address) -> U256 {
    let collection = Creator1155::new(collection, stack.chain());
    collection.permissions(U256::from(token), account).call().await.expect("permissions")
}

#[tokio::test]
async fn external_wallet_becomes_admin_of_every_collection() {
    let stack = Stack::connect();
    // A new artist without collections.
    let Collector { artist, key, .. } = stack.new_collector().await;
    let contract = json!({"name": "My Years Here", "uri": "ipfs://bafyyears/collection.json"});
    let answer = stack.write("/collections", &key, &contract, &[]).await.expect_success();
    let collection: Address = answer.body["contractAddress"].as_str().and_then(|a| a.parse().ok()).expect("an address");
    let sale = json!({"type": "fixedPrice", "pricePerToken": "5", "saleStart": 0, "saleEnd": u64::MAX.to_string()});
    let tokens = vec![json!({"tokenMetadataURI": "ipfs://bafyyears/1.json", "salesConfig": sale}); 3];
    let moments = json!({"contract": {"address": collection}, "tokens": tokens});
    stack.write("/moment/create-batch", &key, &moments, &[]).await.expect_success();

    let wallet = PrivateKeySigner::random();
    stack.connect_wallet(&artist, &wallet).await.expect_success();
    wait_until_indexed(&stack, &artist, collection).await;
    use_up_notices(&stack, &artist).await;
    let answer = migrate(&stack, &key).await.expect_success();
    assert_eq!(results(&answer).len(), 1);
    let mails = stack.mails_to(&artist.email).await;
    let told = mails.iter().filter(|mail| mail.subject.contains("was made an admin of your works")).count();
    assert_eq!(told, 1, "the mail was buried: {mails:?}");
    assert_eq!(permissions(&stack, collection, 0, wallet.address()).await, U256::from(2));
    assert!(results(&migrate(&stack, &key).await.expect_success()).is_empty(), "the migration was incomplete");

    // The wallet can now change a sale without the service.
    stack.set_balance(wallet.address(), 1_000_000_000_000_000_000).await;
    let config = FixedPriceMinter::SalesConfig {
        saleStart: 1,
        saleEnd: u64::MAX,
        maxTokensPerAddress: 0,
        pricePerToken: U96::from(7),
        fundsRecipient: wallet.address(),
    };
    let (token, minter) = (U256::from(2), stack.contract("fixedPriceMinter"));
    let data = FixedPriceMinter::setSaleCall { tokenId: token, salesConfig: config.clone() }.abi_encode();
    let own = ProviderBuilder::new().wallet(EthereumWallet::from(wallet.clone()));
    let own = Creator1155::new(collection, own.connect_http(stack.map.rpc["8453"].parse().expect("a URL")));
    let sent = own.callSale(token, minter, data.into()).send().await.expect("the node takes it");
    assert!(sent.get_receipt().await.expect("a receipt").status());
    let now = FixedPriceMinter::new(minter, stack.chain()).sale(collection, token).call().await.expect("a sale");
    assert_eq!((now.pricePerToken, now.fundsRecipient), (U96::from(7), wallet.address()));
}

#[tokio::test]
async fn missing_grants_are_sent_in_batches_and_reported_once() {
    const TOKENS: usize = 60;
    let stack = Stack::connect();
    let Collector { artist, key, .. } = stack.new_collector().await;
    let wallet = PrivateKeySigner::random();
    stack.connect_wallet(&artist, &wallet).await.expect_success();
    let collections = collections(&stack, &artist, TOKENS).await;

    let header = [("idempotency-key", "leaving")];
    let answer = stack.write(PATH, &key, &json!({"chainId": 8453}), &header).await.expect_success();
    let sent = results(&answer);
    assert_eq!(sent.len(), 2);
    for hash in sent {
        let receipt = stack.chain().get_transaction_receipt(hash).await.expect("an answer").expect("a receipt");
        println!("gas: {}", receipt.gas_used);
        assert!(receipt.status());
    }
    for collection in collections {
        for token in [0, 1, 2, TOKENS] {
            let mask = permissions(&stack, collection, token, wallet.address()).await;
            assert_eq!(mask, U256::from(2), "token {token}");
        }
    }
    let again = stack.write(PATH, &key, &json!({"chainId": 8453}), &header).await.expect_success();
    assert_eq!((again.header("idempotent-replayed"), &again.body), ("true", &answer.body));
    assert_eq!(migrate(&stack, &key).await.expect_success().body, json!({"message": "success", "results": []}));
}

#[tokio::test]
async fn migration_that_passes_the_budget_sends_nothing_and_can_be_repeated() {
    const TOKENS: usize = 80;
    let stack = Stack::connect();
    let Collector { artist, key, .. } = stack.new_collector().await;
    let wallet = PrivateKeySigner::random();
    stack.connect_wallet(&artist, &wallet).await.expect_success();
    let collections = collections(&stack, &artist, TOKENS).await;

    let chains = json!([{"id": 8453, "firstBlock": 0, "spending": {"artistDaily": 1}}]).to_string();
    let sandbox = Sandbox::with_variables(&stack, "migrate-moments", &[("CHAINS", &chains)]).await;
    let headers = [("x-api-key", key.as_str()), ("idempotency-key", "stopped")];
    let (status, body) = sandbox.post_with("198.51.100.7", &json!({}), &headers).await;
    assert_eq!((status, &body["status"]), (429, &json!("error")), "{body}");
    let granted = async |collection| permissions(&stack, collection, 0, wallet.address()).await;
    for collection in &collections {
        assert_eq!(granted(*collection).await, U256::ZERO, "half of it was sent");
    }

    // The same request succeeds where the budget is larger.
    let header = [("idempotency-key", "stopped")];
    let answer = stack.write(PATH, &key, &json!({}), &header).await.expect_success();
    assert_eq!((results(&answer).len(), answer.header("idempotent-replayed")), (2, ""));
    for collection in collections {
        assert_eq!(granted(collection).await, U256::from(2));
        assert_eq!(permissions(&stack, collection, TOKENS, wallet.address()).await, U256::from(2));
    }
}

#[tokio::test]
async fn migration_without_an_external_wallet_is_refused() {
    let stack = Stack::connect();
    let Collector { artist, key, .. } = stack.new_collector().await;
    let answer = migrate(&stack, &key).await.expect_error(409);
    let message = answer.body["message"].as_str().expect("a message");
    assert!(message.contains("POST /artists/wallets"), "{message}");
    stack.connect_wallet(&artist, &PrivateKeySigner::random()).await.expect_success();
    let answer = Answer::of(stack.post(PATH).header("x-api-key", &key)).await.expect_success();
    assert_eq!(answer.body, json!({"message": "success", "results": []}));
    let answer = stack.write_once(PATH, &key, &json!({"chainId": 10}), &[]).await.expect_error(400);
    assert_eq!(answer.failing_fields(), ["chainId"]);
    Answer::of(stack.post(PATH).json(&Value::Object(Default::default()))).await.expect_error(401);
}
