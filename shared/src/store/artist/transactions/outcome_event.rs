//! Events of transactions' outcomes.

use alloy::primitives::B256;

use super::{journey::Ending, transaction::Transaction};
use crate::model::{Event, EventData, EventId, TransactionEvent, TransactionStatus};

impl Transaction {
    /// The event of its ending, with an id of its own for each block that mines it.
    pub fn outcome_event(&self, ending: &Ending, now: u64) -> Event {
        let event = TransactionEvent {
            id: self.id,
            chain_id: self.chain,
            account: self.account,
            status: ending.status,
            hash: ending.mined.map(|mined| mined.hash),
            block: ending.mined.map(|mined| mined.block),
            reason: ending.reason.clone(),
            result: ending.result.clone(),
        };
        let block = ending.mined.map_or(B256::ZERO, |mined| mined.block_hash);
        let id = EventId::named(&format!("transaction/{}/{}/{block}", self.id, ending.status.word()));
        let data = match ending.status {
            TransactionStatus::Mined => EventData::TransactionMined(event),
            _ => EventData::TransactionFailed(event),
        };
        Event { id, time: now, is_reverted: false, data }
    }
}
