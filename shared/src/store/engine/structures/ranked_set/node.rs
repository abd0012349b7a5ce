use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use super::rank_key::{RankKey, shared_prefix};
use crate::model::Invalid;

/// Bits of a part's first byte: how many bytes of its key differ from the key before it.
const DIFFERENT: u8 = 0x3f;
/// The key has as many bytes as the one before it.
const AS_LONG: u8 = 0x40;
/// As many members as the part before it has, and the same node.
const AS_FULL: u8 = 0x80;

/// A range of members, from `first` to the next part's: a bucket, or a node of buckets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

    /// A part is a byte that counts the bytes of its key which differ from the key before it, and tells what else is as before;
    /// then what isn't. Buckets of a timeline are mostly equally full and take three or four bytes.
    fn to_bytes(&self) -> Vec<u8> {
        let (mut bytes, mut before) = (Vec::new(), Part::default());
        for part in &self.parts {
            let (key, length) = (part.first.to_bytes(), part.first.length());
            let shared = shared_prefix(&before.first.to_bytes(), &key).min(length);
            let is_as_long = length == before.first.length();
            let is_as_full = (part.count, part.node) == (before.count, before.node);
            let flags = if is_as_long { AS_LONG } else { 0 } | if is_as_full { AS_FULL } else { 0 };
            bytes.push((length - shared) as u8 | flags);
            if !is_as_long {
                write_number(length as u64, &mut bytes);
            }
            bytes.extend(key.get(shared..length).unwrap_or_default());
            if !is_as_full {
                write_number(part.count, &mut bytes);
                write_number(part.node.into(), &mut bytes);
            }
            before = *part;
        }
        bytes
    }

    fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let (mut parts, mut before) = (Vec::new(), Part::default());
        while let Some((header, rest)) = bytes.split_first() {
            bytes = rest;
            let is = |flag| header & flag != 0;
            let length = if is(AS_LONG) { before.first.length() } else { read_number(&mut bytes)?.try_into().ok()? };
            let (different, rest) = bytes.split_at_checked(usize::from(header & DIFFERENT))?;
            let shared = length.checked_sub(different.len())?;
            let first = RankKey::from_prefix(&[before.first.to_bytes().get(..shared)?, different].concat());
            bytes = rest;
            let (count, node) = if is(AS_FULL) {
                (before.count, before.node)
            } else {
                (read_number(&mut bytes)?, read_number(&mut bytes)?.try_into().ok()?)
            };
            before = Part { first, count, node };
            parts.push(before);
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
