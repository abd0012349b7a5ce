//! Proposals are encoded as by an independent library, viem. `COUNT` (200) and `SEED` choose them.

use local::{paths::Paths, workshop};
use tests::Stack;
use tokio::process::Command;

use super::CHAIN;

#[tokio::test]
async fn random_proposals_match_viem_s_encoding() {
    let stack = Stack::connect();
    let (rpc, factory) = (&stack.map.rpc[CHAIN], stack.contract_on(CHAIN, "factory"));
    let executor = stack.contract_on(CHAIN, "governorExecutor");
    let collection = workshop::publish(rpc, factory, &[executor], Vec::new()).await.expect("a collection");

    let script = Paths::of_checkout().root().join("local/proposals.mjs");
    let mut node = Command::new("node");
    node.arg(script).env("STACK", serde_json::to_string(&stack.map).expect("JSON"));
    node.env("COLLECTION", collection.to_string()).kill_on_drop(true);
    let output = node.output().await.expect("node starts");
    let (said, failed) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{failed}");
    println!("{said}");
}
