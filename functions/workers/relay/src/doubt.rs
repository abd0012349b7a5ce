use shared::chain::node::NodeFault;

use crate::lane::Lane;

/// What nodes have against a batch that another one accepted. Either they lie, or that one forgot it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Doubts {
    /// Its nonce is used.
    pub(crate) is_used: bool,
    /// Its fees are too low.
    pub(crate) is_underpriced: bool,
    /// They will never take it.
    pub(crate) is_refused: bool,
    /// Its lane can't pay. The lane's balance says so, too.
    pub(crate) is_poor: bool,
}

impl Doubts {
    pub(crate) fn of(faults: &[NodeFault], lane: &Lane<'_>) -> Self {
        let has = |fault| faults.contains(&fault);
        Self {
            is_used: has(NodeFault::NonceTooLow),
            is_underpriced: has(NodeFault::FeeTooLow) || has(NodeFault::ReplacementUnderpriced),
            is_refused: has(NodeFault::Refused) || has(NodeFault::Unwilling),
            is_poor: has(NodeFault::InsufficientFunds) && !lane.owes().is_zero(),
        }
    }
}
