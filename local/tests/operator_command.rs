//! `local operator` as an operator runs it: a process with the environment's settings.

use std::{collections::BTreeMap, fs};

use alloy::{
    primitives::U256,
    providers::{RootProvider, ext::AnvilApi},
};
use local::{
    Error,
    chains::LocalChain,
    cloud::{self, Endpoints},
    contracts::{self, Artifacts},
    paths::Paths,
};
use shared::{chain::Chains, model::ChainId};
use tokio::process::Command;

struct Operator(BTreeMap<&'static str, String>);

impl Operator {
    /// Runs the command; returns whether it succeeded, and all that it printed.
    async fn run(&self, what: &str) -> Result<(bool, String), Error> {
        let output = Command::new(env!("CARGO_BIN_EXE_local")).args(["operator", what]).envs(&self.0).output().await?;
        let text = [output.stdout, output.stderr].concat();
        Ok((output.status.success(), String::from_utf8(text)?))
    }
}

#[tokio::test]
async fn chain_is_planned_executed_and_verified() -> Result<(), Error> {
    let paths = Paths::of_checkout();
    let logs = paths.workshop("operator");
    let chains: Chains = r#"[{"id": 8453}]"#.parse()?;
    let chain = chains.get(ChainId::DEFAULT)?;
    let anvil = LocalChain::start(&paths, &logs, chain.id).await?;
    contracts::deploy(&anvil.rpc_url, chain, &Artifacts::compile(&paths).await?).await?;
    let (aws, _kms) = cloud::start(&paths, &logs).await?;
    let endpoints = Endpoints { aws, dynamodb: String::new() };
    let [(guardian, key), (first, _), (second, _)] =
        [endpoints.create_lane().await?, endpoints.create_lane().await?, endpoints.create_lane().await?];
    let node: RootProvider = RootProvider::connect(&anvil.rpc_url).await?;
    for account in [guardian, first] {
        node.anvil_set_balance(account, U256::from(1_000_000_000_000_000_000_u64)).await?;
    }

    let mut operator = Operator(BTreeMap::from(endpoints.environment()));
    let set = |operator: &mut Operator, name, value: String| drop(operator.0.insert(name, value));
    let (ok, text) = operator.run("verify").await?;
    assert!(!ok && text.contains("OPERATOR_GUARDIAN is required"), "{text}");
    set(&mut operator, "OPERATOR_GUARDIAN", guardian.to_string());
    set(&mut operator, "OPERATOR_LANES", format!("{first},{second}"));
    set(&mut operator, "OPERATOR_GUARD", "none".to_owned());
    set(&mut operator, "RPC_URLS", serde_json::json!({ "1": [&anvil.rpc_url] }).to_string());
    let (ok, text) = operator.run("verify").await?;
    assert!(!ok && text.contains("the node of chain 1 is of chain 8453"), "{text}");
    set(&mut operator, "RPC_URLS", serde_json::json!({ "8453": [&anvil.rpc_url] }).to_string());

    let (ok, text) = operator.run("verify").await?;
    assert!(!ok && text.contains("isn't deployed"), "{text}");
    let (ok, text) = operator.run("plan").await?;
    assert!(ok && text.contains("# deploy the operator Safe") && text.contains(" data 0x"), "{text}");
    let file = fs::read_to_string(paths.local("operator/8453.json"))?;
    assert!(file.contains(&guardian.to_string()), "{file}");

    let (ok, text) = operator.run("execute").await?;
    assert!(!ok && text.contains("OPERATOR_GUARDIAN_KEY is required"), "{text}");
    set(&mut operator, "OPERATOR_GUARDIAN_KEY", key);
    let (ok, text) = operator.run("execute").await?;
    assert!(text.contains("done: deploy the utility Safe"), "{text}");
    assert!(!ok && text.contains(&format!("the lane {second} has 0 gwei")), "a lane without money: {text}");
    node.anvil_set_balance(second, U256::from(1_000_000_000_000_000_000_u64)).await?;
    let (ok, text) = operator.run("verify").await?;
    assert!(ok && text.contains("as configured"), "{text}");
    let (ok, text) = operator.run("plan").await?;
    assert!(ok && text.contains("nothing to change"), "{text}");

    // The second lane's key is lost: the first one's setting stays.
    set(&mut operator, "OPERATOR_LANES", first.to_string());
    let (ok, text) = operator.run("verify").await?;
    assert!(!ok && text.contains(&format!("a stranger, {second}, owns the operator Safe")), "{text}");
    let (ok, text) = operator.run("execute").await?;
    assert!(ok && text.contains(&format!("done: remove the owner {second}")), "{text}");

    let (ok, text) = operator.run("undo").await?;
    assert!(!ok && text.contains("plan, execute or verify"), "{text}");
    Ok(())
}
