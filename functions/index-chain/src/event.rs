//! The events that are read, decoded. A log that only looks like one of them is passed over: anyone may emit anything.

use alloy::{
    primitives::{Address, B256},
    rpc::types::Log,
    sol_types::SolEvent,
};
use shared::chain::contracts::{
    CommentsProtocol::{BackfilledComment, Commented, SparkedComment},
    Creator1155::SetupNewToken,
    CreatorFactory::SetupNewContract,
    MintCommenter::MintComment,
};

/// An event of one of the service's contracts, with where it is in the chain.
pub struct ChainEvent {
    /// Contract that emitted it.
    pub emitter: Address,
    /// Block that holds it.
    pub block: u64,
    /// Unix time of that block in seconds, where the node told it with the log.
    pub block_time: Option<u64>,
    /// Transaction that caused it.
    pub transaction: B256,
    /// Its position among the block's logs.
    pub log_index: u64,
    /// What it says.
    pub kind: EventKind,
}

/// What an event says.
pub enum EventKind {
    /// The factory made a collection.
    CollectionCreated(SetupNewContract),
    /// A collection got a token.
    MomentCreated(SetupNewToken),
    /// Somebody collected with a comment.
    MintComment(MintComment),
    /// Somebody commented or replied.
    Commented(Commented),
    /// A comment from before the protocol was carried over into it.
    Backfilled(BackfilledComment),
    /// Somebody gave sparks to a comment.
    Sparked(SparkedComment),
}

/// Topics of what the factory, the minters and the comments protocol emit, whose addresses are known beforehand.
pub const FIXED_TOPICS: [B256; 5] = [
    SetupNewContract::SIGNATURE_HASH,
    MintComment::SIGNATURE_HASH,
    Commented::SIGNATURE_HASH,
    BackfilledComment::SIGNATURE_HASH,
    SparkedComment::SIGNATURE_HASH,
];

/// Topics of what collections emit.
pub const COLLECTION_TOPICS: [B256; 1] = [SetupNewToken::SIGNATURE_HASH];

impl ChainEvent {
    /// Decodes a log; `None` when it is pending, removed, or not what its topic says.
    pub fn decode(log: &Log) -> Option<Self> {
        let data = &log.inner;
        let kind = match *log.topic0()? {
            SetupNewContract::SIGNATURE_HASH => {
                SetupNewContract::decode_log(data).map(|e| EventKind::CollectionCreated(e.data))
            }
            SetupNewToken::SIGNATURE_HASH => SetupNewToken::decode_log(data).map(|e| EventKind::MomentCreated(e.data)),
            MintComment::SIGNATURE_HASH => MintComment::decode_log(data).map(|e| EventKind::MintComment(e.data)),
            Commented::SIGNATURE_HASH => Commented::decode_log(data).map(|e| EventKind::Commented(e.data)),
            BackfilledComment::SIGNATURE_HASH => {
                BackfilledComment::decode_log(data).map(|e| EventKind::Backfilled(e.data))
            }
            SparkedComment::SIGNATURE_HASH => SparkedComment::decode_log(data).map(|e| EventKind::Sparked(e.data)),
            _ => return None,
        };
        Some(Self {
            emitter: log.address(),
            block: log.block_number?,
            block_time: log.block_timestamp,
            transaction: log.transaction_hash?,
            log_index: log.log_index?,
            kind: kind.ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use alloy::{
        primitives::{Bytes, LogData, U256, address},
        sol_types::SolValue,
    };

    use super::*;

    fn log(topics: Vec<B256>, data: Vec<u8>) -> Log {
        let inner = alloy::primitives::Log {
            address: address!("540C18B7f99b3b599c6FeB99964498931c211858"),
            data: LogData::new_unchecked(topics, Bytes::from(data)),
        };
        let (block_number, transaction_hash, log_index) = (Some(7), Some(B256::repeat_byte(1)), Some(3));
        Log { inner, block_number, transaction_hash, log_index, ..Log::default() }
    }

    fn mint_comment(text: &[u8]) -> Log {
        let topics = vec![MintComment::SIGNATURE_HASH, B256::ZERO, B256::ZERO, B256::ZERO];
        log(topics, (U256::ONE, Bytes::copy_from_slice(text)).abi_encode_params())
    }

    #[test]
    fn a_comment_that_is_no_unicode_is_still_a_comment() {
        let event = ChainEvent::decode(&mint_comment(b"caf\xe9 \xf0\x9f\x92\x9b")).unwrap();
        let EventKind::MintComment(comment) = event.kind else { panic!("another event") };
        assert_eq!(comment.comment, "caf\u{fffd} 💛");
    }

    #[test]
    fn what_only_looks_like_an_event_is_passed_over() {
        let good = mint_comment(b"hello");
        assert!(ChainEvent::decode(&good).is_some());
        let pending = Log { block_number: None, ..good.clone() };
        assert!(ChainEvent::decode(&pending).is_none());
        assert!(ChainEvent::decode(&log(vec![MintComment::SIGNATURE_HASH], vec![])).is_none());
        assert!(ChainEvent::decode(&log(vec![MintComment::SIGNATURE_HASH; 4], vec![0xff; 64])).is_none());
        assert!(ChainEvent::decode(&log(vec![B256::ZERO], vec![])).is_none());
        assert!(ChainEvent::decode(&log(vec![], vec![])).is_none());
    }
}
