//! Receivers that hang, fail, lie and redirect don't delay others.

use std::time::Duration;

use serde_json::json;
use shared::{
    model::{ArtistId, DeliveryId, WebhookId, WebhookStatus},
    store::{Deliveries, Delivery, Table, Webhook, WebhookQueue, Webhooks},
};
use tests::{Sandbox, Stack};

use super::{
    receiver::{Receiver, liar},
    unix_now,
};

const ARTISTS: usize = 10;
const EACH: usize = 10;

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

/// Tables of a worker of its own.
struct Tables {
    webhooks: Webhooks,
    deliveries: Deliveries,
    queue: WebhookQueue,
}

impl Tables {
    async fn of(sandbox: &Sandbox) -> Self {
        let table = Table::new(&sandbox.endpoints.sdk_config(&sandbox.endpoints.dynamodb).await, "ArtistTable");
        let (webhooks, deliveries) = (Webhooks::new(table.clone()), Deliveries::new(table.clone()));
        Self { webhooks, deliveries, queue: WebhookQueue::new(table) }
    }

    /// A webhook that so many events wait for.
    async fn webhook(&self, artist: ArtistId, url: &str, events: u64) -> WebhookId {
        let now = unix_now();
        let webhook = Webhook {
            id: WebhookId::next(),
            url: url.parse().expect("a URL"),
            description: Default::default(),
            types: Vec::new(),
            collection: None,
            created_at: now,
            status: WebhookStatus::Active,
            generation: 0,
            rotated_at: None,
        };
        self.webhooks.add(artist, &webhook).await.expect("a webhook");
        let waiting = (0..events).map(|event| {
            let id = DeliveryId::of_tick(((now * 1_000) << 12) + event);
            let body = json!({"number": event}).to_string();
            (artist, Delivery::new(id, webhook.id, id.to_string(), "x".to_owned(), body, now))
        });
        self.deliveries.add(&waiting.collect::<Vec<_>>()).await.expect("rows");
        self.queue.note_added(artist, webhook.id).await.expect("a row");
        webhook.id
    }
}

#[tokio::test]
async fn hostile_receivers_cost_others_nothing() {
    send_among_hostile_receivers(4).await;
}

#[tokio::test]
#[ignore = "takes minutes"]
async fn hostile_receivers_cost_others_nothing_of_ten_thousand_events() {
    send_among_hostile_receivers(100).await;
}

/// Sends so many events to each of a hundred webhooks.
async fn send_among_hostile_receivers(events: u64) {
    let (stack, receiver, liar) = (Stack::connect(), Receiver::start().await, liar().await);
    let sandbox = Sandbox::with_empty_tables(&stack, "deliver-webhooks").await;
    let tables = Tables::of(&sandbox).await;
    let (now, mut made) = (unix_now(), Vec::new());
    for number in 0..ARTISTS {
        let artist = ArtistId::random();
        for place in 0..EACH {
            let path = path(number, place);
            let url = match path.strip_prefix("/lie") {
                Some(_) => format!("{liar}/{}/x", number / 2 % 2),
                None => format!("{}{path}", receiver.url),
            };
            made.push((artist, tables.webhook(artist, &url, events).await, path));
        }
    }
    let deliveries = tables.deliveries;
    // Until nothing is left that is due; a run ends before its function would be stopped.
    let mut delivered = 0;
    while delivered < 75 * events {
        let done = sandbox.invoke(&json!({})).await;
        delivered += done["delivered"].as_u64().expect("a number");
        assert_ne!(done["delivered"], 0, "{delivered} of {} were delivered", 75 * events);
    }

    let messages = receiver.messages();
    let numbers = |wanted: &str| -> Vec<u64> {
        let of_path = messages.iter().filter(|message| message.path == wanted);
        of_path.map(|message| message.json()["number"].as_u64().expect("a number")).collect()
    };
    for (artist, webhook, path) in &made {
        let rows = deliveries.list(*artist, *webhook, None, 200, now).await.expect("rows");
        assert_eq!(rows.len() as u64, events, "{path}: none is lost");
        let delivered = rows.iter().filter(|row| row.status == shared::model::DeliveryStatus::Delivered).count();
        let last = rows.last().and_then(|row| row.last.clone());
        match path.split('/').nth(1) {
            Some("good") => assert_eq!(numbers(path), (0..events).collect::<Vec<_>>(), "{path}"),
            Some("lie") => assert_eq!(delivered as u64, events, "{path}: its answers came"),
            Some("hang") => {
                assert_eq!((numbers(path).iter().sum::<u64>(), delivered), (0, 0), "{path}");
                assert_eq!(last.and_then(|last| last.error).as_deref(), Some("no answer within 10 seconds"));
            }
            Some(kind) => {
                assert!(delivered == 0 && numbers(path).iter().all(|number| *number == 0), "{path}: later ones wait");
                let status = if kind == "fail" { 500 } else { 307 };
                assert_eq!(last.and_then(|last| last.status), Some(status), "{path}");
            }
            None => panic!("{path}"),
        }
    }
    assert!(messages.iter().all(|message| message.path != "/private"), "a redirect was followed");
    assert_eq!(delivered, 75 * events);
}

#[tokio::test]
async fn a_worker_that_is_killed_loses_nothing_and_repeats_with_the_same_id() {
    const WEBHOOKS: usize = 3;
    const MANY: u64 = 150;
    let (stack, receiver) = (Stack::connect(), Receiver::start().await);
    let sandbox = Sandbox::with_empty_tables(&stack, "deliver-webhooks").await;
    let (tables, artist) = (Tables::of(&sandbox).await, ArtistId::random());
    for number in 0..WEBHOOKS {
        tables.webhook(artist, &format!("{}/{number}", receiver.url), MANY).await;
    }
    for milliseconds in [300, 4_700] {
        sandbox.kill_after(Duration::from_millis(milliseconds), &json!({})).await;
    }
    let before = receiver.messages().len() as u64;
    sandbox.invoke(&json!({})).await;
    let messages = receiver.messages();
    for number in 0..WEBHOOKS {
        let of_webhook = messages.iter().filter(|message| message.path == format!("/{number}"));
        let mut told: Vec<_> =
            of_webhook.map(|message| (message.json()["number"].as_u64(), message.id().to_owned())).collect();
        told.dedup();
        let numbers: Vec<_> = told.iter().filter_map(|(number, _)| *number).collect();
        assert_eq!(numbers, (0..MANY).collect::<Vec<_>>(), "in order, and each with one id");
    }
    assert!(before < WEBHOOKS as u64 * MANY, "it was killed too late to have lost anything");
}
