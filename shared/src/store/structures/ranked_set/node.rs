use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use super::rank_key::RankKey;
use crate::model::Invalid;

/// Keeps a node's row under 4 KB, one read unit however full it is.
pub(super) const MAX_BYTES: usize = 3_800;

/// A member's key in a leaf, a child above.
pub(super) trait Entry: Copy + Send + Sync {
    fn key(&self) -> RankKey;
    fn count(&self) -> u64;
    /// Scores are encoded as the difference to `before`, the previous entry's.
    fn write(&self, before: u128, bytes: &mut Vec<u8>);
    fn read(before: u128, bytes: &mut &[u8]) -> Option<Self>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Child {
    pub(super) first: RankKey,
    pub(super) count: u64,
    pub(super) id: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "ByteBuf", try_from = "ByteBuf", bound = "E: Entry")]
pub(super) struct Node<E> {
    pub(super) entries: Vec<E>,
}

impl Entry for RankKey {
    fn key(&self) -> RankKey {
        *self
    }

    fn count(&self) -> u64 {
        1
    }

    fn write(&self, before: u128, bytes: &mut Vec<u8>) {
        write_number(self.score.wrapping_sub(before), bytes);
        bytes.extend(self.id.to_be_bytes());
    }

    fn read(before: u128, bytes: &mut &[u8]) -> Option<Self> {
        let score = before.wrapping_add(read_number(bytes)?);
        let (id, rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        Some(Self { score, id: u128::from_be_bytes(*id) })
    }
}

impl Entry for Child {
    fn key(&self) -> RankKey {
        self.first
    }

    fn count(&self) -> u64 {
        self.count
    }

    fn write(&self, before: u128, bytes: &mut Vec<u8>) {
        self.first.write(before, bytes);
        write_number(self.count.into(), bytes);
        write_number(self.id.into(), bytes);
    }

    fn read(before: u128, bytes: &mut &[u8]) -> Option<Self> {
        let first = RankKey::read(before, bytes)?;
        let count = read_number(bytes)?.try_into().ok()?;
        Some(Self { first, count, id: read_number(bytes)?.try_into().ok()? })
    }
}

impl<E: Entry> Node<E> {
    pub(super) const EMPTY: Self = Self { entries: Vec::new() };

    pub(super) fn count(&self) -> u64 {
        self.entries.iter().map(Entry::count).sum()
    }

    pub(super) fn covering(&self, key: RankKey) -> usize {
        self.entries.partition_point(|entry| entry.key() <= key).saturating_sub(1)
    }

    pub(super) fn at(&self, mut index: u64) -> Option<(E, u64)> {
        for entry in &self.entries {
            match index.checked_sub(entry.count()) {
                Some(rest) => index = rest,
                None => return Some((*entry, index)),
            }
        }
        None
    }

    pub(super) fn count_before(&self, entry: usize) -> u64 {
        self.entries.iter().take(entry).map(Entry::count).sum()
    }

    pub(super) fn as_child(&self, id: u32) -> Option<Child> {
        self.entries.first().map(|first| Child { first: first.key(), count: self.count(), id })
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(MAX_BYTES);
        let mut before = 0;
        for entry in &self.entries {
            entry.write(before, &mut bytes);
            before = entry.key().score;
        }
        bytes
    }

    pub(super) fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let (mut entries, mut before) = (Vec::new(), 0);
        while !bytes.is_empty() {
            let entry = E::read(before, &mut bytes)?;
            before = entry.key().score;
            entries.push(entry);
        }
        Some(Self { entries })
    }

    pub(super) fn is_sparse(&self, max_bytes: usize) -> bool {
        self.to_bytes().len() < max_bytes / 4
    }

    pub(super) fn joined(&self, next: &Self, max_bytes: usize) -> Option<Self> {
        let joined = Self { entries: [self.entries.as_slice(), &next.entries].concat() };
        (joined.to_bytes().len() <= max_bytes / 4 * 3).then_some(joined)
    }

    /// With `grew_at_end` the left nodes stay full: keys in order would leave every node half empty.
    pub(super) fn split(self, grew_at_end: bool, max_bytes: usize) -> Vec<Self> {
        if self.entries.len() < 2 || self.to_bytes().len() <= max_bytes {
            return vec![self];
        }
        let mut left = self.entries;
        let right = left.split_off(if grew_at_end { left.len() - 1 } else { left.len() / 2 });
        [left, right].into_iter().flat_map(|entries| Self { entries }.split(grew_at_end, max_bytes)).collect()
    }
}

impl<E: Entry> From<Node<E>> for ByteBuf {
    fn from(node: Node<E>) -> Self {
        Self::from(node.to_bytes())
    }
}

impl<E: Entry> TryFrom<ByteBuf> for Node<E> {
    type Error = Invalid;

    fn try_from(bytes: ByteBuf) -> Result<Self, Invalid> {
        Self::from_bytes(&bytes).ok_or(Invalid("must be the entries of a node"))
    }
}

impl Node<Child> {
    pub(super) fn child_of(&self, key: RankKey) -> Option<u32> {
        self.entries.get(self.covering(key)).map(|child| child.id)
    }
}

/// LEB128.
fn write_number(mut number: u128, bytes: &mut Vec<u8>) {
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

fn read_number(bytes: &mut &[u8]) -> Option<u128> {
    let mut number = 0;
    for shift in (0..u128::BITS).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u128::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}
