//! `POST /sale`. `PAIRS` of random edits (24, and 4 across a 202) have the course that `SEED` chooses.

use std::env;

use alloy::{
    primitives::{Address, B256, U256},
    providers::Provider,
    sol_types::SolCall,
};
use aws_sdk_dynamodb::{Client, types::AttributeValue};
use futures::future::join_all;
use local::{stack_map::StackMap, workshop};
use serde_json::{Value, json};
use shared::chain::{
    contracts::native::{Creator1155, Erc20Minter, FixedPriceMinter},
    protocol::sale::CurrentSale,
};
use tests::{Answer, Collector, Sandbox, Stack, Writer, empty_tables, eventually, history::Dice};

use crate::transactions::{QUIET_CHAIN, copy_artist, quiet, quiet_relay};

const PATH: &str = "/sale";
/// Moments that are edited side by side, every other one sold in an ERC-20 currency.
const SIDE_BY_SIDE: u64 = 4;

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

/// A sale, as far as edits change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Terms {
    price: U256,
    start: u64,
    end: u64,
    most: u64,
    recipient: Address,
}

impl Terms {
    /// Those of a collection's token 1.
    async fn read(stack: &Stack, chain: u64, collection: Address, is_erc20: bool) -> Self {
        let chain = chain.to_string();
        let node = stack.node_of(&chain);
        let sale: CurrentSale = if is_erc20 {
            let strategy = Erc20Minter::new(stack.contract_on(&chain, "erc20Minter"), node);
            strategy.sale(collection, U256::ONE).call().await.expect("a sale").into()
        } else {
            let strategy = FixedPriceMinter::new(stack.contract_on(&chain, "fixedPriceMinter"), node);
            strategy.sale(collection, U256::ONE).call().await.expect("a sale").into()
        };
        let CurrentSale { terms, price, funds_recipient: recipient, .. } = sale;
        Self { price, start: terms.start, end: terms.end, most: terms.max_per_address, recipient }
    }

    /// After an edit.
    fn with(self, edit: &Value) -> Self {
        let text = |name: &str| edit[name].as_str();
        Self {
            price: text("pricePerToken").map_or(self.price, |price| price.parse().expect("a number")),
            start: edit["saleStart"].as_u64().unwrap_or(self.start),
            end: edit["saleEnd"].as_u64().unwrap_or(self.end),
            most: edit["maxTokensPerAddress"].as_u64().unwrap_or(self.most),
            recipient: text("fundsRecipient").map_or(self.recipient, |account| account.parse().expect("an address")),
        }
    }
}

/// Two edits that are valid in either order, which may change the same fields. The first pair raises the price, and ends the
/// sale.
fn edits(dice: &mut Dice, pair: u64) -> [Value; 2] {
    if pair == 0 {
        return [json!({"pricePerToken": "9000000"}), json!({"saleEnd": 1_000})];
    }
    [(); 2].map(|()| {
        let mut edit = json!({});
        for _ in 0..=dice.roll(3) {
            match dice.roll(5) {
                0 => edit["pricePerToken"] = json!((10_000 + dice.roll(1_000_000)).to_string()),
                1 => edit["saleStart"] = json!(dice.roll(1_000)),
                2 if dice.roll(3) == 0 => edit["saleEnd"] = json!(1_000),
                2 => edit["saleEnd"] = json!(4_000_000_000 + dice.roll(1_000_000)),
                3 => edit["maxTokensPerAddress"] = json!(dice.roll(100)),
                _ => edit["fundsRecipient"] = json!(Address::with_last_byte(1 + dice.roll(200) as u8).to_string()),
            }
        }
        edit
    })
}

fn is_erc20(number: u64) -> bool {
    number % 2 == 1
}

/// A collection of these admins whose token 1 is sold, in an ERC-20 currency if its number is odd. Returns its address.
async fn sold(stack: &Stack, chain: u64, admins: &[Address], number: u64) -> Address {
    let (token, chain) = (U256::ONE, chain.to_string());
    let (most, recipient) = (5 + number, Address::repeat_byte(7));
    let (minter, sale) = if is_erc20(number) {
        let config = Erc20Minter::SalesConfig {
            saleStart: 0,
            saleEnd: u64::MAX,
            maxTokensPerAddress: most,
            pricePerToken: U256::from(1_500_000),
            fundsRecipient: recipient,
            currency: stack.contract_on(&chain, "usdc"),
        };
        let set = Erc20Minter::setSaleCall { tokenId: token, salesConfig: config };
        (stack.contract_on(&chain, "erc20Minter"), set.abi_encode())
    } else {
        let config = FixedPriceMinter::SalesConfig {
            saleStart: 0,
            saleEnd: u64::MAX,
            maxTokensPerAddress: most,
            pricePerToken: "1500000".parse().expect("a price"),
            fundsRecipient: recipient,
        };
        let set = FixedPriceMinter::setSaleCall { tokenId: token, salesConfig: config };
        (stack.contract_on(&chain, "fixedPriceMinter"), set.abi_encode())
    };
    let actions = vec![
        Creator1155::addPermissionCall { tokenId: token, user: minter, permissionBits: U256::from(4) }.abi_encode(),
        Creator1155::callSaleCall { tokenId: token, salesConfig: minter, data: sale.into() }.abi_encode(),
    ];
    let made = workshop::publish(&stack.map.rpc[&chain], stack.contract_on(&chain, "factory"), admins, actions).await;
    made.expect("a collection")
}

/// Where the chain has a write, given its answer: block, and place in it.
async fn place(stack: &Stack, chain: u64, answer: &Value) -> (u64, u64) {
    let hash: B256 = answer["hash"].as_str().and_then(|hash| hash.parse().ok()).expect("a hash");
    let receipt = stack.node_of(&chain.to_string()).get_transaction_receipt(hash).await.expect("an answer");
    let receipt = receipt.expect("a receipt");
    (receipt.block_number.expect("a block"), receipt.transaction_index.expect("a place"))
}

/// Fails unless a sale is what it was before with two edits, in the chain's order of their answers. Returns it, and whether
/// the first was done first.
async fn assert_both_kept(
    stack: &Stack,
    (chain, collection, is_erc20): (u64, Address, bool),
    before: Terms,
    edits: &[Value; 2],
    answers: [&Value; 2],
) -> (Terms, bool) {
    let [first, second] = [place(stack, chain, answers[0]).await, place(stack, chain, answers[1]).await];
    assert_ne!(first, second, "{edits:?}");
    let is_in_order = first < second;
    let order = if is_in_order { [&edits[0], &edits[1]] } else { [&edits[1], &edits[0]] };
    let expected = before.with(order[0]).with(order[1]);
    assert_eq!(Terms::read(stack, chain, collection, is_erc20).await, expected, "{before:?} with {order:?}");
    (expected, is_in_order)
}

/// A number that the environment may give.
fn given(name: &str, default: u64) -> u64 {
    let number = env::var(name).map_or(default, |number| number.parse().expect("a number"));
    println!("{name}={number}");
    number
}

#[tokio::test]
async fn random_pairs_of_edits_leave_what_their_order_says() {
    const CHAIN: u64 = 8453;
    let (seed, pairs) = (given("SEED", 1), given("PAIRS", 24));
    let stack = Stack::connect();
    let writers = [stack.new_collector().await, stack.new_collector().await];
    let admins = [writers[0].account, writers[1].account];
    let edit = async |number: u64| {
        let is_erc20 = is_erc20(number);
        let collection = sold(&stack, CHAIN, &admins, number).await;
        let moment = json!({"collectionAddress": collection, "tokenId": "1"});
        let send = async |writer: &Collector, edit: &Value| {
            let mut body = edit.clone();
            body["moment"] = moment.clone();
            stack.write(PATH, &writer.key, &body, &[]).await.expect_success()
        };
        let mut dice = Dice::at((seed << 32) + (number << 24));
        let mut now = Terms::read(&stack, CHAIN, collection, is_erc20).await;
        for pair in 0..pairs.div_ceil(SIDE_BY_SIDE) {
            let edits = edits(&mut dice, pair);
            let first = dice.roll(2) as usize;
            let (one, other) = (&writers[first], &writers[1 - first]);
            let is_at_once = pair % 2 == 0;
            let (one, other) = if is_at_once {
                tokio::join!(send(one, &edits[0]), send(other, &edits[1]))
            } else {
                (send(one, &edits[0]).await, send(other, &edits[1]).await)
            };
            let place = (CHAIN, collection, is_erc20);
            let (after, is_in_order) = assert_both_kept(&stack, place, now, &edits, [&one.body, &other.body]).await;
            assert!(is_at_once || is_in_order, "{edits:?}");
            now = after;
        }
    };
    join_all((0..SIDE_BY_SIDE).map(edit)).await;
}

#[tokio::test]
async fn random_pairs_whose_first_edit_is_still_open_leave_both() {
    /// Those of the function: a write is admitted as long as five are left.
    const SECONDS: u64 = 9;
    let (seed, pairs) = (given("SEED", 1), given("PAIRS", SIDE_BY_SIDE));
    let stack = Stack::connect();
    let _quiet = quiet(&stack).await;
    let Collector { artist, key, account } = stack.new_collector().await;
    // A queue that nothing reads until this test has it read.
    let database = empty_tables(&stack).await;
    let own = stack.with(StackMap { dynamodb: database.endpoint.clone(), ..stack.map.clone() });
    let function = Sandbox::hurried(&own, "update-sale", SECONDS, SIDE_BY_SIDE as usize).await;
    let relay = quiet_relay(&stack, &[], &database.endpoint).await;
    let rows = Client::new(&function.endpoints.sdk_config(&database.endpoint).await);
    copy_artist(&stack.dynamodb().await, &rows, &artist.wallet).await;
    let (mut sales, mut terms, mut dice) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..SIDE_BY_SIDE {
        let is_erc20 = is_erc20(number);
        let collection = sold(&stack, QUIET_CHAIN, &[account], number).await;
        terms.push(Terms::read(&stack, QUIET_CHAIN, collection, is_erc20).await);
        sales.push((QUIET_CHAIN, collection, is_erc20));
        dice.push(Dice::at((seed << 32) + (number << 24)));
    }
    for round in 0..pairs.div_ceil(SIDE_BY_SIDE) {
        // At first one with a raised price and an end, in each currency.
        let pairs: Vec<_> = (0..).zip(&mut dice).map(|(number, dice)| edits(dice, round + number / 2)).collect();
        // Nothing is queued by a request that was too slow.
        let send = async |pair: usize, edit: usize| {
            let (chain, collection, _) = sales[pair];
            let mut event = function.event();
            event["headers"]["x-api-key"] = json!(key);
            event["headers"]["idempotency-key"] = json!(format!("{round}-{pair}-{edit}"));
            let mut body = pairs[pair][edit].clone();
            body["moment"] = json!({"collectionAddress": collection, "tokenId": "1", "chainId": chain});
            event["body"] = body.to_string().into();
            eventually("an answer in time", async || {
                let answer = function.invoke(&event).await;
                (answer["statusCode"] != 503).then_some(answer)
            })
            .await
        };
        for first in join_all((0..pairs.len()).map(|pair| send(pair, 0))).await {
            assert_eq!(first["statusCode"], 202, "{first}");
        }

        let relayed = async {
            eventually("all are queued", async || {
                let queue = AttributeValue::S(format!("QUEUE#{QUIET_CHAIN}#PLAIN"));
                let queued = rows.query().table_name("ArtistTable").consistent_read(true);
                let queued = queued.key_condition_expression("pk = :pk").expression_attribute_values(":pk", queue);
                (queued.send().await.expect("rows").items().len() == 2 * pairs.len()).then_some(())
            })
            .await;
            relay.invoke(&json!({})).await;
        };
        let (seconds, ()) = tokio::join!(join_all((0..pairs.len()).map(|pair| send(pair, 1))), relayed);

        for second in seconds {
            assert!([json!(200), json!(202)].contains(&second["statusCode"]), "{second}");
        }
        for (pair, edits) in pairs.iter().enumerate() {
            let [first, second] = [send(pair, 0).await, send(pair, 1).await];
            assert_eq!((&first["statusCode"], &second["statusCode"]), (&json!(200), &json!(200)), "{first} {second}");
            let body = |answer: &Value| -> Value {
                answer["body"].as_str().and_then(|body| serde_json::from_str(body).ok()).expect("a body")
            };
            let answers = [&body(&first), &body(&second)];
            let (after, is_in_order) = assert_both_kept(&stack, sales[pair], terms[pair], edits, answers).await;
            assert!(is_in_order, "{edits:?}");
            terms[pair] = after;
        }
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
