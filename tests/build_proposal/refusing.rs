//! Refused requests, and the cost and limits of requests.

use alloy::primitives::Address;
use local::workshop;
use serde_json::{Value, json};
use tests::{HOUR, Recorder, RpcProxy, Sandbox, Stack, unused_network, within_one_window};

use super::{CHAIN, PATH, new_address, proposal, sale, token};

fn with(field: &str, value: Value) -> Value {
    let mut body = proposal(new_address());
    *body.pointer_mut(field).unwrap_or_else(|| panic!("no {field}")) = value;
    body
}

async fn behind(stack: &Stack, node: &str) -> Sandbox {
    let urls = json!({CHAIN: [node]}).to_string();
    Sandbox::with_variables(stack, "build-proposal", &[("RPC_URLS", &urls)]).await
}

#[tokio::test]
async fn every_invalid_field_is_named() {
    let stack = Stack::connect();
    let share = |address: &str, percent: Value| json!({"address": address, "percentAllocation": percent});
    let (one, two, three) = (
        "0x1111111111111111111111111111111111111111",
        "0x2222222222222222222222222222222222222222",
        "0x3333333333333333333333333333333333333333",
    );
    let splits = |entries: Vec<Value>| {
        let mut body = proposal(new_address());
        body["splits"] = json!(entries);
        body
    };
    let sold = |sale: Value| with("/tokens", json!([token(sale)]));
    let text = |title: &str, description: &str| with("/proposal", json!({"title": title, "description": description}));
    for (body, failing) in [
        (json!({}), vec!["chainId", "account", "contract", "tokens", "proposal"]),
        (with("/chainId", json!(8453)), vec!["chainId"]),
        (with("/chainId", json!("mainnet")), vec!["chainId"]),
        // A default chain that this stack doesn't serve.
        (with("/chainId", json!(11_155_111)), vec!["chainId"]),
        (with("/account", json!("0x1234")), vec!["account"]),
        (with("/account", json!(Address::ZERO)), vec!["account"]),
        (with("/account", json!("0x540c18B7f99b3b599c6FeB99964498931c211858")), vec!["account"]),
        (with("/contract", json!({})), vec!["contract"]),
        (with("/contract", json!({"name": "Alone"})), vec!["contract.uri"]),
        (with("/contract", json!({"uri": "ar://alone"})), vec!["contract.name"]),
        (with("/contract", json!({"address": "vitalik.eth"})), vec!["contract.address"]),
        (with("/tokens", json!([])), vec!["tokens"]),
        (
            with("/tokens", json!([token(sale("fixedPrice", "1")), {}])),
            vec!["tokens.1.tokenMetadataURI", "tokens.1.salesConfig"],
        ),
        (text("", ""), vec!["proposal.title", "proposal.description"]),
        (text(" ", "\n"), vec!["proposal.title", "proposal.description"]),
        (text("one\ntwo", "x"), vec!["proposal.title"]),
        (text("one\rtwo", "x"), vec!["proposal.title"]),
        (text("one\u{2028}two", "x"), vec!["proposal.title"]),
        (sold(sale("auction", "1")), vec!["tokens.0.salesConfig.type"]),
        (sold(sale("erc20Mint", "9999")), vec!["tokens.0.salesConfig.pricePerToken", "tokens.0.salesConfig.currency"]),
        (with("/tokens/0/salesConfig/saleEnd", json!("0")), vec!["tokens.0.salesConfig.saleEnd"]),
        (with("/tokens/0/salesConfig/saleEnd", json!("6")), vec!["tokens.0.salesConfig.saleEnd"]),
        (with("/tokens/0/salesConfig/saleEnd", json!("18446744073709551616")), vec!["tokens.0.salesConfig.saleEnd"]),
        (splits(vec![share(one, json!(100))]), vec!["splits"]),
        (splits(vec![share(one, json!(50)), share(one, json!(50))]), vec!["splits"]),
        (splits(vec![share(one, json!(50)), share(two, json!(50.0001))]), vec!["splits"]),
        (
            splits(vec![share(one, json!(100.000_000_1)), share(two, json!(0))]),
            vec!["splits.0.percentAllocation", "splits.1.percentAllocation"],
        ),
        (splits(vec![share(one, json!(33.33)), share(two, json!(33.33)), share(three, json!(33.33))]), vec!["splits"]),
        (splits(vec![share("0x12", json!(50)), share(two, json!(50))]), vec!["splits.0.address"]),
    ] {
        let answer = stack.post_json(PATH, &body).await.expect_error(400);
        assert_eq!(answer.failing_fields(), failing, "{body}");
    }
}

#[tokio::test]
async fn proposal_that_would_fail_is_refused_with_the_reason() {
    let stack = Stack::connect();
    let ask = async |function: &Sandbox, body: &Value, expected: u16| {
        let (status, answer) = function.post("192.0.2.65", body).await;
        assert_eq!(status, expected, "{answer}");
        answer["message"].as_str().expect("a message").to_owned()
    };
    let function = behind(&stack, &stack.map.rpc[CHAIN]).await;
    let (factory, executor) = (stack.contract_on(CHAIN, "factory"), stack.contract_on(CHAIN, "governorExecutor"));
    let nowhere = with("/contract", json!({"address": new_address()}));
    assert!(ask(&function, &nowhere, 404).await.contains("no collection"));
    let foreign = workshop::publish(&stack.map.rpc[CHAIN], factory, &[new_address()], Vec::new()).await.expect("one");
    let message = ask(&function, &with("/contract", json!({"address": foreign})), 422).await;
    assert!(message.contains(&format!("{executor:#x}")) && message.contains("lacks the permission"), "{message}");

    // A proposal must fit into one transaction.
    let many = |count| with("/tokens", Value::from(vec![token(sale("fixedPrice", "1")); count]));
    assert_eq!(function.post("192.0.2.65", &many(12)).await.0, 200);
    let message = ask(&function, &many(50), 422).await;
    assert!(message.contains("fewer tokens"), "{message}");
}

#[tokio::test]
async fn outdated_token_id_is_refused() {
    let stack = Stack::connect();
    let (factory, executor) = (stack.contract_on(CHAIN, "factory"), stack.contract_on(CHAIN, "governorExecutor"));
    let own = workshop::publish(&stack.map.rpc[CHAIN], factory, &[executor], Vec::new()).await.expect("a collection");
    // A node that lags a block: it returns 1 as the collection's next token id. Multicall3 isn't there, so that each read is
    // a call.
    let stale = |call: &Value| {
        let input = call["params"][0]["input"].as_str()?;
        match input.get(..10)? {
            "0x75794a3c" => Some(json!({"result": format!("0x{:064x}", 1)})),
            "0x82ad56cb" => Some(json!({"result": "0x"})),
            _ => None,
        }
    };
    let rpc_proxy = RpcProxy::in_front_of(&stack.map.rpc[CHAIN], stale).await;
    let (status, body) =
        behind(&stack, &rpc_proxy.url).await.post("192.0.2.57", &with("/contract", json!({"address": own}))).await;
    assert_eq!(status, 422, "{body}");
    let message = body["message"].as_str().expect("a message");
    assert!(message.contains("Token 1 was created in the meantime (expected 0)"), "{message}");
}

#[tokio::test]
async fn description_refused_by_the_governor_is_refused() {
    let stack = Stack::connect();
    let governor = stack.contract_on(CHAIN, "bravoGovernor");
    let chains = json!([{"id": 1, "governor": governor}]).to_string();
    let bravo = Sandbox::with_variables(&stack, "build-proposal", &[("CHAINS", &chains)]).await;
    // The account has no votes, so the governor refuses both proposals, but for different reasons.
    let account = new_address();
    let mut body = proposal(account);
    for (proposer, expected) in [(account, 200), (new_address(), 422)] {
        body["proposal"]["description"] = json!(format!("Mine. #proposer={proposer:#x}"));
        let (status, answer) = bravo.post("192.0.2.56", &body).await;
        assert_eq!(status, expected, "{answer}");
        assert!(
            status == 200 || answer["message"] == "The contract refuses: Governor: proposer restricted",
            "{answer}"
        );
    }
}

#[tokio::test]
async fn failing_node_is_502_or_503_and_old_node_is_supported() {
    let stack = Stack::connect();
    let body = proposal(new_address());
    let (status, answer) = behind(&stack, "http://127.0.0.1:1").await.post("192.0.2.55", &body).await;
    assert_eq!(status, 502, "{answer}");
    let busy = |_: &Value| Some(json!({"error": {"code": -32005, "message": "too many requests"}}));
    let busy = RpcProxy::in_front_of(&stack.map.rpc[CHAIN], busy).await;
    let (status, answer) = behind(&stack, &busy.url).await.post("192.0.2.55", &body).await;
    assert_eq!(status, 503, "{answer}");

    let old = |call: &Value| {
        let error = json!({"error": {"code": -32601, "message": "the method eth_simulateV1 does not exist"}});
        (call["method"] == "eth_simulateV1").then_some(error)
    };
    let old = behind(&stack, &RpcProxy::in_front_of(&stack.map.rpc[CHAIN], old).await.url).await;
    let mut shared = body.clone();
    shared["splits"] = json!([
        {"address": new_address(), "percentAllocation": 99.9999},
        {"address": new_address(), "percentAllocation": "0.0001"},
    ]);
    for (body, actions) in [(&body, 1), (&shared, 2)] {
        let (status, answer) = old.post("192.0.2.55", body).await;
        assert_eq!((status, answer["args"][0].as_array().map(Vec::len)), (200, Some(actions)), "{answer}");
    }
    let factory = stack.contract_on(CHAIN, "factory");
    let foreign = workshop::publish(&stack.map.rpc[CHAIN], factory, &[new_address()], Vec::new()).await.expect("one");
    shared["contract"] = json!({"address": foreign});
    let (status, answer) = old.post("192.0.2.55", &shared).await;
    assert_eq!(status, 422, "{answer}");
    assert!(answer["message"].as_str().is_some_and(|message| message.contains("lacks the permission")), "{answer}");
}

#[tokio::test]
async fn proposal_takes_two_database_calls_and_three_node_calls() {
    let stack = Stack::connect();
    let dynamodb = Recorder::in_front_of(&stack.map.dynamodb).await.expect("a recorder");
    let node = RpcProxy::in_front_of(&stack.map.rpc[CHAIN], |_| None).await;
    let urls = json!({CHAIN: [node.url]}).to_string();
    let variables = [("AWS_ENDPOINT_URL_DYNAMODB", dynamodb.url.as_str()), ("RPC_URLS", &urls)];
    let sandbox = Sandbox::with_variables(&stack, "build-proposal", &variables).await;
    let account = local::contracts::DEPLOYER;
    let (status, answer) = sandbox.post("192.0.2.67", &proposal(account)).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(dynamodb.take(), ["UpdateItem", "UpdateItem"]);
    let mut methods = node.take();
    methods.sort_unstable();
    assert_eq!(methods, ["eth_call", "eth_simulateV1", "eth_simulateV1"]);

    let (status, _) = sandbox.post("192.0.2.67", &json!({})).await;
    assert_eq!((status, dynamodb.take().len(), node.take().len()), (400, 0, 0));
}

#[tokio::test]
async fn each_client_network_has_its_own_limit() {
    let stack = Stack::connect();
    let limited = Sandbox::with_variables(&stack, "build-proposal", &[("PROPOSALS_PER_CLIENT_HOURLY", "2")]).await;
    let body = proposal(new_address());
    let ask = async |client: &str, body: &Value| limited.post(client, body).await.0;
    let (statuses, same, other, invalid) = within_one_window(HOUR, async || {
        let network = unused_network();
        let client = format!("{network}:6::1");
        let mut statuses = Vec::new();
        for _ in 0..4 {
            statuses.push(ask(&client, &body).await);
        }
        let same = ask(&format!("{network}:6:ffff::2"), &body).await;
        let other = ask(&format!("{network}:7::1"), &body).await;
        (statuses, same, other, ask(&client, &json!({})).await)
    })
    .await;
    assert_eq!(statuses, [200, 200, 429, 429]);
    // A /64 network counts as one client.
    assert_eq!((same, other), (429, 200));
    // Invalid requests aren't counted.
    assert_eq!(invalid, 400);
}
