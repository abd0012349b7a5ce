//! Receipts, which decide what became of a batch: one counts once its block is sealed, and by the word of two nodes
//! where there are as many.

use alloy::{
    primitives::{B256, Log, U256},
    providers::Provider,
    rpc::types::TransactionReceipt,
};
use serde::Deserialize;

use super::{
    client::{Node, NodeError},
    health::stalled,
};

/// Receipt of a transaction of our own.
#[derive(Clone, Debug, Deserialize)]
pub struct Receipt {
    #[serde(flatten)]
    common: TransactionReceipt,
    /// Wei for data on the layer below, which chains of the OP stack take beside the gas:
    /// <https://specs.optimism.io/protocol/exec-engine.html#l1-cost-fees-l1-fee-vault>
    #[serde(default, rename = "l1Fee")]
    l1_fee: Option<U256>,
}

impl Receipt {
    /// Wei that it cost beside its gas.
    pub fn l1_fee(&self) -> u128 {
        self.l1_fee.unwrap_or_default().saturating_to()
    }

    /// Whether two nodes tell the same of a transaction.
    fn agrees_with(&self, other: &Self) -> bool {
        let place = |receipt: &Self| (receipt.transaction_hash, receipt.block_number, receipt.block_hash);
        let cost = |receipt: &Self| (receipt.gas_used, receipt.effective_gas_price, receipt.l1_fee);
        let logs = |receipt: &Self| receipt.logs().iter().map(|log| log.inner.clone()).collect::<Vec<Log>>();
        place(self) == place(other)
            && self.status() == other.status()
            && cost(self) == cost(other)
            && logs(self) == logs(other)
    }
}

impl std::ops::Deref for Receipt {
    type Target = TransactionReceipt;

    fn deref(&self) -> &TransactionReceipt {
        &self.common
    }
}

/// What several nodes say of a transaction.
#[derive(Debug, Default)]
struct Testimonies {
    receipts: Vec<Receipt>,
    /// Nodes that lack it, but for those that stand still.
    absences: usize,
}

impl Testimonies {
    /// The receipt that two nodes have, or the only node that answers; `None` if no node has one. Fails where no two
    /// nodes agree.
    fn verdict(self) -> Result<Option<Receipt>, NodeError> {
        let answers = self.receipts.len() + self.absences;
        let agreed = self.receipts.iter().position(|receipt| {
            self.receipts.iter().filter(|other| receipt.agrees_with(other)).count() >= answers.min(2)
        });
        match agreed {
            Some(index) => Ok(self.receipts.into_iter().nth(index)),
            None if self.receipts.is_empty() => Ok(None),
            None => Err(NodeError::Wrong("no two nodes agree on the receipt of a transaction")),
        }
    }
}

impl Node {
    /// Receipt of a transaction in a sealed block, as the healthiest node has it. Two calls, one without a receipt.
    ///
    /// Nodes that follow a sequencer tell receipts before the block:
    /// <https://docs.base.org/base-chain/flashblocks/apps>
    pub async fn receipt(&self, hash: B256) -> Result<Option<Receipt>, NodeError> {
        self.ask(|node| async move {
            let method = "eth_getTransactionReceipt";
            let Some(receipt) = node.raw_request::<_, Option<Receipt>>(method.into(), (hash,)).await? else {
                return Ok(None);
            };
            let Some(number) = receipt.block_number else { return Ok(None) };
            let block = node.get_block_by_number(number.into()).await?;
            Ok(block.filter(|block| receipt.block_hash == Some(block.header.hash)).map(|_| receipt))
        })
        .await
    }

    /// The same by two nodes that agree, where more than one answers. Up to two calls to each node; one in all, while
    /// the healthiest node has no receipt.
    pub async fn agreed_receipt(&self, hash: B256) -> Result<Option<Receipt>, NodeError> {
        let first = self.receipt(hash).await?;
        if first.is_none() || self.count() == 1 {
            return Ok(first);
        }
        let (mut testimonies, mut failure) = (Testimonies::default(), None);
        let stalled = stalled(self.endpoints.iter().map(|endpoint| &endpoint.health));
        let answers = self.ask_all(|node| async move { node.receipt(hash).await }).await;
        for (answer, is_stalled) in answers.into_iter().zip(stalled) {
            match answer {
                Ok(Some(receipt)) => testimonies.receipts.push(receipt),
                Ok(None) if is_stalled => {}
                Ok(None) => testimonies.absences += 1,
                Err(error) => failure = Some(error),
            }
        }
        match failure {
            Some(error) if testimonies.receipts.is_empty() => Err(error),
            _ => testimonies.verdict(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn receipt(status: &str) -> Receipt {
        let zeros = |bytes: usize| format!("0x{}", "00".repeat(bytes));
        serde_json::from_value(json!({
            "type": "0x2", "status": status, "cumulativeGasUsed": "0x5208", "logsBloom": zeros(256), "logs": [],
            "transactionHash": zeros(32), "transactionIndex": "0x0", "blockHash": zeros(32), "blockNumber": "0x7",
            "gasUsed": "0x5208", "effectiveGasPrice": "0x1", "from": zeros(20), "to": zeros(20),
        }))
        .unwrap()
    }

    fn verdict(receipts: &[&str], absences: usize) -> Result<Option<bool>, ()> {
        let receipts = receipts.iter().map(|status| receipt(status)).collect();
        let verdict = Testimonies { receipts, absences }.verdict();
        verdict.map(|receipt| receipt.map(|receipt| receipt.status())).map_err(drop)
    }

    #[test]
    fn receipt_counts_by_two_nodes_or_by_the_only_one() {
        assert_eq!(verdict(&["0x1"], 0), Ok(Some(true)));
        assert_eq!(verdict(&["0x1", "0x1"], 0), Ok(Some(true)));
        assert_eq!(verdict(&["0x0", "0x1", "0x1"], 0), Ok(Some(true)));
        assert_eq!(verdict(&["0x1", "0x1"], 1), Ok(Some(true)));
        assert_eq!(verdict(&[], 2), Ok(None));
    }

    #[test]
    fn one_node_against_another_decides_nothing() {
        assert_eq!(verdict(&["0x0", "0x1"], 0), Err(()));
        assert_eq!(verdict(&["0x1"], 1), Err(()));
    }
}
