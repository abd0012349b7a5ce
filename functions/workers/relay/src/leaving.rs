//! Admins who leave a moment or a collection: endpoints let two of them leave at once, who rely on each other.

use shared::{
    chain::protocol::admins::{has_other_admins, last_admin},
    model::{MomentEdit, MomentRef, MomentUpdate, Plan},
    store::artist::Transaction,
};

use crate::{
    chain::ChainRelay,
    draft::Draft,
    error::RelayError,
    lane::{Lane, head_after},
};

/// Whether an admin may leave.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) enum Departure {
    /// Another one stays, or the transaction lets nobody leave.
    Allowed,
    /// No block has all that was changed there before, or the index lacks the collection.
    #[default]
    Unknown,
    /// The last one stays, with this reason, unless the node or the index lags.
    Refused(String),
}

impl Departure {
    /// Decides about a transaction that isn't in a batch. Who revokes somebody else's permission stays an admin: the
    /// contract asks for that. For whoever leaves what [`head_after`] and [`has_other_admins`] take.
    pub(crate) async fn of(
        relay: &ChainRelay,
        lanes: &[Lane<'_>],
        row: &Transaction,
        draft: &Draft,
    ) -> Result<Self, RelayError> {
        let Plan::Moment(MomentUpdate { collection, token, edit: MomentEdit::RevokeAdmin(admin) }) = &*row.plan else {
            return Ok(Self::Allowed);
        };
        let Some(key) = row.plan.concurrency_key().filter(|_| *admin == row.account) else {
            return Ok(Self::Allowed);
        };
        // Those before it in this batch may leave, or revoke the others' permissions.
        if draft.members.iter().any(|member| member.concurrency_key == Some(key)) {
            return Ok(Self::Unknown);
        }
        let Some(block) = head_after(relay, lanes, key).await? else { return Ok(Self::Unknown) };
        let place = MomentRef { chain: relay.chain.id, collection: *collection, token: *token };
        let sources = (relay.provenance.moments(), &relay.node, &relay.chain);
        Ok(match has_other_admins::<RelayError>(sources, &place, *admin, Some(block)).await? {
            Some(true) => Self::Allowed,
            Some(false) => Self::Refused(last_admin(&place)),
            None => Self::Unknown,
        })
    }
}
