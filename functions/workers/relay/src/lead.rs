use std::time::{Duration, Instant};

use shared::{
    model::ChainId,
    store::{Lease, StoreError, Transactions},
};

/// Time without a sign of life after which a leader counts as dead. By this process's clock alone.
const SILENCE: Duration = Duration::from_secs(4);

const LOOK: Duration = Duration::from_millis(250);

/// Takes the lead on a chain, also from a leader who died; `None` as soon as another one is seen alive. That one looks
/// at the queue again before it ends, so a caller who queued something before needn't do more.
pub(crate) async fn take(
    transactions: &Transactions,
    chain: ChainId,
    holder: &str,
) -> Result<Option<Lease>, StoreError> {
    let seen = transactions.standing(chain).await?;
    let since = Instant::now();
    let mut now = seen.clone();
    loop {
        // A lead of this very process is one that it couldn't give back.
        let is_free = now.holder.is_empty() || now.holder == holder;
        if is_free || (now == seen && since.elapsed() >= SILENCE) {
            return transactions.take_lead(chain, holder, &now).await;
        }
        if now != seen {
            return Ok(None);
        }
        tokio::time::sleep(LOOK).await;
        now = transactions.standing(chain).await?;
    }
}
