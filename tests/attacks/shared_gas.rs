//! Artists who cost nothing use up, from one network, the gas that the service pays for all new ones.

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use tests::{Collector, RpcProxy, Sandbox, Stack, unused_address, within_one_day};

/// A new artist's first collection, asked for from an address.
async fn create(function: &Sandbox, artist: &Collector, address: &str) -> u64 {
    let mut event = function.event();
    event["headers"]["x-api-key"] = json!(artist.key);
    event["requestContext"]["http"]["sourceIp"] = json!(address);
    event["body"] = json!({"name": "First", "uri": "ar://first"}).to_string().into();
    function.write(&event).await["statusCode"].as_u64().expect("a status")
}

#[tokio::test]
async fn new_artists_of_a_network_use_up_its_share_and_no_more() {
    let stack = Stack::connect();
    // What is reserved follows the chain's fees, which every block changes: these stay.
    let fee = "0x5f5e100";
    let (base, used, tips) = ([fee; 6], [0.5; 5], [[fee]; 5]);
    let fees = json!({"oldestBlock": "0x1", "baseFeePerGas": base, "gasUsedRatio": used, "reward": tips});
    let node = RpcProxy::in_front_of(&stack.map.rpc["8453"], move |call| {
        (call["method"] == "eth_feeHistory").then(|| json!({"result": fees}))
    });
    let urls = json!({"8453": [node.await.url]}).to_string();
    let with = async |limit: &str, wei: u64| {
        let mut chains: Value = serde_json::from_str(&stack.map.names["Chains"]).expect("JSON");
        let chain = chains.as_array_mut().expect("chains").iter_mut().find(|chain| chain["id"] == 8_453);
        let spending = &mut chain.expect("the chain")["spending"];
        // Else no network has a limit.
        spending["networkDaily"] = json!(spending["newcomersDaily"].as_u64().expect("a budget") - 1);
        spending[limit] = json!(wei);
        let variables = [("CHAINS", chains.to_string()), ("RPC_URLS", urls.clone())];
        let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
        Sandbox::with_variables(&stack, "create-collection", &variables).await
    };
    let (open, poor) = (with("maxFeePerGas", 50_000_000_000).await, with("artistDaily", 1).await);
    let (statuses, elsewhere) = within_one_day(&stack, async || {
        // What a first collection reserves.
        let address = unused_address();
        assert_eq!(create(&open, &stack.new_collector().await, &address).await, 200);
        let (network, _) = address.rsplit_once('.').expect("an address");
        let (row, day) = (format!("RATE#gas#8453#client#{network}.0/24"), tests::window_now(tests::DAY));
        let counted = stack.row("SecretTable", &row, &format!("COUNT#{day}")).await.expect("a count");
        let AttributeValue::N(wei) = &counted["hits"] else { panic!("{counted:?}") };
        let two_and_a_half = wei.parse::<u64>().expect("a number") * 5 / 2;

        let strict = with("networkDaily", two_and_a_half).await;
        let (address, mut statuses) = (unused_address(), Vec::new());
        // What is refused for another reason takes nothing.
        let refused = stack.new_collector().await;
        for _ in 0..4 {
            assert_eq!(create(&poor, &refused, &address).await, 429);
        }
        for _ in 0..4 {
            statuses.push(create(&strict, &stack.new_collector().await, &address).await);
        }
        (statuses, create(&strict, &stack.new_collector().await, &unused_address()).await)
    })
    .await;
    assert_eq!(statuses, [200, 200, 429, 429]);
    assert_eq!(elsewhere, 200, "new artists of another network");
}
