//! Settles open transactions, on a schedule.

use std::time::Duration;

use lambda_runtime::{LambdaEvent, service_fn};
use serde::Deserialize;
use settle_transactions::Settler;
use shared::{
    chain::{
        Chains,
        node::{Node, NodeUrls},
        transaction::{Policy, TransactionSender},
        wallet::LaneSigners,
    },
    clock, config,
    http::StartError,
    store::{Table, Transactions},
    telemetry,
};

/// Longest wait for an answer of one node.
const NODE_TIMEOUT: Duration = Duration::from_secs(5);

/// The schedule's event; its content is ignored.
#[derive(Debug, Deserialize)]
struct Tick {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    let settler = settler().await?;
    let settler = &settler;
    lambda_runtime::run(service_fn(move |_: LambdaEvent<Tick>| async move {
        let now = clock::now()?.as_secs();
        settler.step(now).await.map_err(StartError::from)
    }))
    .await
}

async fn settler() -> Result<Settler, StartError> {
    let aws = config::aws().await;
    let (signers, policy) = (LaneSigners::from_env(&aws)?, Policy::from_env()?);
    let (transactions, urls) = (Transactions::new(Table::artists(&aws)?), NodeUrls::from_env()?);
    let sender = |chain: &shared::chain::Chain| {
        let node = Node::with_timeout(&urls, chain.id, NODE_TIMEOUT)?;
        Ok::<_, StartError>(TransactionSender::new(
            chain.clone(),
            node,
            signers.clone(),
            policy.clone(),
            transactions.clone(),
        ))
    };
    // A chain that is only read may have no nodes, and has nothing to settle.
    let chains = Chains::from_env()?;
    Ok(Settler::new(chains.iter().filter(|chain| urls.names(chain.id)).map(sender).collect::<Result<_, _>>()?))
}
