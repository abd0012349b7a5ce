use std::{ops::Range, time::Duration};

use tokio::time::Instant;

use crate::{
    clock, deadline,
    http::Request,
    model::ArtistId,
    store::{
        artist::{Transaction, Transactions},
        secret::{MAX_NETWORK_WAITS, MAX_PROVIDER_WAITS, MAX_WAITS, WaitPlace, Waits},
    },
    telemetry,
};

const PATIENCE: Duration = Duration::from_secs(20);
/// Time that is kept for the answer.
const ANSWER: Duration = Duration::from_millis(500);
const SHORT_PAUSE: Duration = Duration::from_millis(100);
const LONG_PAUSE: Duration = Duration::from_millis(200);

/// Places of an artist in which requests wait for outcomes, behind those for events.
const OF_ARTIST: Range<u8> = MAX_WAITS..MAX_WAITS + 2;
/// The same of a network: a quarter of what a function that is reserved twenty executions answers at a time.
const OF_NETWORK: Range<u8> = MAX_NETWORK_WAITS..MAX_NETWORK_WAITS + 5;
/// The same of a provider: half.
const OF_PROVIDER: Range<u8> = MAX_PROVIDER_WAITS..MAX_PROVIDER_WAITS + 10;

/// What is known of transactions when all are final or the request's patience ends. Never fails: they are queued.
pub(super) async fn follow(store: &Transactions, transactions: Vec<Transaction>) -> Vec<Transaction> {
    with_hashes(store, wait(store, transactions).await).await
}

/// The same in a place of the request's artist, network and provider; at once if one of them has none left.
pub(super) async fn follow_in_place(
    store: &Transactions,
    waits: &Waits,
    (request, artist): (&Request, ArtistId),
    transactions: Vec<Transaction>,
) -> Vec<Transaction> {
    let is_over = transactions.iter().all(|transaction| transaction.status.is_final());
    let places = if is_over { None } else { places(waits, request, artist).await };
    let Some(places) = places else { return with_hashes(store, transactions).await };
    let transactions = follow(store, transactions).await;
    if let Err(error) = waits.give_back(&places).await {
        tracing::warn!(error = telemetry::chain(&error), "places of a request that waited not given back");
    }
    transactions
}

async fn places(waits: &Waits, request: &Request, artist: ArtistId) -> Option<Vec<WaitPlace>> {
    let now = clock::now().ok()?.as_secs();
    let own = [(artist.to_string(), OF_ARTIST), (request.widest_network(), OF_NETWORK)];
    let provider = request.client_provider().map(|(block, _)| (block, OF_PROVIDER));
    let holders: Vec<_> = own.into_iter().chain(provider).collect();
    // A little more, for what comes after the wait.
    match waits.take(&holders, now + PATIENCE.as_secs() + 5, now).await {
        Ok(taken) => taken.ok(),
        Err(error) => {
            tracing::warn!(error = telemetry::chain(&error), "no place taken for a request to wait in");
            None
        }
    }
}

async fn with_hashes(store: &Transactions, mut transactions: Vec<Transaction>) -> Vec<Transaction> {
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
