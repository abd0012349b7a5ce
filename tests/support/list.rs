use alloy::primitives::Address;
use serde_json::{Value, json};

use crate::{Answer, Stack};

impl Stack {
    /// Sells a collection's first moment to these entries, with these further fields.
    pub async fn set_list(&self, key: &str, collection: Address, entries: Value, more: Value) -> Answer {
        let moment = json!({"collectionAddress": collection, "tokenId": "1"});
        let mut body = json!({"moment": moment, "entries": entries});
        for (name, value) in more.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        self.write("/moment/allow-list", key, &body, &[]).await
    }

    /// Reads an account's place on the list of a collection's first moment.
    pub async fn place_on_list(&self, collection: Address, account: Address) -> Answer {
        let path = format!("/moment/allow-list?collectionAddress={collection:#x}&tokenId=1&account={account:#x}");
        Answer::of(self.get(&path)).await
    }

    /// The first moment's sale to a list, once the index has one with this root.
    pub async fn indexed_list(&self, collection: Address, is_it: impl Fn(&Value) -> bool) -> Value {
        let path = format!("/moment?collectionAddress={collection:#x}&tokenId=1");
        self.wait_until(&path, |moment| is_it(&moment["allowList"])).await["allowList"].clone()
    }
}
