use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use super::rank_key::{RankKey, shared_prefix};
use crate::model::Invalid;

/// A range of members, from `first` to the next part's: a bucket, or a node of buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Not above the first member.
    pub(super) first: RankKey,
    pub(super) count: u64,
    /// Number of the node; 0 for a bucket.
    pub(super) node: u32,
}

/// A member to find.
#[derive(Clone, Copy)]
pub(super) enum Target {
    Key(RankKey),
    Index(u64),
}

/// Consecutive parts. The first one also has all keys below it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "ByteBuf", try_from = "ByteBuf")]
pub(super) struct Node {
    pub(super) parts: Vec<Part>,
}

impl Part {
    pub(super) fn bucket(first: RankKey, count: u64) -> Self {
        Self { first, count, node: 0 }
    }

    pub(super) fn is_bucket(&self) -> bool {
        self.node == 0
    }
}

impl Node {
    pub(super) fn count(&self) -> u64 {
        self.parts.iter().map(|part| part.count).sum()
    }

    pub(super) fn as_part(&self, node: u32) -> Option<Part> {
        self.parts.first().map(|part| Part { first: part.first, count: self.count(), node })
    }

    /// Index of the part that a key belongs to.
    pub(super) fn covering(&self, key: RankKey) -> usize {
        self.parts.partition_point(|part| part.first <= key).saturating_sub(1)
    }

    /// Finds the part of a target; `before` members come before this node.
    pub(super) fn find(&self, target: Target, before: u64) -> Option<(usize, Part)> {
        let at = match target {
            Target::Key(key) => self.covering(key),
            Target::Index(index) => {
                let ends = self.parts.iter().scan(before, |end, part| {
                    *end += part.count;
                    Some(*end)
                });
                ends.take_while(|end| *end <= index).count()
            }
        };
        Some((at, *self.parts.get(at)?))
    }

    /// The same node as the root places it: its first bucket also has the keys of buckets that are gone.
    pub(super) fn starting_at(mut self, first: RankKey) -> Self {
        if let Some(part) = self.parts.first_mut() {
            part.first = first;
        }
        self
    }

    pub(super) fn count_before(&self, part: usize) -> u64 {
        self.parts.iter().take(part).map(|part| part.count).sum()
    }

    /// First key after a part.
    pub(super) fn end_of(&self, part: usize) -> Option<RankKey> {
        self.parts.get(part + 1).map(|next| next.first)
    }

    /// Removes an empty part; its neighbour takes over its range.
    pub(super) fn remove(&mut self, at: usize) {
        let removed = self.parts.remove(at);
        if at == 0
            && let Some(first) = self.parts.first_mut()
        {
            first.first = removed.first;
        }
    }

    /// Joins a bucket with a neighbour if they have few members together.
    pub(super) fn join_bucket(&mut self, at: usize, most: u64) {
        for left in [Some(at), at.checked_sub(1)].into_iter().flatten() {
            if let Some([one, next]) = self.parts.get_mut(left..left + 2)
                && one.is_bucket()
                && next.is_bucket()
                && one.count + next.count <= most
            {
                one.count += next.count;
                self.parts.remove(left + 1);
                return;
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.to_bytes().len()
    }

    pub(super) fn split(self, max_bytes: usize) -> Vec<Self> {
        if self.parts.len() < 2 || self.bytes() <= max_bytes {
            return vec![self];
        }
        let mut left = self.parts;
        let right = left.split_off(left.len() / 2);
        [left, right].into_iter().flat_map(|parts| Self { parts }.split(max_bytes)).collect()
    }

    /// Each key is written as the length of the prefix that it shares with the key before it, and what differs.
    fn to_bytes(&self) -> Vec<u8> {
        let (mut bytes, mut before) = (Vec::new(), [0; RankKey::BYTES]);
        for part in &self.parts {
            let key = part.first.to_bytes();
            let end = RankKey::BYTES - key.iter().rev().take_while(|byte| **byte == 0).count();
            let shared = shared_prefix(&before, &key).min(end);
            write_number(shared as u64, &mut bytes);
            write_number((end - shared) as u64, &mut bytes);
            bytes.extend(key.get(shared..end).unwrap_or_default());
            write_number(part.count, &mut bytes);
            write_number(part.node.into(), &mut bytes);
            before = key;
        }
        bytes
    }

    fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let (mut parts, mut before) = (Vec::new(), [0; RankKey::BYTES]);
        while !bytes.is_empty() {
            let shared = usize::try_from(read_number(&mut bytes)?).ok()?;
            let length = usize::try_from(read_number(&mut bytes)?).ok()?;
            let (different, rest) = bytes.split_at_checked(length)?;
            let first = RankKey::from_prefix(&[before.get(..shared)?, different].concat());
            bytes = rest;
            let count = read_number(&mut bytes)?;
            parts.push(Part { first, count, node: read_number(&mut bytes)?.try_into().ok()? });
            before = first.to_bytes();
        }
        Some(Self { parts })
    }
}

impl From<Node> for ByteBuf {
    fn from(node: Node) -> Self {
        Self::from(node.to_bytes())
    }
}

impl TryFrom<ByteBuf> for Node {
    type Error = Invalid;

    fn try_from(bytes: ByteBuf) -> Result<Self, Invalid> {
        Self::from_bytes(&bytes).ok_or(Invalid("must be the parts of a node"))
    }
}

fn write_number(mut number: u64, bytes: &mut Vec<u8>) {
    loop {
        let low = (number & 0x7f) as u8;
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return;
        }
        bytes.push(low | 0x80);
    }
}

fn read_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}
