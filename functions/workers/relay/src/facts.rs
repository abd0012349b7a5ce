//! What transactions depend on, read for many of them at once: the leader serves all lanes, and can't wait for one call
//! after the other.

use std::collections::{HashMap, HashSet};

use alloy::primitives::Address;
use futures::{StreamExt, TryStreamExt, future::try_join_all, stream};
use shared::{
    chain::{
        protocol::{
            binding::Binding,
            provenance::{Origin, made_by},
            splits,
        },
        transaction::collections,
    },
    model::{self, Plan, TransactionId},
    store::artist::Transaction,
};

use crate::{
    chain::ChainRelay,
    error::{RelayError, retry_if_node},
};

/// Collections whose origin is looked for side by side.
const SIDE_BY_SIDE: usize = 16;

/// Facts of the newest block.
#[derive(Default)]
pub(crate) struct Facts {
    /// Next tokens of collections.
    pub(crate) next_tokens: HashMap<model::Address, Binding>,
    /// Splits that transactions would create: their addresses, and whether they are there by now.
    pub(crate) splits: HashMap<TransactionId, (Address, bool)>,
    /// Collections that transactions are about and no factory made.
    pub(crate) strangers: HashSet<Address>,
    /// Collections that a factory made, or only it can make, beyond those that were known.
    pub(crate) genuine: HashSet<Address>,
}

impl Facts {
    /// Reads what these transactions depend on, given the collections that a factory is known to have made. One call
    /// where all of it is there, and what [`Provenance::of`] takes for each other collection.
    ///
    /// [`Provenance::of`]: shared::chain::protocol::provenance::Provenance::of
    pub(crate) async fn read(
        relay: &ChainRelay,
        rows: &[&Transaction],
        known: &HashSet<Address>,
    ) -> Result<Self, RelayError> {
        let addresses = &relay.chain.addresses;
        let mut seen = HashSet::new();
        let plans = rows.iter().filter_map(|row| match &*row.plan {
            Plan::Tokens(tokens) if seen.insert(tokens.collection) => Some((tokens.collection, &*row.plan)),
            _ => None,
        });
        let next_tokens = plans.map(|(collection, plan)| async move {
            Ok::<_, RelayError>((collection, Binding::read(&relay.node, addresses, plan, None).await?))
        });
        let creations = rows.iter().filter_map(|row| {
            let creation = splits::creation(addresses.split_factory, &row.plan.outline(addresses))?;
            Some((row.id, creation))
        });
        let splits = creations.map(|(id, creation)| async move {
            let found = splits::find(&relay.node, addresses.split_factory, &creation).await?;
            Ok::<_, RelayError>((id, found))
        });
        let (next_tokens, splits, (genuine, strangers)) =
            tokio::try_join!(try_join_all(next_tokens), try_join_all(splits), origins(relay, rows, known))?;
        let (next_tokens, splits) = (next_tokens.into_iter().collect(), splits.into_iter().collect());
        Ok(Self { next_tokens, splits, strangers, genuine })
    }
}

/// Collections that transactions are about and that aren't known yet: those that a factory makes, and those that none
/// does. Of the others nothing is known before nodes and index have caught up.
async fn origins(
    relay: &ChainRelay,
    rows: &[&Transaction],
    known: &HashSet<Address>,
) -> Result<(HashSet<Address>, HashSet<Address>), RelayError> {
    let (mut unknown, mut made) = (HashSet::new(), Vec::new());
    for row in rows {
        let (account, calls) = (row.account.into(), row.plan.outline(&relay.chain.addresses));
        let named = collections(&relay.chain, account, &calls);
        if !named.iter().all(|collection| known.contains(collection)) {
            unknown.extend(named);
            made.push(async move { Ok(made_by(&relay.node, &relay.chain, account, &calls).await?) });
        }
    }
    let made = try_join_all(made).await.or_else(retry_if_node)?;
    let mut genuine: HashSet<_> = made.into_iter().flatten().collect();
    let unknown = unknown.into_iter().filter(|collection| !known.contains(collection) && !genuine.contains(collection));
    let origin = |collection: Address| async move {
        let origin = relay.provenance.of(&relay.node, &relay.chain, collection.into()).await.or_else(retry_if_node)?;
        if origin == Origin::Factory {
            relay.provenance.keep(&relay.chain, collection.into()).await?;
        }
        Ok::<_, RelayError>((collection, origin))
    };
    let found: Vec<_> =
        stream::iter(unknown.collect::<Vec<_>>()).map(origin).buffer_unordered(SIDE_BY_SIDE).try_collect().await?;
    let with = |wanted| found.iter().filter(move |(_, origin)| *origin == wanted).map(|(collection, _)| *collection);
    genuine.extend(with(Origin::Factory));
    Ok((genuine, with(Origin::Stranger).collect()))
}
