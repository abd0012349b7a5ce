/// Sort key of a member: by score, then by id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RankKey {
    /// Primary order.
    pub score: u128,
    /// Breaks ties and identifies the member.
    pub id: u128,
}

impl RankKey {
    /// Least key.
    pub const MIN: Self = Self::at_least(0);
    /// Greatest key.
    pub const MAX: Self = Self { score: u128::MAX, id: u128::MAX };

    pub(super) const BYTES: usize = 32;

    /// Least key with this score.
    pub const fn at_least(score: u128) -> Self {
        Self { score, id: 0 }
    }

    /// Greatest key below this one.
    pub(super) fn before(self) -> Self {
        match self.id.checked_sub(1) {
            Some(id) => Self { id, ..self },
            None => Self { score: self.score.saturating_sub(1), id: u128::MAX },
        }
    }

    pub(super) fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let (score, id) = bytes.split_at_mut(Self::BYTES / 2);
        score.copy_from_slice(&self.score.to_be_bytes());
        id.copy_from_slice(&self.id.to_be_bytes());
        bytes
    }

    /// Bytes up to the last one that isn't zero.
    pub(super) fn length(self) -> usize {
        Self::BYTES - self.to_bytes().iter().rev().take_while(|byte| **byte == 0).count()
    }

    /// Missing bytes at the end are zero.
    pub(super) fn from_prefix(prefix: &[u8]) -> Self {
        let number = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| number << 8 | u128::from(*byte));
        let byte = |at| prefix.get(at).copied().unwrap_or_default();
        let bytes: [u8; Self::BYTES] = std::array::from_fn(byte);
        let (score, id) = bytes.split_at(Self::BYTES / 2);
        Self { score: number(score), id: number(id) }
    }

    /// The shortest key above `left` and not above this one: a bound between the two takes few bytes.
    pub(super) fn shortest_above(self, left: Self) -> Self {
        let bytes = self.to_bytes();
        let shared = shared_prefix(&left.to_bytes(), &bytes);
        Self::from_prefix(bytes.get(..=shared).unwrap_or(&bytes))
    }

    pub(in crate::store) fn from_text(text: &str) -> Option<Self> {
        let (score, id) = text.split_at_checked(Self::BYTES)?;
        let number = |digits| u128::from_str_radix(digits, 16).ok();
        Some(Self { score: number(score)?, id: number(id)? })
    }
}

pub(super) fn shared_prefix(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}
