/// Sort key of a member: by score, then by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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

    /// Least key with this score.
    pub const fn at_least(score: u128) -> Self {
        Self { score, id: 0 }
    }
}
