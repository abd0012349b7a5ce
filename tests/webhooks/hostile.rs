//! Receivers that hang, fail, lie and redirect don't delay others.

use std::{
    env,
    time::{Duration, Instant},
};

use shared::model::{ArtistId, DeliveryStatus, WebhookId};
use tests::Stack;

use super::{
    receiver::{Liar, Tally},
    world::World,
};

const ARTISTS: usize = 10;
const EACH: usize = 10;

/// Bytes that sockets may take of an answer that nobody reads.
const MOST_TAKEN: u64 = 8 << 20;

/// The path of a webhook among an artist's ten: one hangs, one fails, and of two artists one lies or redirects.
fn path(artist: usize, place: usize) -> String {
    let kind = match (place, artist % 2) {
        (0, _) => "hang",
        (1, _) => "fail",
        (2, 0) => "lie",
        (2, _) => "redirect",
        _ => "good",
    };
    format!("/{kind}/{artist}/{place}")
}

/// A webhook and the path of its receiver.
struct Subscriber {
    artist: usize,
    owner: ArtistId,
    webhook: WebhookId,
    path: String,
}

impl Subscriber {
    fn is(&self, kind: &str) -> bool {
        self.path.split('/').nth(1) == Some(kind)
    }
}

#[tokio::test]
async fn hostile_receivers_cost_others_nothing() {
    send_among_hostile_receivers(4).await;
}

#[tokio::test]
#[ignore = "takes minutes: EVENTS to each, 10,000 unless given"]
async fn hostile_receivers_cost_others_nothing_of_ten_thousand_events() {
    let events = env::var("EVENTS").ok().and_then(|events| events.parse().ok()).unwrap_or(10_000);
    send_among_hostile_receivers(events).await;
}

/// Sends so many events to each of a hundred webhooks.
async fn send_among_hostile_receivers(events: u64) {
    let (stack, tally, liar) = (Stack::connect(), Tally::start().await, Liar::start().await);
    let (mut world, mut subscribers) = (World::start(&stack, ARTISTS).await, Vec::new());
    for artist in 0..ARTISTS {
        for place in 0..EACH {
            let path = path(artist, place);
            let url = match path.strip_prefix("/lie") {
                Some(_) => format!("{}/{}", liar.url, ["long", "short", "endless"][artist / 2 % 3]),
                None => format!("{}{path}", tally.url),
            };
            let webhook = world.webhook(artist, &url).await;
            subscribers.push(Subscriber { artist, owner: world.artist(artist), webhook, path });
        }
    }
    world.tell(events).await;
    let (start, mut of_others) = (Instant::now(), Duration::ZERO);
    // A hundred thousand deliveries more may take a quarter of an hour more.
    let at_most = Duration::from_secs(20 * 60) + Duration::from_millis(events * 900);
    world
        .work_for(at_most, async {
            for good in subscribers.iter().filter(|subscriber| subscriber.is("good")) {
                while tally.count(&good.path) < events {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
            of_others = start.elapsed();
            for tried in subscribers.iter().filter(|subscriber| !subscriber.is("good")) {
                while !is_tried(tried, &world).await {
                    tokio::time::sleep(Duration::from_millis(500)).await;
                }
            }
        })
        .await;
    let good = subscribers.iter().filter(|subscriber| subscriber.is("good")).count() as u64 * events;
    println!("{good} deliveries to 70 good receivers in {of_others:?}, all in {:?}", start.elapsed());
    for subscriber in &subscribers {
        let (path, came) = (&subscriber.path, tally.came(&subscriber.path));
        let rows = world.all_deliveries(subscriber.artist, subscriber.webhook).await;
        assert_eq!(rows.len() as u64, events, "{path}: none is lost");
        let expected = world.sequences(subscriber.artist);
        if subscriber.is("good") {
            assert_eq!(came.iter().map(|(sequence, _)| *sequence).collect::<Vec<_>>(), expected, "{path}");
        } else if !subscriber.is("lie") {
            assert!(
                !came.is_empty() && came.iter().all(|first| *first == came[0]),
                "{path}: later ones wait: {came:?}"
            );
            assert_eq!(came[0].0, expected[0], "{path}");
        }
        let last = rows.last().and_then(|row| row.last.clone()).expect("a try");
        assert_eq!(
            (last.status, last.error.as_deref()),
            match path.split('/').nth(1) {
                Some("hang") => (None, Some("no answer within 10 seconds")),
                Some("fail") => (Some(500), None),
                Some("redirect") => (Some(307), None),
                _ => (Some(200), None),
            }
        );
        if subscriber.is("hang") {
            assert!(last.latency_ms >= 10_000, "{path}: {} ms", last.latency_ms);
        }
    }
    assert_eq!(tally.count("/private"), 0, "a redirect was followed");
    assert!(liar.most() < MOST_TAKEN, "{} bytes of an answer were taken", liar.most());
}

/// Whether a liar was told all, and any other one was tried.
async fn is_tried(subscriber: &Subscriber, world: &World) -> bool {
    let pending = world.deliveries.pending(subscriber.owner, subscriber.webhook, 1).await.expect("rows");
    if let Some(first) = pending.first() {
        return !subscriber.is("lie") && first.attempts > 0;
    }
    let rows = world.all_deliveries(subscriber.artist, subscriber.webhook).await;
    !rows.is_empty() && rows.iter().all(|row| row.status == DeliveryStatus::Delivered)
}

#[tokio::test]
async fn a_row_that_cannot_be_read_stops_nobody_else() {
    let (stack, tally) = (Stack::connect(), Tally::start().await);
    let mut world = World::start(&stack, 2).await;
    for artist in 0..2 {
        world.webhook(artist, &format!("{}/{artist}", tally.url)).await;
    }
    world.spoil_wallet(0).await;
    world.tell(3).await;
    world
        .work_until(async {
            while tally.count("/1") < 3 {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        })
        .await;
    assert_eq!(tally.count("/0"), 0);
}
