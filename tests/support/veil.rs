use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use serde_json::{Value, json};

use crate::Relay;

/// Stands in front of a node and keeps receipts to itself, as one does that hasn't seen the block yet; or takes no
/// transaction.
pub struct Veil {
    pub url: String,
    is_lifted: Arc<AtomicBool>,
}

impl Veil {
    pub async fn in_front_of(url: &str) -> Self {
        let is_lifted = Arc::new(AtomicBool::new(false));
        let lifted = is_lifted.clone();
        let hide = move |call: &Value| {
            let is_hidden = call["method"] == "eth_getTransactionReceipt" && !lifted.load(Ordering::Relaxed);
            is_hidden.then(|| json!({"result": null}))
        };
        Self { url: Relay::in_front_of(url, hide).await.url, is_lifted }
    }

    /// A node that refuses every transaction for good.
    pub async fn refusing(url: &str) -> Self {
        let refuse = |call: &Value| {
            let error = json!({"error": {"code": -32000, "message": "intrinsic gas too low"}});
            (call["method"] == "eth_sendRawTransaction").then_some(error)
        };
        Self { url: Relay::in_front_of(url, refuse).await.url, is_lifted: Arc::new(AtomicBool::new(true)) }
    }

    /// Lets receipts through from now on.
    pub fn lift(&self) {
        self.is_lifted.store(true, Ordering::Relaxed);
    }
}
