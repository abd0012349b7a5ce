//! What reads answer is what follows naively from the chain's own logs, after a history by chance in which blocks were
//! dropped. `SEED` says which history.

mod service;
mod told;

use std::{cmp::Reverse, collections::BTreeMap, env};

use alloy::primitives::Address;
use serde_json::{Value, json};
use tests::{Ground, Stack, history::History};

use self::{
    service::Service,
    told::{Payment, Told, decimal, iso_8601},
};

/// Deeper than the blocks that are dropped.
const REORG_DEPTH: u64 = 32;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_answer_what_the_chain_says() {
    let seed = env::var("SEED").map_or(11, |seed| seed.parse().expect("a number"));
    println!("SEED={seed}");
    let (stack, ground) = (Stack::connect(), Ground::start("answers", REORG_DEPTH).await.expect("a chain"));
    let service = Service::on(&stack, &ground).await;
    let mut history = History::on(&ground, seed).await.expect("people");
    for _ in 0..2 {
        history.go_on(300).await.expect("a history");
        service.index().await;
        ground.reorganise(20).await.expect("dropped blocks");
        history.forget_dropped().await.expect("a history");
        history.go_on(150).await.expect("a history");
        ground.finalise().await.expect("final blocks");
        service.index().await;
        service.rank().await;
        let (told, people) = (Told::by(&ground).await.expect("the chain's logs"), &history.people);
        let counts = [told.collections.len(), told.moments.len(), told.payments.len(), told.comments.len()];
        assert!(counts.iter().all(|count| *count >= 5), "too little happened: {counts:?}");
        collections(&service, &told, people).await;
        moments(&service, &told).await;
        timelines(&service, &told, people).await;
        payments(&service, &told, people).await;
        collectors(&service, &told, people).await;
        comments(&service, &told).await;
    }
}

/// An object with these fields alone.
fn part(row: &Value, fields: &[&str]) -> Value {
    fields.iter().map(|field| ((*field).to_owned(), row[*field].clone())).collect()
}

fn parts(rows: &[Value], fields: &[&str]) -> Vec<Value> {
    rows.iter().map(|row| part(row, fields)).collect()
}

/// The query for each person's rows and for everybody's.
fn by_artist(people: &[Address]) -> Vec<(Option<Address>, String)> {
    let of_each = people.iter().map(|person| (Some(*person), format!("artist={person:#x}")));
    of_each.chain([(None, String::new())]).collect()
}

async fn collections(service: &Service, told: &Told, people: &[Address]) {
    const FIELDS: [&str; 8] = ["address", "admins", "created_at", "creator", "id", "name", "protocol", "uri"];
    for (artist, query) in by_artist(people) {
        let shown = service.pages("list-collections", &query, "collections").await;
        let meant = told.collections.iter().rev().filter(|it| artist.is_none_or(|artist| artist == it.creator));
        let expected: Vec<Value> = meant
            .map(|it| {
                json!({
                    "address": it.address, "admins": it.admins, "created_at": iso_8601(it.time),
                    "creator": {"address": it.creator, "username": ""}, "id": it.id, "name": it.name,
                    "protocol": "native", "uri": it.uri,
                })
            })
            .map(told::in_lower_case)
            .collect();
        assert_eq!(parts(&shown, &FIELDS), expected, "collections {query}");
        for collection in &shown {
            let alone = service.collection(collection["address"].as_str().expect("an address")).await;
            assert_eq!(alone, *collection);
        }
    }
}

async fn moments(service: &Service, told: &Told) {
    const FIELDS: [&str; 8] = ["admins", "comments", "created_at", "creator", "id", "sale", "supply", "uri"];
    for moment in &told.moments {
        let query = format!("collectionAddress={:#x}&tokenId={}", moment.collection, moment.token);
        let shown = service.get("read-moment", &query).await;
        let total = moment.minted - moment.burned;
        let expected = json!({
            "admins": told.admins(moment), "comments": told.top_level(moment).count(),
            "created_at": iso_8601(moment.time), "creator": {"address": moment.creator, "username": ""},
            "id": moment.id, "sale": moment.sale, "uri": moment.uri,
            "supply": {
                "max": moment.max_supply.to_string(), "minted": moment.minted.to_string(), "total": total.to_string(),
            },
        });
        assert_eq!(part(&shown, &FIELDS), told::in_lower_case(expected), "{query}");
    }
}

async fn timelines(service: &Service, told: &Told, people: &[Address]) {
    let mut newest_first: Vec<_> = told.moments.iter().collect();
    newest_first.sort_by_key(|moment| Reverse((moment.time, moment.token, moment.id.as_u128())));
    for (artist, query) in by_artist(people) {
        for kind in ["", "default", "mutual"] {
            let is_meant = |made: bool, is_admin: bool| match kind {
                "default" => made,
                "mutual" => is_admin && !made,
                _ => made || is_admin,
            };
            let Some(artist) = artist else { continue };
            let meant = newest_first.iter().filter(|moment| {
                let is_admin = told.admins(moment).contains(&artist);
                is_meant(moment.creator == artist, is_admin)
            });
            let expected: Vec<Value> = meant.map(|moment| json!(moment.id)).collect();
            let query = if kind.is_empty() { query.clone() } else { format!("{query}&type={kind}") };
            assert_eq!(ids(&service.pages("list-timeline", &query, "moments").await), expected, "{query}");
        }
    }
    let all: Vec<Value> = newest_first.iter().map(|moment| json!(moment.id)).collect();
    assert_eq!(ids(&service.pages("list-timeline", "", "moments").await), all);
    for collection in &told.collections {
        let of_it = newest_first.iter().filter(|moment| moment.collection == collection.address);
        let expected: Vec<Value> = of_it.map(|moment| json!(moment.id)).collect();
        let query = format!("collection={:#x}", collection.address);
        assert_eq!(ids(&service.pages("list-timeline", &query, "moments").await), expected, "{query}");
    }
}

fn ids(rows: &[Value]) -> Vec<Value> {
    rows.iter().map(|row| row["id"].clone()).collect()
}

async fn payments(service: &Service, told: &Told, people: &[Address]) {
    let show = |payment: &Payment| {
        told::in_lower_case(json!([
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
        let expected: Vec<Value> = told.payments.iter().rev().filter(of).map(show).collect();
        assert_eq!(shown(&paid), expected, "notifications {of_artist}");
        for notification in &notifications {
            assert_eq!(notification["artist"]["address"], notification["payment"]["moment"]["collection"]["creator"]);
            assert_eq!(notification["viewed"], false);
        }
        for (collector, of_collector) in by_artist(people) {
            let of_collector = of_collector.replace("artist=", "collector=");
            let query = format!("{of_artist}&{of_collector}");
            let by = |payment: &&Payment| collector.is_none_or(|collector| collector == payment.buyer);
            let expected: Vec<Value> = told.payments.iter().rev().filter(of).filter(by).map(show).collect();
            assert_eq!(shown(&service.pages("list-payments", &query, "payments").await), expected, "payments {query}");
        }
    }
}

async fn collectors(service: &Service, told: &Told, people: &[Address]) {
    for (artist, of_artist) in by_artist(people) {
        let mut spent: BTreeMap<_, told::Spent> = BTreeMap::new();
        for payment in told.payments.iter().filter(|it| artist.is_none_or(|artist| artist == it.moment_creator)) {
            spent.entry(told::artist_id(payment.buyer)).or_default().add(payment);
        }
        for sort_by in ["collected_count", "eth_spent", "usdc_spent"] {
            for order in ["desc", "asc"] {
                let mut ranked: Vec<_> = spent.iter().collect();
                // Those who are equal stay in the order of their ids.
                ranked.sort_by_key(|(_, spent)| spent.by(sort_by));
                if order == "desc" {
                    ranked.sort_by_key(|(_, spent)| Reverse(spent.by(sort_by)));
                }
                let expected: Vec<Value> = ranked.into_iter().map(|(id, spent)| spent.shown(*id)).collect();
                let query = format!("{of_artist}&sort_by={sort_by}&sort_order={order}");
                assert_eq!(service.pages("list-collectors", &query, "collectors").await, expected, "{query}");
            }
        }
    }
}

async fn comments(service: &Service, told: &Told) {
    for moment in &told.moments {
        let query = format!("collectionAddress={:#x}&tokenId={}", moment.collection, moment.token);
        let mut newest_first: Vec<Value> = told.top_level(moment).map(|top| told.shown(top)).collect();
        newest_first.reverse();
        assert_eq!(service.comments(&query).await, newest_first, "{query}");
        for parent in
            told.comments.iter().filter(|comment| comment.is_on(moment)).filter_map(|comment| comment.comment_id)
        {
            let query = format!("{query}&replyToId={parent:#x}");
            let expected: Vec<Value> = told.replies(parent).map(told::Comment::alone).collect();
            assert_eq!(service.comments(&query).await, expected, "{query}");
        }
    }
}
