//! Blocks that aren't the chain's, and that prove themselves.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use alloy::{
    consensus::{
        Header, Receipt, ReceiptEnvelope, TxEnvelope,
        proofs::{calculate_receipt_root, calculate_transaction_root},
    },
    eips::eip2718::Decodable2718,
    hex,
    primitives::B256,
    rpc::types,
};
use axum::http::HeaderMap;
use serde_json::{Value, json};

use super::{Proxy, Request, vice};

#[derive(Default)]
pub struct Forgery {
    /// Hashes of the chain's blocks, by those that a fork gave them.
    forked: Mutex<HashMap<B256, Value>>,
    /// What was sent.
    sent: Mutex<HashMap<B256, TxEnvelope>>,
}

impl Forgery {
    pub fn see(&self, request: &Request) {
        if request.operation == "eth_sendRawTransaction" {
            let signed = hex::decode(request.body["params"][0].as_str().unwrap_or_default()).unwrap_or_default();
            if let Ok(sent) = TxEnvelope::decode_2718_exact(&signed) {
                self.sent.lock().unwrap_or_else(PoisonError::into_inner).insert(*sent.tx_hash(), sent);
            }
        }
    }

    /// A block with this number in which the first of what was sent failed, or its receipts; `None` for other questions.
    pub fn invented(&self, request: &Request, number: u64) -> Option<Value> {
        let sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let (hash, sent) = sent.iter().min_by_key(|(_, sent)| alloy::consensus::Transaction::nonce(*sent))?;
        let receipt = Receipt { status: false.into(), cumulative_gas_used: 21_000, logs: Vec::new() };
        let header = types::Header::new(Header {
            number,
            transactions_root: calculate_transaction_root(std::slice::from_ref(sent)),
            receipts_root: calculate_receipt_root(&[ReceiptEnvelope::Eip1559(receipt.with_bloom())]),
            ..Header::default()
        });
        let about = &request.body["params"][0];
        let receipt = vice::receipt(&json!(hash), false, (header.hash, number));
        match &*request.operation {
            "eth_getTransactionReceipt" if *about == json!(hash) => Some(receipt),
            "eth_getBlockReceipts" if *about == json!(header.hash) => Some(json!([receipt])),
            "eth_getBlockByNumber" if *about == json!(format!("{number:#x}")) => {
                let mut block = serde_json::to_value(&header).ok()?;
                let is_whole = request.body["params"][1] == true;
                block["transactions"] = if is_whole { json!([sent]) } else { json!([hash]) };
                block["uncles"] = json!([]);
                Some(block)
            }
            _ => None,
        }
    }

    fn fork(&self, mut block: Value) -> Option<Value> {
        let real = block["hash"].take();
        block["extraData"] = json!(hex::encode_prefixed("fork"));
        let header: Header = serde_json::from_value(block.clone()).ok()?;
        let hash = header.hash_slow();
        block["hash"] = json!(hash);
        self.forked.lock().ok()?.insert(hash, real);
        Some(block)
    }
}

impl Proxy {
    /// What a node says that has other blocks with the same transactions.
    pub(super) async fn forked(&self, request: &Request, headers: &HeaderMap) -> Option<Value> {
        let ask = async |method: &str, params: Value| {
            let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            let bytes = body.to_string().into();
            self.result(&Request { operation: method.to_owned(), body }, headers.clone(), bytes).await
        };
        let mut params = request.body["params"].clone();
        if let Some(told) = params[0].as_str().and_then(|hash| hash.parse::<B256>().ok()) {
            let real = self.forgery.forked.lock().ok()?.get(&told).cloned();
            params[0] = real.unwrap_or_else(|| params[0].clone());
        }
        let mut result = ask(&request.operation, params).await?;
        if let Some(number) = result.get("blockNumber").cloned() {
            let block = self.forgery.fork(ask("eth_getBlockByNumber", json!([number, false])).await?)?;
            result["blockHash"] = block["hash"].clone();
        } else if result.get("parentHash").is_some() {
            result = self.forgery.fork(result)?;
        }
        Some(result)
    }
}
