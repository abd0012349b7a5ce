//! Transactions on an anvil node, with errors that name the failed step.

use std::error::Error;

use alloy::{
    network::TransactionBuilder,
    primitives::{Address, U256},
    providers::{RootProvider, ext::AnvilApi},
    rpc::types::{TransactionReceipt, TransactionRequest},
};

/// A failed step and its reason.
#[derive(Debug, thiserror::Error)]
#[error("{step}: {reason}")]
pub struct StepError {
    step: &'static str,
    reason: Box<dyn Error + Send + Sync>,
}

/// For `map_err`: names the step that failed.
pub(crate) fn during<E: Into<Box<dyn Error + Send + Sync>>>(step: &'static str) -> impl FnOnce(E) -> StepError {
    move |reason| StepError { step, reason: reason.into() }
}

/// Sends a transaction from an unlocked account and waits for its receipt. A revert is an error.
pub(crate) async fn transact(
    node: &RootProvider,
    step: &'static str,
    from: Address,
    to: Address,
    value: U256,
    input: Vec<u8>,
) -> Result<TransactionReceipt, StepError> {
    let transaction = TransactionRequest::default().with_from(from).with_to(to).with_value(value).with_input(input);
    let receipt = node.eth_send_transaction_sync(transaction).await.map_err(during(step))?;
    if !receipt.status() {
        return Err(during(step)(format!("transaction {} reverted", receipt.transaction_hash)));
    }
    Ok(receipt)
}

#[cfg(test)]
pub(crate) mod testing {
    use shared::chain::Chain;

    use crate::{
        chains::LocalChain,
        contracts::{Artifacts, deploy},
        paths::Paths,
    };

    /// A fresh node on a free port; dropping it stops it.
    pub(crate) async fn start(chain: &Chain) -> Result<LocalChain, crate::Error> {
        let paths = Paths::of_checkout();
        LocalChain::start(&paths, &paths.workshop("node"), chain.id).await
    }

    /// The same with every contract deployed.
    pub(crate) async fn start_with_contracts(chain: &Chain) -> Result<LocalChain, crate::Error> {
        let node = start(chain).await?;
        deploy(&node.rpc_url, chain, &Artifacts::compile(&Paths::of_checkout()).await?).await?;
        Ok(node)
    }
}
