//! `local operator plan|execute|verify`, for every chain of `RPC_URLS`. What should be is read from the environment:
//! `OPERATOR_GUARDIAN` and `OPERATOR_LANES` (addresses), `OPERATOR_SAFE` (default: the one born of the guardian),
//! `OPERATOR_GUARD` (an address, `none`, or by default the checkout's), `LOW_LANE_BALANCE` (in gwei), and for `execute`
//! `OPERATOR_GUARDIAN_KEY` (id of the guardian's KMS key).

use std::{collections::BTreeMap, env, fs, process::ExitCode};

use alloy::{
    primitives::{Address, hex},
    providers::{Provider, RootProvider},
};
use shared::{
    chain::wallet::{Lanes, OperatorAccount},
    model::{self, ChainId},
};

use super::{Guard, Guardian, Plan, Setup, State, differences, execute};
use crate::{Error, paths::Paths};

/// Default of `LOW_LANE_BALANCE`, as in the template.
const LOW_LANE_BALANCE: &str = "20000000";

/// Runs the command. Fails the program if `verify` finds a difference.
pub async fn run(paths: &Paths, command: &str) -> Result<ExitCode, Error> {
    let setup = Setup::from_environment(paths)?;
    let mut is_well = true;
    println!("operator Safe {}\nutility Safe  {}", setup.account.safe, setup.account.utility);
    for (chain, node) in nodes().await? {
        println!("chain {chain}:");
        match command {
            "plan" => print_plan(paths, chain, &Plan::new(&setup, &State::read(&node, &setup).await?)?)?,
            "execute" => {
                let plan = Plan::new(&setup, &State::read(&node, &setup).await?)?;
                execute(&node, &plan, &guardian(&setup).await?, |step| println!("  done: {}", step.name)).await?;
                is_well &= is_verified(&node, &setup).await?;
            }
            "verify" => is_well &= is_verified(&node, &setup).await?,
            other => return Err(format!("operator {other}: plan, execute or verify").into()),
        }
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Setup {
    fn from_environment(paths: &Paths) -> Result<Self, Error> {
        let guardian = address("OPERATOR_GUARDIAN")?.ok_or("OPERATOR_GUARDIAN is required: the guardian's address")?;
        let account = address("OPERATOR_SAFE")?.map_or_else(|| OperatorAccount::born_of(guardian), OperatorAccount::at);
        let lanes = variable("OPERATOR_LANES").ok_or("OPERATOR_LANES is required: the lanes' addresses")?;
        let lanes: Lanes = lanes.parse().map_err(|error| format!("OPERATOR_LANES: {error}"))?;
        let guard = match variable("OPERATOR_GUARD").as_deref() {
            Some("none") => None,
            Some(_) => address("OPERATOR_GUARD")?.map(Guard::at),
            None => Guard::of_checkout(paths, &account)?,
        };
        let low = variable("LOW_LANE_BALANCE").unwrap_or_else(|| LOW_LANE_BALANCE.to_owned());
        let low_lane_balance = low.parse().map_err(|_| format!("LOW_LANE_BALANCE is {low}: give a number of gwei"))?;
        Ok(Self { account, guardian, lanes: lanes.iter().collect(), guard, low_lane_balance })
    }
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

fn address(name: &str) -> Result<Option<Address>, Error> {
    let parse = |text: String| text.parse::<model::Address>().map_err(|error| format!("{name}: {error}").into());
    variable(name).map(parse).transpose().map(|found| found.map(Into::into))
}

/// The preferred node of each chain, after a check of its chain id.
async fn nodes() -> Result<Vec<(ChainId, RootProvider)>, Error> {
    let urls = variable("RPC_URLS").ok_or("RPC_URLS is required, as for functions")?;
    let urls: BTreeMap<String, Vec<String>> =
        serde_json::from_str(&urls).map_err(|error| format!("RPC_URLS: {error}"))?;
    let mut nodes = Vec::new();
    for (chain, urls) in urls {
        let url = urls.first().ok_or_else(|| format!("RPC_URLS names no node for chain {chain}"))?;
        let id: ChainId = chain.parse().map_err(|_| format!("RPC_URLS: {chain} is no chain id"))?;
        let node: RootProvider = RootProvider::connect(url).await.map_err(|error| format!("chain {chain}: {error}"))?;
        let answered = node.get_chain_id().await.map_err(|error| format!("chain {chain}: {error}"))?;
        if answered != id.0 {
            return Err(format!("the node of chain {chain} is of chain {answered}").into());
        }
        nodes.push((id, node));
    }
    Ok(nodes)
}

/// The guardian's KMS key, with the environment's AWS credentials.
async fn guardian(setup: &Setup) -> Result<Guardian, Error> {
    let key = variable("OPERATOR_GUARDIAN_KEY").ok_or("OPERATOR_GUARDIAN_KEY is required: the guardian's KMS key")?;
    let client = aws_sdk_kms::Client::new(&shared::config::aws().await);
    Ok(Guardian::new(client, key, setup.guardian))
}

fn print_plan(paths: &Paths, chain: ChainId, plan: &Plan) -> Result<(), Error> {
    if plan.steps.is_empty() {
        println!("  nothing to change");
        return Ok(());
    }
    println!("  {} signs:", plan.signer);
    for step in &plan.steps {
        let call = &step.call;
        if step.least_gas > 0 {
            println!("  # give it a gas limit of {} or more: with less it may do nothing", step.least_gas);
        }
        println!(
            "  # {}\n  to {} value {} data {}",
            step.name,
            call.target,
            call.value,
            hex::encode_prefixed(&call.data)
        );
    }
    let folder = paths.local("operator");
    fs::create_dir_all(&folder)?;
    let file = folder.join(format!("{chain}.json"));
    fs::write(&file, serde_json::to_string_pretty(&plan.builder_file(chain))?)?;
    println!("  for Safe's transaction builder: {}", file.display());
    Ok(())
}

async fn is_verified(node: &RootProvider, setup: &Setup) -> Result<bool, Error> {
    let found = differences(setup, &State::read(node, setup).await?);
    found.iter().for_each(|difference| println!("  {difference}"));
    if found.is_empty() {
        println!("  as configured");
    }
    Ok(found.is_empty())
}
