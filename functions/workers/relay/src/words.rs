//! Why transactions failed, in words: nodes are asked, and may not know.

use std::collections::{HashMap, HashSet};

use futures::{StreamExt, TryStreamExt, stream};
use shared::{
    chain::{
        node::Receipt,
        transaction::{Operation, failure, failures},
    },
    store::artist::Batch,
    telemetry,
};

use crate::{chain::ChainRelay, error::RelayError};

/// Operations whose words are looked for side by side.
const SIDE_BY_SIDE: usize = 16;

/// What is said of a transaction that no node has words for.
pub(crate) const UNEXPLAINED: &str = "The call failed on the chain";

/// Why operations failed, as far as a turn has time for that: other lanes wait meanwhile. `failed` has the positions of all
/// that did, with what gas they used; those in `overtaken` need no words. One call for all, up to three more for each
/// without words, side by side.
pub(crate) async fn reasons_in_time(
    relay: &ChainRelay,
    (batch, receipt): (&Batch, &Receipt),
    operations: &[Operation],
    failed: &[(usize, u64)],
    overtaken: &HashSet<usize>,
) -> Result<HashMap<usize, String>, RelayError> {
    let search = reasons(relay, (batch, receipt.block), operations, failed, overtaken);
    match tokio::time::timeout(relay.times.reason, search).await {
        Ok(found) => found,
        Err(_) if is_patience_over(relay, batch)? => Ok(HashMap::new()),
        Err(_) => Err(RelayError::Undecided),
    }
}

/// Whether nodes have been asked about a batch for long enough.
pub(crate) fn is_patience_over(relay: &ChainRelay, batch: &Batch) -> Result<bool, RelayError> {
    Ok(batch.created_at + relay.times.reason_patience.as_secs() < relay.now()?)
}

async fn reasons(
    relay: &ChainRelay,
    (batch, block): (&Batch, u64),
    operations: &[Operation],
    failed: &[(usize, u64)],
    overtaken: &HashSet<usize>,
) -> Result<HashMap<usize, String>, RelayError> {
    let (safe, lane) = (relay.operator.safe, batch.slot.lane.into());
    let mut unknown: Vec<_> = failed.iter().copied().filter(|(index, _)| !overtaken.contains(index)).collect();
    let mut words = HashMap::new();
    if unknown.len() > 1 {
        let indices: Vec<_> = failed.iter().map(|(index, _)| *index).collect();
        words.extend(failures(&relay.node, safe, lane, operations, &indices, block).await);
        unknown.retain(|(index, _)| !words.contains_key(index));
    }
    let find = |(index, gas)| async move {
        match failure(&relay.node, safe, lane, operations, index, (block, gas)).await {
            // The others' outcomes don't wait for its words for ever.
            Err(error) if is_patience_over(relay, batch)? => {
                let (chain, lane, nonce) = (batch.slot.chain, batch.slot.lane, batch.slot.nonce);
                tracing::warn!(
                    chain.id = chain.0, %lane, nonce, error = telemetry::chain(&error),
                    "reason of a failed call not found in the batch with nonce {nonce} of lane {lane} on chain {chain}"
                );
                Ok((index, UNEXPLAINED.to_owned()))
            }
            found => Ok::<_, RelayError>((index, found?)),
        }
    };
    let found: Vec<_> = stream::iter(unknown).map(find).buffered(SIDE_BY_SIDE).try_collect().await?;
    words.extend(found);
    Ok(words)
}
