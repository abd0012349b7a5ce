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
    use std::{
        io::{BufRead, BufReader},
        process::{Child, Command, Stdio},
    };

    use shared::chain::Chain;

    use crate::{
        contracts::{Artifacts, deploy},
        paths::Paths,
    };

    /// A fresh node on a free port; dropping it stops it.
    pub(crate) struct Anvil {
        process: Child,
        pub(crate) rpc_url: String,
    }

    impl Anvil {
        pub(crate) fn start(chain: &Chain) -> Result<Self, crate::Error> {
            let mut process = Command::new(Paths::of_checkout().anvil())
                .args(["--port", "0", "--disable-code-size-limit", "--chain-id", &chain.id.to_string()])
                .stdout(Stdio::piped())
                .spawn()?;
            let mut output = BufReader::new(process.stdout.take().ok_or("anvil has no output")?).lines();
            let address = output
                .find_map(|line| line.ok()?.strip_prefix("Listening on ").map(str::to_owned))
                .ok_or("anvil did not start")?;
            // Anvil blocks when its output is not read.
            std::thread::spawn(move || output.count());
            Ok(Self { process, rpc_url: format!("http://{address}") })
        }

        /// A node on which every contract is deployed.
        pub(crate) async fn with_contracts(chain: &Chain) -> Result<Self, crate::Error> {
            let anvil = Self::start(chain)?;
            deploy(&anvil.rpc_url, chain, &Artifacts::compile(&Paths::of_checkout()).await?).await?;
            Ok(anvil)
        }
    }

    impl Drop for Anvil {
        fn drop(&mut self) {
            let _ = self.process.kill().and_then(|()| self.process.wait());
        }
    }
}
