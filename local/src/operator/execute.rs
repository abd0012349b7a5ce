use std::time::Duration;

use alloy::{
    consensus::{SignableTransaction, TxEip1559},
    eips::eip2718::Encodable2718,
    network::TxSigner,
    primitives::{Address, TxKind},
    providers::{Provider, RootProvider},
    rpc::types::TransactionRequest,
};
use shared::chain::wallet::LaneSigner;

use super::plan::{Plan, Step, reported_success};
use crate::Error;

/// Longest wait for a transaction's receipt.
const PATIENCE: Duration = Duration::from_secs(300);

/// A guardian that is a key in KMS.
pub struct Guardian(LaneSigner);

impl Guardian {
    /// The guardian with this secp256k1 key and its address.
    pub fn new(client: aws_sdk_kms::Client, key_id: String, address: Address) -> Self {
        Self(LaneSigner::new(client, key_id, address))
    }

    /// Its address.
    pub fn address(&self) -> Address {
        self.0.address()
    }
}

/// Makes a plan's transactions, one after another; `report` is called with each that is done. The guardian pays for
/// the gas. A failure stops the rest; a new plan goes on from there.
pub async fn execute(
    node: &RootProvider,
    plan: &Plan,
    guardian: &Guardian,
    mut report: impl FnMut(&Step),
) -> Result<(), Error> {
    if plan.signer != guardian.address() {
        return Err(format!("{} must make these transactions, not {}", plan.signer, guardian.address()).into());
    }
    for step in &plan.steps {
        send(node, step, guardian).await.map_err(|error| format!("{}: {error}", step.name))?;
        report(step);
    }
    Ok(())
}

async fn send(node: &RootProvider, step: &Step, guardian: &Guardian) -> Result<(), Error> {
    let call = &step.call;
    let request = TransactionRequest::default().from(guardian.address()).to(call.target).value(call.value);
    let request = request.input(call.data.clone().into());
    if !reported_success(call, &node.call(request.clone()).await?) {
        return Err("the operator Safe would refuse a change".into());
    }
    let gas = node.estimate_gas(request).await?;
    let fees = node.estimate_eip1559_fees().await?;
    let mut transaction = TxEip1559 {
        chain_id: node.get_chain_id().await?,
        nonce: node.get_transaction_count(guardian.address()).await?,
        // The estimate is for one state of the chain; what isn't used isn't paid.
        gas_limit: (gas + gas / 2).max(step.least_gas),
        max_fee_per_gas: fees.max_fee_per_gas,
        max_priority_fee_per_gas: fees.max_priority_fee_per_gas,
        to: TxKind::Call(call.target),
        value: call.value,
        input: call.data.clone(),
        ..TxEip1559::default()
    };
    let signature = guardian.0.sign_transaction(&mut transaction).await?;
    let signed = transaction.into_signed(signature);
    let hash = *signed.hash();
    let _ = node.send_raw_transaction(&signed.encoded_2718()).await?;
    let receipt = tokio::time::timeout(PATIENCE, async {
        loop {
            if let Some(receipt) = node.get_transaction_receipt(hash).await? {
                return Ok::<_, Error>(receipt);
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    });
    let receipt = receipt.await.map_err(|_| format!("{hash} wasn't mined: plan again later"))??;
    if receipt.status() { Ok(()) } else { Err(format!("{hash} reverted").into()) }
}
