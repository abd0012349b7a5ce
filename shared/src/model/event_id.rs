use alloy::primitives::B256;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    moment::ChainId,
    schema::{format, text_schema},
    text::uuid_as_text,
};

/// Id of a row that a log caused: UUID v5 of (chain, transaction, log index). Indexing a log again gives the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventId(Uuid);

text_schema!(
    EventId,
    "Id derived from an onchain event; it stays the same when the event is indexed again.",
    "6c1f2f6e-6f0e-5b7e-9d8a-3f1c2b4d5e6f",
    format = format("uuid")
);

/// Must never change: every stored row's id follows from it.
const NAMESPACE: Uuid = Uuid::from_u128(0x5f0f_7c39_8b4e_4d1c_9a34_6e2d_1b70_c8a5);

impl EventId {
    /// Id of the log at `log_index` (its position in the block) of `transaction`.
    pub fn new(chain: ChainId, transaction: B256, log_index: u64) -> Self {
        Self(Uuid::new_v5(&NAMESPACE, format!("{chain}/{transaction:#x}/{log_index}").as_bytes()))
    }

    /// Id of the `nth` further row, counted from 0, that the same log caused.
    pub fn nth(chain: ChainId, transaction: B256, log_index: u64, nth: u64) -> Self {
        Self(Uuid::new_v5(&NAMESPACE, format!("{chain}/{transaction:#x}/{log_index}/{nth}").as_bytes()))
    }
}

impl EventId {
    /// The id as a number.
    pub fn as_u128(self) -> u128 {
        self.0.as_u128()
    }

    /// Id of what no log caused, by a name that nothing else has.
    pub fn named(name: &str) -> Self {
        Self(Uuid::new_v5(&NAMESPACE, name.as_bytes()))
    }

    /// Id of a row derived from this one; `what` names it, such as a payment's `notification`.
    pub fn of_its(self, what: &str) -> Self {
        Self(Uuid::new_v5(&self.0, what.as_bytes()))
    }
}

uuid_as_text!(EventId);
