use shared::{chain::node::NodeFault, store::artist::Batch};

use crate::{chain::ChainRelay, error::RelayError, lane::Lane};

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
    /// At most two calls, none unless a node says that the lane can't pay.
    pub(crate) async fn of(
        faults: &[NodeFault],
        relay: &ChainRelay,
        lane: &Lane<'_>,
        batch: &Batch,
    ) -> Result<Self, RelayError> {
        let has = |fault| faults.contains(&fault);
        Ok(Self {
            is_used: has(NodeFault::NonceTooLow),
            is_underpriced: has(NodeFault::FeeTooLow) || has(NodeFault::ReplacementUnderpriced),
            is_refused: has(NodeFault::Refused) || has(NodeFault::Unwilling),
            is_poor: has(NodeFault::InsufficientFunds) && lane.is_short_of_money(relay, batch).await?,
        })
    }
}
