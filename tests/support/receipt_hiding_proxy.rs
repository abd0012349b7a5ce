use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use serde_json::{Value, json};

use crate::RpcProxy;

/// A proxy of a node that hides receipts, as a lagging node does, or refuses transactions.
pub struct ReceiptHidingProxy {
    pub url: String,
    is_lifted: Arc<AtomicBool>,
}

impl ReceiptHidingProxy {
    pub async fn in_front_of(url: &str) -> Self {
        let is_lifted = Arc::new(AtomicBool::new(false));
        let lifted = is_lifted.clone();
        let hide = move |call: &Value| {
            let is_hidden = call["method"] == "eth_getTransactionReceipt" && !lifted.load(Ordering::Relaxed);
            is_hidden.then(|| json!({"result": null}))
        };
        Self { url: RpcProxy::in_front_of(url, hide).await.url, is_lifted }
    }

    /// A proxy that refuses every transaction with a permanent error.
    pub async fn refusing(url: &str) -> Self {
        let refuse = |call: &Value| {
            let error = json!({"error": {"code": -32000, "message": "intrinsic gas too low"}});
            (call["method"] == "eth_sendRawTransaction").then_some(error)
        };
        Self { url: RpcProxy::in_front_of(url, refuse).await.url, is_lifted: Arc::new(AtomicBool::new(true)) }
    }

    /// Stops hiding receipts.
    pub fn lift(&self) {
        self.is_lifted.store(true, Ordering::Relaxed);
    }
}
