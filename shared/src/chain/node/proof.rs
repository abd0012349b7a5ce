//! Proof of a receipt: the block's header has the root of all its receipts, and the header's hash is the block's.

use alloy::{
    consensus::proofs::ordered_trie_root_with_encoder,
    eips::{BlockId, BlockNumberOrTag},
    primitives::{Bloom, Log, U64},
    providers::Provider,
    rlp::{BufMut, Encodable, Header},
    rpc::types::Block,
};
use serde::Deserialize;

use super::{
    client::{Node, NodeError},
    receipt::Receipt,
};

/// Type of the transactions with which chains of the OP stack take deposits:
/// <https://specs.optimism.io/protocol/deposits.html#deposit-receipt>
const DEPOSIT: u8 = 0x7e;

/// The fields of a receipt that its block commits to, for any type of transaction.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CommittedReceipt {
    #[serde(rename = "type", default)]
    kind: U64,
    status: U64,
    cumulative_gas_used: U64,
    logs_bloom: Bloom,
    logs: Vec<alloy::rpc::types::Log>,
    #[serde(default)]
    deposit_nonce: Option<U64>,
    #[serde(default)]
    deposit_receipt_version: Option<U64>,
}

impl CommittedReceipt {
    fn logs(&self) -> Vec<Log> {
        self.logs.iter().map(|log| log.inner.clone()).collect()
    }

    /// As the trie of receipts has it (EIP-2718).
    fn encode(&self, out: &mut dyn BufMut) {
        let kind = self.kind.to::<u64>() as u8;
        let (logs, mut fields) = (self.logs(), Vec::new());
        self.status.encode(&mut fields);
        self.cumulative_gas_used.encode(&mut fields);
        self.logs_bloom.encode(&mut fields);
        logs.encode(&mut fields);
        if kind == DEPOSIT {
            self.deposit_nonce.iter().chain(&self.deposit_receipt_version).for_each(|field| field.encode(&mut fields));
        }
        if kind != 0 {
            out.put_u8(kind);
        }
        Header { list: true, payload_length: fields.len() }.encode(out);
        out.put_slice(&fields);
    }

    fn is(&self, receipt: &Receipt) -> bool {
        let logs: Vec<_> = receipt.logs().iter().map(|log| log.inner.clone()).collect();
        let gas = receipt.inner.cumulative_gas_used();
        (self.status == U64::ONE, self.cumulative_gas_used.to::<u64>(), self.logs()) == (receipt.status(), gas, logs)
    }
}

impl Node {
    /// Whether a block that two nodes have proves a receipt. Two calls to each node at most, and one more.
    pub(super) async fn proves(&self, receipt: &Receipt) -> Result<bool, NodeError> {
        let (Some(number), Some(hash), Some(index)) =
            (receipt.block_number, receipt.block_hash, receipt.transaction_index)
        else {
            return Ok(false);
        };
        let tag = BlockNumberOrTag::Number(number);
        let question =
            |node: Self| async move { node.ask(|node| async move { node.get_block_by_number(tag).await }).await };
        let at = usize::try_from(index).unwrap_or(usize::MAX);
        let has_it = |block: &Block| {
            block.header.hash == hash && block.transactions.hashes().nth(at) == Some(receipt.transaction_hash)
        };
        let blocks = self.ask_all(question).await.into_iter().filter_map(|answer| answer.ok().flatten());
        let blocks: Vec<_> = blocks.filter(has_it).collect();
        let header = blocks.first().filter(|_| blocks.len() >= 2).map(|block| &block.header);
        let Some(header) = header.filter(|header| header.inner.hash_slow() == hash) else { return Ok(false) };
        let all = |node: Self| async move {
            let method = "eth_getBlockReceipts";
            node.ask(|node| async move {
                node.raw_request::<_, Option<Vec<CommittedReceipt>>>(method.into(), (BlockId::from(hash),)).await
            })
            .await
        };
        let lists = self.ask_all(all).await.into_iter().filter_map(|answer| answer.ok().flatten());
        let is_whole = |list: &Vec<CommittedReceipt>| {
            ordered_trie_root_with_encoder(list, |receipt, out| receipt.encode(out)) == header.inner.receipts_root
        };
        let committed = lists.into_iter().find(is_whole);
        Ok(committed.as_ref().and_then(|list| list.get(at)).is_some_and(|committed| committed.is(receipt)))
    }
}
