//! Decoders of the ERC-1155 standard's events: <https://eips.ethereum.org/EIPS/eip-1155>

use alloy::primitives::Log;
use shared::chain::contracts::native::Creator1155::{TransferBatch, TransferSingle, URI};

use crate::event::{self, Fact};

pub fn uri(log: Log<URI>) -> Option<Fact> {
    Some(Fact::UriSet(event::UriSet { token: log.data.id, uri: log.data.value }))
}

pub fn transfer_single(log: Log<TransferSingle>) -> Option<Fact> {
    let moved = log.data;
    let tokens = vec![(moved.id, moved.value)];
    Some(Fact::Transferred(event::Transferred { operator: moved.operator, from: moved.from, to: moved.to, tokens }))
}

pub fn transfer_batch(log: Log<TransferBatch>) -> Option<Fact> {
    let moved = log.data;
    let tokens = moved.ids.into_iter().zip(moved.values).collect();
    Some(Fact::Transferred(event::Transferred { operator: moved.operator, from: moved.from, to: moved.to, tokens }))
}
