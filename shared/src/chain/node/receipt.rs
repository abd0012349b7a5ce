//! Receipts, which decide what became of a batch: one counts once its block is sealed, and by the word of two nodes
//! where there are as many, or by proof.

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
    #[serde(flatten)]
    operator: OperatorFee,
}

/// What the operator of a chain of the OP stack takes, as of its Isthmus upgrade; by another formula since Jovian:
/// <https://specs.optimism.io/protocol/isthmus/exec-engine.html#operator-fee>
/// <https://specs.optimism.io/protocol/jovian/exec-engine.html#operator-fee>
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct OperatorFee {
    operator_fee_scalar: Option<U256>,
    operator_fee_constant: Option<U256>,
    /// Receipts have it since Jovian.
    da_footprint_gas_scalar: Option<U256>,
}

impl OperatorFee {
    /// Wei for this much gas.
    fn of(self, gas: u64) -> U256 {
        let scaled = U256::from(gas).saturating_mul(self.operator_fee_scalar.unwrap_or_default());
        let by_gas = match self.da_footprint_gas_scalar {
            Some(_) => scaled.saturating_mul(U256::from(100)),
            None => scaled / U256::from(1_000_000),
        };
        by_gas.saturating_add(self.operator_fee_constant.unwrap_or_default())
    }
}

impl Receipt {
    /// Wei for its data, beside its gas.
    pub fn l1_fee(&self) -> u128 {
        self.l1_fee.unwrap_or_default().saturating_to()
    }

    /// Wei for the chain's operator, beside its gas.
    pub fn operator_fee(&self) -> u128 {
        self.operator.of(self.gas_used).saturating_to()
    }

    /// Whether two nodes tell the same of a transaction.
    fn agrees_with(&self, other: &Self) -> bool {
        let place = |receipt: &Self| (receipt.transaction_hash, receipt.block_number, receipt.block_hash);
        let cost = |receipt: &Self| (receipt.gas_used, receipt.effective_gas_price, receipt.l1_fee, receipt.operator);
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

/// What follows from [`Testimonies`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// No node has a receipt.
    Nothing,
    /// Two nodes have this one, or the only node that answers.
    Agreed(usize),
    /// No two nodes agree.
    Contradiction,
}

impl Testimonies {
    fn verdict(&self) -> Verdict {
        let answers = self.receipts.len() + self.absences;
        let agreed = self.receipts.iter().position(|receipt| {
            self.receipts.iter().filter(|other| receipt.agrees_with(other)).count() >= answers.min(2)
        });
        match agreed {
            Some(index) => Verdict::Agreed(index),
            None if self.receipts.is_empty() => Verdict::Nothing,
            None => Verdict::Contradiction,
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

    /// The same by two nodes that agree, unless all but one are down, or by a block that two nodes have and that proves
    /// it; `None` if no node has one. Up to two calls to each node; where they contradict each other, four more.
    pub async fn agreed_receipt(&self, hash: B256) -> Result<Option<Receipt>, NodeError> {
        if self.count() == 1 {
            return self.receipt(hash).await;
        }
        let (mut testimonies, mut failure) = (Testimonies::default(), None);
        let stalled = stalled(self.endpoints.iter().map(|endpoint| &endpoint.health));
        let answers = self.ask_all(|node| async move { node.receipt(hash).await }).await;
        for ((answer, is_stalled), endpoint) in answers.into_iter().zip(stalled).zip(&self.endpoints) {
            match answer {
                Ok(Some(receipt)) => testimonies.receipts.push(receipt),
                Ok(None) if is_stalled => {}
                Ok(None) => testimonies.absences += 1,
                // One that fails for a moment doesn't leave the decision to another one alone.
                Err(error) if !endpoint.health.is_down() => return Err(error),
                Err(error) => failure = Some(error),
            }
        }
        match (failure, testimonies.verdict()) {
            (Some(error), Verdict::Nothing) if testimonies.absences == 0 => Err(error),
            (_, Verdict::Nothing) => Ok(None),
            (_, Verdict::Agreed(index)) => Ok(testimonies.receipts.into_iter().nth(index)),
            (_, Verdict::Contradiction) => self.proven(testimonies.receipts).await.map(Some),
        }
    }

    /// The receipt among these that a block proves. Fails without one.
    async fn proven(&self, receipts: Vec<Receipt>) -> Result<Receipt, NodeError> {
        for receipt in receipts {
            if self.proves(&receipt).await? {
                return Ok(receipt);
            }
        }
        Err(NodeError::Wrong("nodes contradict each other on the receipt of a transaction, and no block proves one"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn receipt(status: &str) -> Receipt {
        receipt_with(status, &[])
    }

    fn receipt_with(status: &str, fields: &[(&str, &str)]) -> Receipt {
        let zeros = |bytes: usize| format!("0x{}", "00".repeat(bytes));
        let mut receipt = json!({
            "type": "0x2", "status": status, "cumulativeGasUsed": "0x5208", "logsBloom": zeros(256), "logs": [],
            "transactionHash": zeros(32), "transactionIndex": "0x0", "blockHash": zeros(32), "blockNumber": "0x7",
            "gasUsed": "0x5208", "effectiveGasPrice": "0x1", "from": zeros(20), "to": zeros(20),
        });
        for (name, value) in fields {
            receipt[name] = json!(value);
        }
        serde_json::from_value(receipt).unwrap()
    }

    #[test]
    fn operator_takes_what_its_chains_upgrade_says() {
        // 21,000 gas.
        let (scalar, constant) = (("operatorFeeScalar", "0x1e8480"), ("operatorFeeConstant", "0x7"));
        for (fields, expected) in [
            (vec![], 0),
            (vec![("operatorFeeScalar", "0x0"), ("operatorFeeConstant", "0x0")], 0),
            (vec![scalar, constant], 21_000 * 2 + 7),
            (vec![scalar, constant, ("daFootprintGasScalar", "0x190")], 21_000 * 2_000_000 * 100 + 7),
            (vec![("daFootprintGasScalar", "0x190")], 0),
        ] {
            assert_eq!(receipt_with("0x1", &fields).operator_fee(), expected, "{fields:?}");
        }
    }

    fn verdict(receipts: &[&str], absences: usize) -> Verdict {
        let receipts = receipts.iter().map(|status| receipt(status)).collect();
        Testimonies { receipts, absences }.verdict()
    }

    #[test]
    fn receipt_counts_by_two_nodes_or_by_the_only_one() {
        assert_eq!(verdict(&["0x1"], 0), Verdict::Agreed(0));
        assert_eq!(verdict(&["0x1", "0x1"], 0), Verdict::Agreed(0));
        assert_eq!(verdict(&["0x0", "0x1", "0x1"], 0), Verdict::Agreed(1));
        assert_eq!(verdict(&["0x1", "0x1"], 1), Verdict::Agreed(0));
        assert_eq!(verdict(&[], 2), Verdict::Nothing);
    }

    #[test]
    fn one_node_against_another_decides_nothing() {
        assert_eq!(verdict(&["0x0", "0x1"], 0), Verdict::Contradiction);
        assert_eq!(verdict(&["0x1"], 1), Verdict::Contradiction);
    }
}
