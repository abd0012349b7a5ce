//! What transactions depend on, read for many of them side by side: the leader serves all lanes, and can't wait for one
//! call after the other.

use std::collections::{HashMap, HashSet};

use alloy::primitives::Address;
use futures::{StreamExt, TryStreamExt, stream};
use shared::{
    chain::protocol::{binding::Binding, splits},
    model::{self, Plan, TransactionId},
    store::artist::Transaction,
};

use crate::{chain::ChainRelay, error::RelayError};

/// Calls at a time.
const SIDE_BY_SIDE: usize = 16;

/// Facts of the newest block.
#[derive(Default)]
pub(crate) struct Facts {
    /// Next tokens of collections.
    pub(crate) next_tokens: HashMap<model::Address, Binding>,
    /// Splits that transactions would create: their addresses, and whether they are there by now.
    pub(crate) splits: HashMap<TransactionId, (Address, bool)>,
}

impl Facts {
    /// Reads what these transactions depend on. One call for each collection and each split.
    pub(crate) async fn read(relay: &ChainRelay, rows: &[&Transaction]) -> Result<Self, RelayError> {
        let addresses = &relay.chain.addresses;
        let mut seen = HashSet::new();
        let plans = rows.iter().filter_map(|row| match &row.plan {
            Plan::Tokens(tokens) if seen.insert(tokens.collection) => Some((tokens.collection, &row.plan)),
            _ => None,
        });
        let plans: Vec<_> = plans.collect();
        let next_tokens = stream::iter(plans)
            .map(|(collection, plan)| async move {
                Ok::<_, RelayError>((collection, Binding::read(&relay.node, addresses, plan, None).await?))
            })
            .buffer_unordered(SIDE_BY_SIDE)
            .try_collect();
        let creations = rows.iter().filter_map(|row| {
            let creation = splits::creation(addresses.split_factory, &row.plan.outline(addresses))?;
            Some((row.id, creation))
        });
        let creations: Vec<_> = creations.collect();
        let splits = stream::iter(creations)
            .map(|(id, creation)| async move {
                let found = splits::find(&relay.node, addresses.split_factory, &creation).await?;
                Ok::<_, RelayError>((id, found))
            })
            .buffer_unordered(SIDE_BY_SIDE)
            .try_collect();
        let (next_tokens, splits) = tokio::try_join!(next_tokens, splits)?;
        Ok(Self { next_tokens, splits })
    }
}
