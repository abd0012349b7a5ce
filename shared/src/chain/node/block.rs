//! Blocks that prove what is in them: the hash of the header is the block's, and the header has the roots of all
//! transactions and of all receipts.

use alloy::{
    consensus::{Header, TxEnvelope, proofs::ordered_trie_root_with_encoder},
    eips::{
        BlockId, BlockNumberOrTag,
        eip2718::{Decodable2718, Encodable2718},
    },
    primitives::{Address, B256, Bloom, Bytes, Log, U64, U256, keccak256},
    providers::{DynProvider, Provider},
    rlp::{BufMut, Encodable},
    transports::{RpcError, TransportErrorKind},
};
use serde::Deserialize;
use serde_json::Value;

use super::client::{Node, NodeError};

/// Type of the transactions with which chains of the OP stack take deposits:
/// <https://specs.optimism.io/protocol/deposits.html#the-deposited-transaction-type>
const DEPOSIT: u8 = 0x7e;

/// A block with the bytes of its transactions (EIP-2718).
#[derive(Debug)]
pub(super) struct SealedBlock {
    pub(super) hash: B256,
    pub(super) header: Header,
    transactions: Vec<Bytes>,
}

/// A block as a node tells it.
#[derive(Debug, Deserialize)]
struct ToldBlock {
    #[serde(flatten)]
    header: alloy::rpc::types::Header,
    transactions: Vec<Value>,
}

/// A transaction that a block of the layer below brought, which nobody signed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Deposit {
    source_hash: B256,
    from: Address,
    to: Option<Address>,
    #[serde(default)]
    mint: Option<U256>,
    value: U256,
    gas: U64,
    #[serde(default)]
    is_system_tx: Option<bool>,
    input: Bytes,
}

/// The fields of a receipt that its block commits to, for any type of transaction.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CommittedReceipt {
    #[serde(rename = "type", default)]
    kind: U64,
    pub(super) status: U64,
    pub(super) cumulative_gas_used: U64,
    logs_bloom: Bloom,
    logs: Vec<alloy::rpc::types::Log>,
    #[serde(default)]
    deposit_nonce: Option<U64>,
    #[serde(default)]
    deposit_receipt_version: Option<U64>,
}

impl SealedBlock {
    /// The chain's block with this number; `None` if the node has none, or tells one that doesn't prove itself. One call.
    pub(super) async fn read(node: &DynProvider, number: u64) -> Result<Option<Self>, RpcError<TransportErrorKind>> {
        let (method, tag) = ("eth_getBlockByNumber", BlockNumberOrTag::Number(number));
        let told: Option<ToldBlock> = node.raw_request(method.into(), (tag, true)).await?;
        Ok(told.and_then(Self::of).filter(|block| block.header.number == number))
    }

    /// `None` if the hash isn't the header's, or the header's root isn't the transactions'.
    fn of(ToldBlock { header, transactions }: ToldBlock) -> Option<Self> {
        let (hash, header) = (header.hash, header.inner);
        let transactions = transactions.into_iter().map(bytes_of).collect::<Option<Vec<_>>>()?;
        let root = ordered_trie_root_with_encoder(&transactions, |bytes, out| out.put_slice(bytes));
        let is_whole = header.hash_slow() == hash && root == header.transactions_root;
        is_whole.then_some(Self { hash, header, transactions })
    }

    /// The transaction with this hash, and its place.
    pub(super) fn find(&self, hash: B256) -> Option<(usize, TxEnvelope)> {
        let at = self.transactions.iter().position(|bytes| keccak256(bytes) == hash)?;
        Some((at, decoded(self.transactions.get(at)?)?))
    }

    /// The transactions that somebody signed.
    pub(super) fn signed(&self) -> impl Iterator<Item = TxEnvelope> {
        self.transactions.iter().filter_map(decoded)
    }
}

/// The bytes of a transaction as a node tells it; `None` for types that are neither Ethereum's nor the OP stack's.
fn bytes_of(told: Value) -> Option<Bytes> {
    if told["type"] == format!("{DEPOSIT:#x}") {
        Deposit::deserialize(told).ok().map(|deposit| deposit.bytes())
    } else {
        TxEnvelope::deserialize(told).ok().map(|signed| signed.encoded_2718().into())
    }
}

fn decoded(bytes: &Bytes) -> Option<TxEnvelope> {
    TxEnvelope::decode_2718_exact(bytes).ok()
}

impl Deposit {
    fn bytes(&self) -> Bytes {
        let mut fields = Vec::new();
        self.source_hash.encode(&mut fields);
        self.from.encode(&mut fields);
        match self.to {
            Some(to) => to.encode(&mut fields),
            None => Bytes::new().encode(&mut fields),
        }
        self.mint.unwrap_or_default().encode(&mut fields);
        self.value.encode(&mut fields);
        self.gas.encode(&mut fields);
        self.is_system_tx.unwrap_or_default().encode(&mut fields);
        self.input.encode(&mut fields);
        typed_list(DEPOSIT, &fields).into()
    }
}

impl CommittedReceipt {
    pub(super) fn logs(&self) -> Vec<Log> {
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
        out.put_slice(&typed_list(kind, &fields));
    }
}

/// A list of encoded fields, behind its type, which lists of the oldest type lack.
fn typed_list(kind: u8, fields: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    if kind != 0 {
        out.push(kind);
    }
    alloy::rlp::Header { list: true, payload_length: fields.len() }.encode(&mut out);
    out.extend_from_slice(fields);
    out
}

impl Node {
    /// [`SealedBlock::read`] at one node.
    pub(super) async fn sealed_block(&self, number: u64) -> Result<Option<SealedBlock>, NodeError> {
        self.ask(|node| async move { SealedBlock::read(&node, number).await }).await
    }

    /// All receipts of the block with this hash, in the order of its transactions; `None` if the node doesn't have it, or
    /// their root isn't `root`. One call.
    pub(super) async fn receipts_of(&self, hash: B256, root: B256) -> Result<Option<Vec<CommittedReceipt>>, NodeError> {
        let (method, block) = ("eth_getBlockReceipts", BlockId::from(hash));
        let told: Option<Vec<CommittedReceipt>> =
            self.ask(|node| async move { node.raw_request(method.into(), (block,)).await }).await?;
        let is_whole = |list: &Vec<CommittedReceipt>| {
            ordered_trie_root_with_encoder(list, |receipt, out| receipt.encode(out)) == root
        };
        Ok(told.filter(is_whole))
    }
}

#[cfg(test)]
mod tests {
    use alloy::{
        consensus::{
            SignableTransaction, TxEip1559, TxEip2930, TxEip4844, TxEip4844Variant, TxEip7702, TxLegacy,
            proofs::calculate_transaction_root,
        },
        eips::{
            eip2930::{AccessList, AccessListItem},
            eip7702::{Authorization, SignedAuthorization},
        },
        primitives::{Signature, hex},
    };
    use serde_json::json;

    use super::*;

    /// What brings a block of the layer below to OP Mainnet, as the chain has it.
    const ATTRIBUTES: &str = "7ef9015aa044bae9d41b8380d781187b426c6fe43df5fb2fb57bd4466ef6a701e1f01e015694deaddeaddeadd\
        eaddeaddeaddeaddeaddead000194420000000000000000000000000000000000001580808408f0d18001b90104015d8eb9000000000000000\
        00000000000000000000000000000000000000000008057650000000000000000000000000000000000000000000000000000000063d96d100\
        00000000000000000000000000000000000000000000000000000000009f35273d89754a1e0387b89520d989d3be9c37c1f32495a88faf1ea0\
        5c61121ab0d1900000000000000000000000000000000000000000000000000000000000000010000000000000000000000002d679b567db6187c\
        0c8323fa982cfb88b74dbcc7000000000000000000000000000000000000000000000000000000000000083400000000000000000000000000\
        000000000000000000000000000000000f4240";

    #[test]
    fn deposit_has_the_bytes_that_its_chain_has() {
        let bytes = hex::decode(ATTRIBUTES).unwrap();
        let input = &bytes[bytes.len() - 0x104..];
        let told = json!({
            "type": "0x7e", "hash": keccak256(&bytes), "nonce": "0x0", "gas": "0x8f0d180", "value": "0x0",
            "sourceHash": "0x44bae9d41b8380d781187b426c6fe43df5fb2fb57bd4466ef6a701e1f01e0156",
            "from": "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001",
            "to": "0x4200000000000000000000000000000000000015",
            "isSystemTx": true, "input": hex::encode_prefixed(input),
        });
        assert_eq!(bytes_of(told).unwrap(), bytes);
    }

    /// A block as nodes tell it, with a transaction of each type of Ethereum.
    fn block() -> Value {
        let signature = Signature::new(U256::from(7), U256::from(8), true);
        let (input, blob_versioned_hashes) = (Bytes::from_static(b"data"), vec![B256::repeat_byte(1)]);
        let authorization = Authorization { chain_id: U256::from(8453), address: Address::ZERO, nonce: 3 };
        let authorization_list =
            vec![SignedAuthorization::new_unchecked(authorization, 1, U256::from(5), U256::from(6))];
        let access_list = AccessList(vec![AccessListItem { address: Address::ZERO, storage_keys: vec![B256::ZERO] }]);
        let blobs: TxEip4844Variant = TxEip4844 { chain_id: 1, blob_versioned_hashes, ..TxEip4844::default() }.into();
        let transactions: Vec<TxEnvelope> = vec![
            TxLegacy { chain_id: Some(8453), nonce: 1, input: input.clone(), ..TxLegacy::default() }
                .into_signed(signature)
                .into(),
            TxLegacy { chain_id: None, nonce: 2, ..TxLegacy::default() }.into_signed(signature).into(),
            TxEip2930 { chain_id: 8453, access_list: access_list.clone(), ..TxEip2930::default() }
                .into_signed(signature)
                .into(),
            TxEip1559 { chain_id: 8453, input, access_list, ..TxEip1559::default() }.into_signed(signature).into(),
            blobs.into_signed(signature).into(),
            TxEip7702 { chain_id: 8453, authorization_list, ..TxEip7702::default() }.into_signed(signature).into(),
        ];
        let transactions_root = calculate_transaction_root(&transactions);
        let header = alloy::rpc::types::Header::new(Header { number: 7, transactions_root, ..Header::default() });
        let mut block = serde_json::to_value(header).unwrap();
        block["transactions"] = serde_json::to_value(transactions).unwrap();
        block
    }

    fn sealed(block: Value) -> Option<SealedBlock> {
        SealedBlock::of(serde_json::from_value(block).unwrap())
    }

    #[test]
    fn block_proves_its_transactions() {
        let told = block();
        let sealed_block = sealed(told.clone()).unwrap();
        for (at, transaction) in told["transactions"].as_array().unwrap().iter().enumerate() {
            let hash = transaction["hash"].as_str().unwrap().parse().unwrap();
            assert_eq!(sealed_block.find(hash).map(|(found, _)| found), Some(at));
        }
        assert!(sealed_block.find(B256::ZERO).is_none());
        // Another header, and another transaction under the same hash.
        let mut forged = told.clone();
        forged["gasUsed"] = json!("0x1");
        assert!(sealed(forged).is_none());
        let mut forged = told;
        forged["transactions"][3]["value"] = json!("0x1");
        assert!(sealed(forged).is_none());
    }

    #[test]
    fn block_with_transactions_of_unknown_types_proves_nothing() {
        assert_eq!(bytes_of(json!({"type": "0x6a", "hash": B256::ZERO})), None);
    }
}
