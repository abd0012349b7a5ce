//! `POST /moment/create`

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use alloy::{
    primitives::{Address, U256},
    providers::Provider,
};
use futures::future::join_all;
use serde_json::{Value, json};
use shared::{
    chain::contracts::native::{Creator1155, Erc20Minter, FixedPriceMinter, TimedMinter},
    model::ChainId,
};
use tests::{Answer, DatabaseProxy, Published, RpcProxy, Sandbox, Stack, Writer};

const PATH: &str = "/moment/create";

/// A new collection for the moment.
fn new_collection() -> Value {
    json!({"name": "First Steps", "uri": "ipfs://bafysteps/collection.json"})
}

fn token(sale: Value) -> Value {
    json!({"tokenMetadataURI": "ipfs://bafysteps/1.json", "salesConfig": sale})
}

fn fixed(price: &str) -> Value {
    json!({"type": "fixedPrice", "pricePerToken": price, "saleStart": 7, "saleEnd": u64::MAX.to_string()})
}

async fn create(stack: &Stack, writer: &Writer, contract: Value, token: Value) -> Answer {
    stack.write(PATH, &writer.key, &json!({"contract": contract, "token": token}), &[]).await
}

fn made(answer: &Answer) -> (Address, U256) {
    let text = |field: &str| answer.body[field].as_str().expect(field);
    (text("contractAddress").parse().expect("an address"), text("tokenId").parse().expect("a number"))
}

#[tokio::test]
async fn moment_in_a_new_collection_has_the_requested_properties() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let account: Address = writer.artist.wallet.parse().expect("an address");
    let (referral, payee) = (Address::repeat_byte(0x11), Address::repeat_byte(0x22));
    let mut token = token(fixed("5000"));
    token["createReferral"] = json!(referral);
    token["payoutRecipient"] = json!(payee);
    token["maxSupply"] = json!(40);
    token["royaltyBps"] = json!(250);
    token["mintToCreatorCount"] = json!(3);
    token["salesConfig"]["maxTokensPerAddress"] = json!(2);
    let answer = create(&stack, &writer, new_collection(), token).await.expect_success();
    let (collection, id) = made(&answer);
    assert_eq!(id, U256::ONE);

    let (moments, published) = (Creator1155::new(collection, stack.chain()), Published::new(collection, stack.chain()));
    let info = moments.getTokenInfo(id).call().await.expect("a token");
    assert_eq!(
        (info.uri.as_str(), info.maxSupply, info.totalMinted),
        ("ipfs://bafysteps/1.json", U256::from(40), U256::from(3))
    );
    assert_eq!(moments.balanceOf(account, id).call().await.expect("a balance"), U256::from(3));
    assert_eq!(published.createReferrals(id).call().await.expect("a referral"), referral);
    let royalties = published.getRoyalties(id).call().await.expect("royalties");
    assert_eq!((royalties.bps, royalties.recipient), (250, payee));
    let shown = stack.wait_until(&format!("/moment?collectionAddress={collection:#x}&tokenId=1"), |_| true).await;
    assert_eq!(shown["royalty"], json!({"bps": 250, "recipient": format!("{payee:#x}")}));
    let rights = moments.permissions(id, account).call().await.expect("permissions");
    assert_eq!(rights, U256::from(2), "the token is the factory's alone");
    let minter = FixedPriceMinter::new(stack.contract("fixedPriceMinter"), stack.chain());
    let sale = minter.sale(collection, id).call().await.expect("a sale");
    assert_eq!((sale.saleStart, sale.saleEnd, sale.maxTokensPerAddress), (7, u64::MAX, 2));
    assert_eq!((sale.pricePerToken.to_string().as_str(), sale.fundsRecipient), ("5000", payee));
}

#[tokio::test]
async fn moments_are_added_to_an_existing_collection() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let first = create(&stack, &writer, new_collection(), token(fixed("0"))).await.expect_success();
    let (collection, _) = made(&first);
    let existing = json!({"address": collection});
    for expected in [2, 3] {
        let answer = create(&stack, &writer, existing.clone(), token(fixed("1"))).await.expect_success();
        assert_eq!(made(&answer), (collection, U256::from(expected)));
    }
}

#[tokio::test]
async fn ten_moments_created_at_once_in_one_collection_are_ten_moments() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let (collection, _) = made(&create(&stack, &writer, new_collection(), token(fixed("0"))).await.expect_success());
    let existing = json!({"address": collection});
    let answers = join_all((0..10).map(|number| {
        let mut token = token(fixed("1"));
        token["tokenMetadataURI"] = json!(format!("ar://{number}"));
        create(&stack, &writer, existing.clone(), token)
    }));
    let mut ids = Vec::new();
    let moments = Creator1155::new(collection, stack.chain());
    for (number, answer) in answers.await.into_iter().enumerate() {
        let (of, id) = made(&answer.expect_success());
        assert_eq!(of, collection);
        let info = moments.getTokenInfo(id).call().await.expect("a token");
        assert_eq!(info.uri, format!("ar://{number}"), "the answer names another's token");
        ids.push(id);
    }
    ids.sort_unstable();
    assert_eq!(ids, (2..12).map(U256::from).collect::<Vec<_>>());
}

#[tokio::test]
async fn collection_of_no_known_factory_is_refused() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    // It has a collection's very code, and answers like one.
    let look_alike = stack.contract("creator1155Implementation");
    let answer = create(&stack, &writer, json!({"address": look_alike}), token(fixed("1"))).await.expect_error(422);
    let message = answer.body["message"].as_str().expect("a message");
    assert!(message.contains("was not made by a factory that this service knows"), "{message}");
}

#[tokio::test]
async fn collection_that_index_and_logs_lack_yet_is_known_if_it_was_made_here_and_else_asked_for_later() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let (own, _) = made(&create(&stack, &writer, new_collection(), token(fixed("0"))).await.expect_success());
    let lags = Arc::new(AtomicBool::new(true));
    let lagging = Arc::clone(&lags);
    let chain = ChainId::DEFAULT.to_string();
    let node = RpcProxy::in_front_of(&stack.map.rpc[&chain], move |call| match call["method"].as_str()? {
        // The index isn't so far behind that the collection's address tells.
        "eth_blockNumber" => Some(json!({"result": "0x1"})),
        "eth_getLogs" if lagging.load(Relaxed) => Some(json!({"result": []})),
        _ => None,
    });
    let (node, database) = (node.await, DatabaseProxy::start().await.expect("a proxy"));
    database.lead_to(&stack.map.dynamodb);
    database.miss(Some(stack.map.names["ChainTable"].clone()));
    let urls = json!({chain: [node.url]}).to_string();
    let sandbox = Sandbox::with(&stack, "create-moment", &[("RPC_URLS", &urls)], &database.url).await;
    let create_in = async |collection: Address| {
        let mut event = sandbox.event();
        event["headers"] = json!({"content-type": "application/json", "x-api-key": writer.key});
        event["body"] = json!(json!({"contract": {"address": collection}, "token": token(fixed("1"))}).to_string());
        sandbox.write(&event).await
    };

    let made_here = create_in(own).await;
    assert_eq!(made_here["statusCode"], 200, "{made_here}");
    let elsewhere = create_in(writer.collection).await;
    assert_eq!((&elsewhere["statusCode"], &elsewhere["headers"]["retry-after"]), (&json!(503), &json!("5")));
    lags.store(false, Relaxed);
    let logged = create_in(writer.collection).await;
    assert_eq!(logged["statusCode"], 200, "{logged}");
}

#[tokio::test]
async fn erc20_and_timed_sales_are_set() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let usdc = stack.contract("usdc");
    let erc20 = json!({"type": "erc20Mint", "pricePerToken": "1500000", "saleStart": 0, "saleEnd": u64::MAX, "currency": usdc.to_checksum(None)});
    let (collection, id) = made(&create(&stack, &writer, new_collection(), token(erc20)).await.expect_success());
    let minter = Erc20Minter::new(stack.contract("erc20Minter"), stack.chain());
    let sale = minter.sale(collection, id).call().await.expect("a sale");
    assert_eq!((sale.pricePerToken, sale.currency), (U256::from(1_500_000), usdc));

    let timed_minter = stack.contract("timedMinter");
    let timed = json!({"type": "PartnerTimedSaleStrategy", "pricePerToken": "0", "saleStart": 9, "saleEnd": 0});
    let (collection, id) = made(&create(&stack, &writer, new_collection(), token(timed)).await.expect_success());
    let sale = TimedMinter::new(timed_minter, stack.chain()).saleV2(collection, id).call().await.expect("a sale");
    assert_eq!((sale.saleStart, sale.name.as_str(), sale.symbol.as_str()), (9, "First Steps", "$FRST"));
}

#[tokio::test]
async fn moments_without_a_collection_go_to_the_artist_s_own() {
    let stack = Stack::connect();
    let (artist, other) = (stack.new_artist().await, stack.new_artist().await);
    let name = format!("own-{}", &uuid::Uuid::new_v4().simple().to_string()[..8]);
    let named = stack.patch("/artists/me").bearer_auth(&artist.token).json(&json!({"username": name}));
    Answer::of(named).await.expect_success();
    let key = async |artist| {
        let made = stack.create_key(artist, &json!({})).await.expect_success();
        made.body["apiKey"].as_str().expect("a key").to_owned()
    };
    let (key, others_key) = (key(&artist).await, key(&other).await);
    let body = json!({"token": token(fixed("7"))});
    let simulate = stack.post("/moment/create/simulate").header("x-api-key", &key).json(&body);
    Answer::of(simulate).await.expect_success();

    // The first ones, all at once, make one collection.
    let answers = join_all((0..4).map(|_| stack.write(PATH, &key, &body, &[]))).await;
    let made: Vec<_> = answers.into_iter().map(|answer| made(&answer.expect_success())).collect();
    let collection = made[0].0;
    let ids: BTreeSet<_> = made.iter().map(|(of, id)| (*of, *id)).collect();
    assert_eq!(ids, (1..=4).map(|id| (collection, U256::from(id))).collect());

    // A new name changes nothing; another artist has another one.
    let renamed = stack.patch("/artists/me").bearer_auth(&artist.token).json(&json!({"username": format!("{name}-2")}));
    Answer::of(renamed).await.expect_success();
    let again = stack.write(PATH, &key, &body, &[]).await.expect_success();
    assert_eq!(self::made(&again), (collection, U256::from(5)));
    let batch = json!({"tokens": [token(fixed("7")), token(fixed("0"))]});
    let batch = stack.write("/moment/create-batch", &key, &batch, &[]).await.expect_success().body;
    assert_eq!(batch["tokenIds"], json!(["6", "7"]));
    assert_eq!(batch["contractAddress"], format!("{collection:#x}"));
    let text = json!({"title": "Fog", "text": "It came in.", "token": {"salesConfig": fixed("7")}});
    let text = stack.write("/moment/create/writing", &key, &text, &[]).await.expect_success();
    assert_eq!(self::made(&text), (collection, U256::from(8)));
    let others = stack.write(PATH, &others_key, &json!({"contract": null, "token": token(fixed("7"))}), &[]).await;
    assert_ne!(self::made(&others.expect_success()).0, collection);
    assert_eq!(Creator1155::new(collection, stack.chain()).name().call().await.expect("a name"), name);
    let path = format!("/collections/eip155:8453/erc1155:{collection:#x}");
    let body = stack.wait_until(&path, |body| body["name"] == name.as_str()).await;
    assert_eq!(body["creator"]["address"], artist.wallet.as_str());
}

#[tokio::test]
async fn split_receives_proceeds_and_royalties_and_is_deployed_once() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let share = |percent: f64| json!({"address": format!("0x{:08x}{:032x}", 1, uuid::Uuid::new_v4().as_u128()), "percentAllocation": percent});
    let splits = json!([share(33.3333), share(33.3333), share(33.3334)]);
    let body = json!({"contract": new_collection(), "token": token(fixed("100")), "splits": splits});
    let mut recipients = Vec::new();
    for _ in 0..2 {
        let (collection, id) = made(&stack.write(PATH, &writer.key, &body, &[]).await.expect_success());
        let royalties = Published::new(collection, stack.chain()).getRoyalties(id).call().await.expect("royalties");
        let minter = FixedPriceMinter::new(stack.contract("fixedPriceMinter"), stack.chain());
        let sale = minter.sale(collection, id).call().await.expect("a sale");
        assert_eq!(royalties.recipient, sale.fundsRecipient);
        recipients.push(sale.fundsRecipient);
    }
    assert_eq!(recipients[0], recipients[1], "the same split has two addresses");
    assert!(!stack.chain().get_code_at(recipients[0]).await.expect("code").is_empty(), "the split isn't there");
}

#[tokio::test]
async fn ten_moments_created_at_once_with_the_same_new_split_are_ten_moments() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let (collection, _) = made(&create(&stack, &writer, new_collection(), token(fixed("0"))).await.expect_success());
    let share =
        || json!({"address": format!("0x{:08x}{:032x}", 1, uuid::Uuid::new_v4().as_u128()), "percentAllocation": 50});
    let splits = json!([share(), share()]);
    // In an existing collection and in new ones, whose calls are made in different ways.
    let answers = join_all((0..10).map(async |number| {
        let contract = if number % 2 == 0 {
            json!({"address": collection})
        } else {
            json!({"name": format!("Shared {number}"), "uri": "ar://shared"})
        };
        let body = json!({"contract": contract, "token": token(fixed("100")), "splits": splits});
        stack.write(PATH, &writer.key, &body, &[]).await
    }));
    let mut recipients = Vec::new();
    for answer in answers.await {
        let (of, id) = made(&answer.expect_success());
        let royalties = Published::new(of, stack.chain()).getRoyalties(id).call().await.expect("royalties");
        recipients.push(royalties.recipient);
    }
    assert_eq!(recipients, [recipients[0]; 10]);
    assert!(!stack.chain().get_code_at(recipients[0]).await.expect("code").is_empty(), "the split isn't there");
}

#[tokio::test]
async fn foreign_or_unknown_collection_is_refused() {
    let stack = Stack::connect();
    let (writer, other) = (stack.new_writer().await, stack.new_writer().await);
    let foreign =
        create(&stack, &writer, json!({"address": other.collection}), token(fixed("1"))).await.expect_error(403);
    let message = foreign.body["message"].as_str().expect("a message");
    assert!(message.contains(&writer.artist.wallet) && message.contains("MINTER"), "{message}");
    let nowhere = json!({"address": Address::repeat_byte(0x77)});
    create(&stack, &writer, nowhere, token(fixed("1"))).await.expect_error(404);
}

#[tokio::test]
async fn every_invalid_field_is_named() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let sale = |field: &str, value: Value| {
        let mut sale = fixed("1");
        sale[field] = value;
        json!({"contract": new_collection(), "token": token(sale)})
    };
    let mut many = token(fixed("1"));
    many["maxSupply"] = json!(2);
    many["mintToCreatorCount"] = json!(3);
    let mut greedy = token(fixed("1"));
    greedy["royaltyBps"] = json!(5001);
    for (body, fields) in [
        (json!({}), vec!["token"]),
        (json!({"contract": {}, "token": {}}), vec!["contract", "token.tokenMetadataURI", "token.salesConfig"]),
        (json!({"contract": {"name": "x"}, "token": token(fixed("1"))}), vec!["contract.uri"]),
        (json!({"contract": {"address": "0x1"}, "token": token(fixed("1"))}), vec!["contract.address"]),
        (json!({"contract": new_collection(), "token": many}), vec!["token.mintToCreatorCount"]),
        (json!({"contract": new_collection(), "token": greedy}), vec!["token.royaltyBps"]),
        (sale("type", json!("auction")), vec!["token.salesConfig.type"]),
        (sale("pricePerToken", json!("-1")), vec!["token.salesConfig.pricePerToken"]),
        (sale("pricePerToken", json!("79228162514264337593543950336")), vec!["token.salesConfig.pricePerToken"]),
        (sale("saleEnd", json!(0)), vec!["token.salesConfig.saleEnd"]),
        (sale("saleEnd", json!(6)), vec!["token.salesConfig.saleEnd"]),
        (sale("saleStart", json!("18446744073709551616")), vec!["token.salesConfig.saleStart"]),
        (sale("type", json!("erc20Mint")), vec!["token.salesConfig.pricePerToken", "token.salesConfig.currency"]),
    ] {
        let answer = stack.write_once(PATH, &writer.key, &body, &[]).await.expect_error(400);
        assert_eq!(answer.failing_fields(), fields, "{body}");
    }
}
