use std::time::Duration;

use tokio::time::Instant;

use crate::{
    deadline,
    store::artist::{Transaction, Transactions},
    telemetry,
};

const PATIENCE: Duration = Duration::from_secs(20);
/// Time that is kept for the answer.
const ANSWER: Duration = Duration::from_millis(500);
const SHORT_PAUSE: Duration = Duration::from_millis(100);
const LONG_PAUSE: Duration = Duration::from_millis(200);

/// What is known of transactions when all are final or the request's patience ends. Never fails: they are queued.
pub(super) async fn follow(store: &Transactions, transactions: Vec<Transaction>) -> Vec<Transaction> {
    let mut transactions = wait(store, transactions).await;
    if let Ok(Err(error)) = tokio::time::timeout(ANSWER / 2, store.add_hashes(&mut transactions)).await {
        tracing::warn!(error = telemetry::chain(&error), "hashes of a request's transactions not read");
    }
    transactions
}

async fn wait(store: &Transactions, mut transactions: Vec<Transaction>) -> Vec<Transaction> {
    let patience = deadline::left().map_or(PATIENCE, |left| left.saturating_sub(ANSWER).min(PATIENCE));
    let (end, mut pause) = (Instant::now() + patience, SHORT_PAUSE);
    loop {
        let open = transactions.iter().filter(|transaction| !transaction.status.is_final());
        let open: Vec<_> = open.map(|transaction| (transaction.artist_id, transaction.id)).collect();
        if open.is_empty() || Instant::now() + pause > end {
            return transactions;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 5 / 4).min(LONG_PAUSE);
        match tokio::time::timeout_at(end, store.get_many(&open)).await {
            Ok(Ok(read)) => update(&mut transactions, read),
            Ok(Err(error)) => tracing::warn!(
                error = telemetry::chain(&error),
                "outcomes of a request's transactions not read, and read again"
            ),
            Err(_) => return transactions,
        }
    }
}

fn update(transactions: &mut [Transaction], read: Vec<Transaction>) {
    for new in read {
        if let Some(old) = transactions.iter_mut().find(|old| old.id == new.id) {
            *old = new;
        }
    }
}
