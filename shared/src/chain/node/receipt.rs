//! Receipts, which decide what became of a batch: what a block proves, with what other nodes say of the block.

use alloy::{
    consensus::Transaction,
    eips::BlockNumberOrTag,
    primitives::{B256, Bytes, U64, U256},
    providers::Provider,
    rpc::types::Log,
};
use serde::Deserialize;

use super::{
    block::CommittedReceipt,
    client::{Node, NodeError},
};

/// Receipt of a transaction of our own. Its block commits to all of it but [`Receipt::l1_fee`] and
/// [`Receipt::operator_fee`].
#[derive(Clone, Debug)]
pub struct Receipt {
    /// Hash of the transaction.
    pub hash: B256,
    /// Number of its block.
    pub block: u64,
    /// Hash of its block.
    pub block_hash: B256,
    /// Whether it did something: it didn't revert.
    pub succeeded: bool,
    /// Gas that it used.
    pub gas_used: u64,
    /// Price of its gas, in wei.
    pub gas_price: u128,
    /// Its logs.
    pub logs: Vec<Log>,
    fees: Fees,
}

/// What a chain's nodes say of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Two nodes have it, or there is only one.
    Held,
    /// No other node has it yet, or another one in its place: numbers of their newest blocks, where they answer.
    Unseen(Vec<Option<u64>>),
    /// A node has another block in its place.
    Contradicted,
}

/// What a node has at the place of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// A block with this hash.
    Block(B256),
    /// Nothing yet: its newest block.
    Behind(u64),
}

/// What a node says of a transaction before anything is proved.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Claim {
    transaction_hash: B256,
    block_number: Option<U64>,
    block_hash: Option<B256>,
    #[serde(flatten)]
    fees: Fees,
}

/// What chains of the OP stack take beside the gas. No block commits to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fees {
    /// Wei for data on the layer below:
    /// <https://specs.optimism.io/protocol/exec-engine.html#l1-cost-fees-l1-fee-vault>
    #[serde(default)]
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
    /// Wei for its data, beside its gas, as nodes say.
    pub fn l1_fee(&self) -> u128 {
        self.fees.l1_fee.unwrap_or_default().saturating_to()
    }

    /// Wei for the chain's operator, beside its gas, as nodes say.
    pub fn operator_fee(&self) -> u128 {
        self.fees.operator.of(self.gas_used).saturating_to()
    }

    /// Takes another node's word for fees that are lower.
    fn limit_fees(&mut self, other: Fees) {
        let sum = |fees: Fees| fees.operator.of(self.gas_used).saturating_add(fees.l1_fee.unwrap_or_default());
        if sum(other) < sum(self.fees) {
            self.fees = other;
        }
    }
}

impl Node {
    /// Whether the healthiest node has a receipt of a transaction. One call.
    pub async fn has_receipt(&self, hash: B256) -> Result<bool, NodeError> {
        Ok(self.claim(hash).await?.is_some())
    }

    async fn claim(&self, hash: B256) -> Result<Option<Claim>, NodeError> {
        let method = "eth_getTransactionReceipt";
        let claim: Option<Claim> =
            self.ask(|node| async move { node.raw_request(method.into(), (hash,)).await }).await?;
        Ok(claim.filter(|claim| claim.transaction_hash == hash && claim.block_hash.is_some()))
    }

    /// The receipt of the first of these transactions that is in a block, proved by the header, and what the nodes say of
    /// that block; `None` if no node has one. Fails if a node that didn't fail several times before does, or if no block
    /// proves what nodes claim.
    ///
    /// Nodes that follow a sequencer tell receipts before the block, which proves none then:
    /// <https://docs.base.org/base-chain/flashblocks/apps>
    ///
    /// Up to a call to each node for each transaction, then two to a node that has one, and two to each other one.
    pub async fn receipt(&self, hashes: &[B256]) -> Result<Option<(Receipt, Standing)>, NodeError> {
        let claim = |node: Self| async move {
            for hash in hashes {
                if let Some(claim) = node.claim(*hash).await? {
                    return Ok(Some(claim));
                }
            }
            Ok(None)
        };
        let answers = self.ask_all(claim).await;
        let (mut claims, mut failure) = (Vec::new(), None);
        for (index, (node, answer)) in self.each().zip(answers).enumerate() {
            match answer {
                Ok(claim) => claims.extend(claim.map(|claim| (index, node, claim))),
                Err(error) if self.count() == 1 || !node.is_down() => failure = Some(error),
                Err(_) => {}
            }
        }
        let mut found = Vec::new();
        for (prover, node, claim) in &claims {
            if found.iter().any(|(receipt, _): &(Receipt, _)| Some(receipt.block_hash) == claim.block_hash) {
                continue;
            }
            match node.prove(claim).await {
                Ok(Some(mut receipt)) => {
                    let same = claims.iter().filter(|(.., other)| other.block_hash == claim.block_hash);
                    same.for_each(|(.., other)| receipt.limit_fees(other.fees));
                    let standing = self.standing_beside(*prover, receipt.block, receipt.block_hash).await;
                    if standing == Standing::Held {
                        return Ok(Some((receipt, standing)));
                    }
                    found.push((receipt, standing));
                }
                Ok(None) => {}
                Err(error) => failure = Some(error),
            }
        }
        // Each of several proved blocks contradicts the others.
        let is_disputed = found.len() > 1;
        match (found.pop(), failure) {
            (Some((receipt, _)), _) if is_disputed => Ok(Some((receipt, Standing::Contradicted))),
            (Some(found), _) => Ok(Some(found)),
            (None, Some(error)) => Err(error),
            (None, None) if claims.is_empty() => Ok(None),
            (None, None) => Err(NodeError::Wrong("no block proves the receipt of a transaction")),
        }
    }

    /// The receipt that a node claims, if its block proves it. Two calls.
    async fn prove(&self, claim: &Claim) -> Result<Option<Receipt>, NodeError> {
        let (Some(number), Some(hash)) = (claim.block_number, claim.block_hash) else { return Ok(None) };
        let block = self.sealed_block(number.to()).await?;
        let Some(block) = block.filter(|block| block.hash == hash) else { return Ok(None) };
        let Some(receipts) = self.receipts_of(hash, block.header.receipts_root).await? else { return Ok(None) };
        Ok(block.find(claim.transaction_hash).and_then(|(at, transaction)| {
            let committed = receipts.get(at)?;
            let before = at.checked_sub(1).and_then(|before| receipts.get(before));
            let total = |receipt: &CommittedReceipt| receipt.cumulative_gas_used.to::<u64>();
            let logs = committed.logs().into_iter().map(|inner| Log { inner, ..Log::default() });
            Some(Receipt {
                hash: claim.transaction_hash,
                block: block.header.number,
                block_hash: hash,
                succeeded: committed.status == U64::ONE,
                gas_used: total(committed).saturating_sub(before.map_or(0, total)),
                gas_price: transaction.effective_gas_price(block.header.base_fee_per_gas),
                logs: logs.collect(),
                fees: claim.fees,
            })
        }))
    }

    /// The call data of a receipt's transaction, and the time of its block in Unix seconds; `None` if the node has
    /// another block there. One call.
    pub async fn input(&self, receipt: &Receipt) -> Result<Option<(Bytes, u64)>, NodeError> {
        let block = self.sealed_block(receipt.block).await?.filter(|block| block.hash == receipt.block_hash);
        Ok(block.and_then(|block| {
            let (_, transaction) = block.find(receipt.hash)?;
            Some((transaction.input().clone(), block.header.timestamp))
        }))
    }

    /// Whether a block is still the chain's: what the nodes say of it. Up to two calls to each.
    pub async fn standing(&self, number: u64, hash: B256) -> Standing {
        let places = self.ask_all(|node| async move { node.place(number).await }).await;
        Standing::of(&places, hash, self.count().min(2))
    }

    /// What the other nodes say of a block that the one in this place has just shown. Up to two calls to each.
    pub(super) async fn standing_beside(&self, prover: usize, number: u64, hash: B256) -> Standing {
        if self.count() == 1 {
            return Standing::Held;
        }
        let places = self.ask_others(Some(prover), |node| async move { node.place(number).await }).await;
        Standing::of(&places, hash, 1)
    }

    async fn place(&self, number: u64) -> Result<Place, NodeError> {
        let tag = BlockNumberOrTag::Number(number);
        let Some(block) = self.ask(|node| async move { node.get_block_by_number(tag).await }).await? else {
            let head = self.newest_block().await?;
            let lacks_it = NodeError::Wrong("a node lacks a block before its newest");
            return if head < number { Ok(Place::Behind(head)) } else { Err(lacks_it) };
        };
        // A hash alone is no block.
        let is_whole = block.header.inner.number == number && block.header.inner.hash_slow() == block.header.hash;
        if is_whole { Ok(Place::Block(block.header.hash)) } else { Err(NodeError::Wrong("a header has another hash")) }
    }
}

impl Standing {
    /// Of a block, given the words of nodes, of which so many must have it.
    fn of(places: &[Result<Place, NodeError>], block: B256, enough: usize) -> Self {
        let has_it = |place: &&Result<Place, NodeError>| matches!(place, Ok(Place::Block(hash)) if *hash == block);
        if places.iter().filter(has_it).count() >= enough {
            return Self::Held;
        }
        let others = places.iter().filter(|place| !has_it(place));
        let heads = others.map(|place| match place {
            Ok(Place::Block(_)) => Err(Self::Contradicted),
            Ok(Place::Behind(head)) => Ok(Some(*head)),
            Err(_) => Ok(None),
        });
        heads.collect::<Result<_, _>>().map_or_else(|contradicted| contradicted, Self::Unseen)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn receipt_with(fields: &[(&str, &str)]) -> Receipt {
        let fees: serde_json::Map<_, _> =
            fields.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        Receipt {
            hash: B256::ZERO,
            block: 7,
            block_hash: B256::ZERO,
            succeeded: true,
            gas_used: 21_000,
            gas_price: 1,
            logs: Vec::new(),
            fees: serde_json::from_value(fees.into()).unwrap(),
        }
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
            assert_eq!(receipt_with(&fields).operator_fee(), expected, "{fields:?}");
        }
    }

    #[test]
    fn lower_fees_are_believed() {
        let mut receipt = receipt_with(&[("l1Fee", "0x9")]);
        for (claimed, expected) in [("0xffffffffffffffffff", 9), ("0x8", 8)] {
            receipt.limit_fees(receipt_with(&[("l1Fee", claimed)]).fees);
            assert_eq!(receipt.l1_fee(), expected);
        }
    }

    #[test]
    fn block_counts_by_two_nodes() {
        let shown = B256::repeat_byte(1);
        let (it, other, behind) = (Place::Block(shown), Place::Block(B256::repeat_byte(2)), Place::Behind(6));
        for (enough, places, expected) in [
            (2, vec![Some(it), Some(it)], Standing::Held),
            (2, vec![Some(other), Some(it), Some(it)], Standing::Held),
            (2, vec![None, Some(it), Some(it)], Standing::Held),
            (2, vec![None, Some(it)], Standing::Unseen(vec![None])),
            (2, vec![Some(behind), Some(it), None], Standing::Unseen(vec![Some(6), None])),
            (2, vec![None, None], Standing::Unseen(vec![None, None])),
            (2, vec![Some(other), Some(it)], Standing::Contradicted),
            (2, vec![Some(behind), Some(other), None], Standing::Contradicted),
            // Of a lone node, and beside one that has shown it.
            (1, vec![Some(it)], Standing::Held),
            (1, vec![None, Some(it)], Standing::Held),
            (1, vec![None], Standing::Unseen(vec![None])),
            (1, vec![Some(other), Some(behind)], Standing::Contradicted),
        ] {
            let places: Vec<_> = places.into_iter().map(|place| place.ok_or(NodeError::Deadline)).collect();
            assert_eq!(Standing::of(&places, shown, enough), expected, "{places:?}");
        }
    }
}
