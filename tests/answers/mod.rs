//! Reads match a naive reading of the chain's logs after a random history with a reorganisation. `SEED` selects the
//! history.

mod log_oracle;
mod service;

use std::{cmp::Reverse, collections::BTreeMap, env};

use alloy::primitives::Address;
use serde_json::{Value, json};
use tests::{Stack, TestChain, history::History};

use self::{
    log_oracle::{LogOracle, Payment, decimal, iso_8601},
    service::Service,
};

/// Deeper than the test's reorganisations.
const REORG_DEPTH: u64 = 32;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_match_the_chain_s_logs() {
    let seed = env::var("SEED").map_or(11, |seed| seed.parse().expect("a number"));
    println!("SEED={seed}");
    let (stack, test_chain) = (Stack::connect(), TestChain::start("answers", REORG_DEPTH).await.expect("a chain"));
    let service = Service::on(&stack, &test_chain).await;
    let mut history = History::on(&test_chain, seed).await.expect("people");
    for _ in 0..2 {
        history.go_on(300).await.expect("a history");
        service.index().await;
        test_chain.reorganise(20).await.expect("dropped blocks");
        history.forget_dropped().await.expect("a history");
        history.go_on(150).await.expect("a history");
        test_chain.finalise().await.expect("final blocks");
        service.index().await;
        service.rank().await;
        let (oracle, people) = (LogOracle::by(&test_chain).await.expect("the chain's logs"), &history.people);
        let counts = [oracle.collections.len(), oracle.moments.len(), oracle.payments.len(), oracle.comments.len()];
        assert!(counts.iter().all(|count| *count >= 5), "too little happened: {counts:?}");
        collections(&service, &oracle, people).await;
        moments(&service, &oracle).await;
        timelines(&service, &oracle, people).await;
        payments(&service, &oracle, people).await;
        collectors(&service, &oracle, people).await;
        comments(&service, &oracle).await;
    }
}

/// An object with only these fields.
fn part(row: &Value, fields: &[&str]) -> Value {
    fields.iter().map(|field| ((*field).to_owned(), row[*field].clone())).collect()
}

fn parts(rows: &[Value], fields: &[&str]) -> Vec<Value> {
    rows.iter().map(|row| part(row, fields)).collect()
}

/// The queries for each account's rows and for all rows.
fn by_artist(people: &[Address]) -> Vec<(Option<Address>, String)> {
    let of_each = people.iter().map(|person| (Some(*person), format!("artist={person:#x}")));
    of_each.chain([(None, String::new())]).collect()
}

async fn collections(service: &Service, oracle: &LogOracle, people: &[Address]) {
    const FIELDS: [&str; 8] = ["address", "admins", "created_at", "creator", "id", "name", "protocol", "uri"];
    for (artist, query) in by_artist(people) {
        let shown = service.pages("list-collections", &query, "collections").await;
        let meant = oracle.collections.iter().rev().filter(|it| artist.is_none_or(|artist| artist == it.creator));
        let expected: Vec<Value> = meant
            .map(|it| {
                json!({
                    "address": it.address, "admins": it.admins, "created_at": iso_8601(it.time),
                    "creator": {"address": it.creator, "username": ""}, "id": it.id, "name": it.name,
                    "protocol": "native", "uri": it.uri,
                })
            })
            .map(log_oracle::in_lower_case)
            .collect();
        assert_eq!(parts(&shown, &FIELDS), expected, "collections {query}");
        for collection in &shown {
            let alone = service.collection(collection["address"].as_str().expect("an address")).await;
            assert_eq!(alone, *collection);
        }
    }
}

async fn moments(service: &Service, oracle: &LogOracle) {
    const FIELDS: [&str; 8] = ["admins", "comments", "created_at", "creator", "id", "sale", "supply", "uri"];
    for moment in &oracle.moments {
        let query = format!("collectionAddress={:#x}&tokenId={}", moment.collection, moment.token);
        let shown = service.get("read-moment", &query).await;
        let total = moment.minted - moment.burned;
        let expected = json!({
            "admins": oracle.admins(moment), "comments": oracle.top_level(moment).count(),
            "created_at": iso_8601(moment.time), "creator": {"address": moment.creator, "username": ""},
            "id": moment.id, "sale": moment.sale, "uri": moment.uri,
            "supply": {
                "max": moment.max_supply.to_string(), "minted": moment.minted.to_string(), "total": total.to_string(),
            },
        });
        assert_eq!(part(&shown, &FIELDS), log_oracle::in_lower_case(expected), "{query}");
    }
}

async fn timelines(service: &Service, oracle: &LogOracle, people: &[Address]) {
    let mut newest_first: Vec<_> = oracle.moments.iter().collect();
    newest_first.sort_by_key(|moment| Reverse((moment.time, moment.token, moment.id.as_u128())));
    // Nobody of them is an artist here, so that no admin but the creator has timelines.
    for (artist, query) in by_artist(people) {
        for kind in ["", "default", "mutual"] {
            let Some(artist) = artist else { continue };
            let meant = newest_first.iter().filter(|moment| kind != "mutual" && moment.creator == artist);
            let expected: Vec<Value> = meant.map(|moment| json!(moment.id)).collect();
            let query = if kind.is_empty() { query.clone() } else { format!("{query}&type={kind}") };
            assert_eq!(ids(&service.pages("list-timeline", &query, "moments").await), expected, "{query}");
        }
    }
    let all: Vec<Value> = newest_first.iter().map(|moment| json!(moment.id)).collect();
    assert_eq!(ids(&service.pages("list-timeline", "", "moments").await), all);
    for collection in &oracle.collections {
        let of_it = newest_first.iter().filter(|moment| moment.collection == collection.address);
        let expected: Vec<Value> = of_it.map(|moment| json!(moment.id)).collect();
        let query = format!("collection={:#x}", collection.address);
        assert_eq!(ids(&service.pages("list-timeline", &query, "moments").await), expected, "{query}");
    }
}

fn ids(rows: &[Value]) -> Vec<Value> {
    rows.iter().map(|row| row["id"].clone()).collect()
}

async fn payments(service: &Service, oracle: &LogOracle, people: &[Address]) {
    let show = |payment: &Payment| {
        log_oracle::in_lower_case(json!([
            payment.id,
            decimal(payment.amount, payment.decimals()),
            payment.currency,
            payment.transaction,
            payment.moment,
            payment.token.to_string(),
            payment.collection,
            payment.creator,
            payment.buyer,
        ]))
    };
    let shown = |rows: &[Value]| -> Vec<Value> {
        let fields = |row: &Value| {
            let (moment, collection) = (&row["moment"], &row["moment"]["collection"]);
            json!([
                row["id"],
                row["amount"],
                row["currency"],
                row["transaction_hash"],
                moment["id"],
                moment["token_id"],
                collection["address"],
                collection["creator"],
                row["buyer"]["address"],
            ])
        };
        rows.iter().map(fields).collect()
    };
    for (artist, of_artist) in by_artist(people) {
        let of = |payment: &&Payment| artist.is_none_or(|artist| artist == payment.creator);
        let notifications = service.pages("list-notifications", &of_artist, "notifications").await;
        let paid: Vec<Value> = notifications.iter().map(|row| row["payment"].clone()).collect();
        let expected: Vec<Value> = oracle.payments.iter().rev().filter(of).map(show).collect();
        assert_eq!(shown(&paid), expected, "notifications {of_artist}");
        for notification in &notifications {
            assert_eq!(notification["artist"]["address"], notification["payment"]["moment"]["collection"]["creator"]);
            assert_eq!(notification["viewed"], false);
        }
        for (collector, of_collector) in by_artist(people) {
            let of_collector = of_collector.replace("artist=", "collector=");
            let query = format!("{of_artist}&{of_collector}");
            let by = |payment: &&Payment| collector.is_none_or(|collector| collector == payment.buyer);
            let expected: Vec<Value> = oracle.payments.iter().rev().filter(of).filter(by).map(show).collect();
            assert_eq!(shown(&service.pages("list-payments", &query, "payments").await), expected, "payments {query}");
        }
    }
}

async fn collectors(service: &Service, oracle: &LogOracle, people: &[Address]) {
    for (artist, of_artist) in by_artist(people) {
        let mut spent: BTreeMap<_, log_oracle::Spent> = BTreeMap::new();
        for payment in oracle.payments.iter().filter(|it| artist.is_none_or(|artist| artist == it.moment_creator)) {
            spent.entry(log_oracle::artist_id(payment.buyer)).or_default().add(payment);
        }
        for sort_by in ["collected_count", "eth_spent", "usdc_spent"] {
            for order in ["desc", "asc"] {
                let mut ranked: Vec<_> = spent.iter().collect();
                // Ties stay in ascending order of ids, since the sort is stable.
                ranked.sort_by_key(|(_, spent)| Reverse(spent.by(sort_by)));
                if order == "asc" {
                    ranked.reverse();
                }
                let expected: Vec<Value> = ranked.into_iter().map(|(id, spent)| spent.shown(*id)).collect();
                let query = format!("{of_artist}&sort_by={sort_by}&sort_order={order}");
                assert_eq!(service.pages("list-collectors", &query, "collectors").await, expected, "{query}");
            }
        }
    }
}

async fn comments(service: &Service, oracle: &LogOracle) {
    for moment in &oracle.moments {
        let query = format!("collectionAddress={:#x}&tokenId={}", moment.collection, moment.token);
        let mut newest_first: Vec<Value> = oracle.top_level(moment).map(|top| oracle.shown(top)).collect();
        newest_first.reverse();
        assert_eq!(service.comments(&query).await, newest_first, "{query}");
        for parent in
            oracle.comments.iter().filter(|comment| comment.is_on(moment)).filter_map(|comment| comment.comment_id)
        {
            let query = format!("{query}&replyToId={parent:#x}");
            let expected: Vec<Value> = oracle.replies(parent).map(log_oracle::Comment::alone).collect();
            assert_eq!(service.comments(&query).await, expected, "{query}");
        }
    }
}
