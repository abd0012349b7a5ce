//! Tables of their own with artists, webhooks and a log, and a worker that nothing but the test wakes.

use std::{collections::HashMap, future::Future, io::Write, time::Duration};

use aws_sdk_dynamodb::{
    primitives::Blob,
    types::{AttributeValue, PutRequest, WriteRequest},
};
use flate2::{Compression, write::DeflateEncoder};
use local::recorder::Recorder;
use serde_json::json;
use shared::{
    model::{Address, ArtistEvent, ArtistId, DeliveryId, Event, EventData, LogId, WebhookId},
    store::artist::{ArtistTable, Deliveries, Delivery, FanOutProgress, Webhook, WebhookQueue, Webhooks},
};
use tests::{DatabaseProxy, Sandbox, Stack};

use super::unix_now;

const TABLE: &str = "ArtistTable";

/// Events of a row of the log, at most.
const OF_A_ROW: u64 = 100;

pub struct World {
    pub sandbox: Sandbox,
    /// What the worker's calls of the database go through.
    pub proxy: DatabaseProxy,
    pub recorder: Recorder,
    /// URL of the database.
    pub database: String,
    pub webhooks: Webhooks,
    pub deliveries: Deliveries,
    pub queue: WebhookQueue,
    pub fan_out: FanOutProgress,
    pub client: aws_sdk_dynamodb::Client,
    /// Seconds since what is told happened.
    pub age: u64,
    artists: Vec<(ArtistId, Address)>,
    told: u64,
    log: LogId,
}

pub fn text(value: impl ToString) -> AttributeValue {
    AttributeValue::S(value.to_string())
}

fn event_id(number: u64) -> String {
    uuid::Uuid::from_u128(u128::from(number)).to_string()
}

/// Stores whose wallet it is.
pub async fn own(client: &aws_sdk_dynamodb::Client, wallet: Address, address: AttributeValue, artist: AttributeValue) {
    let call = client.put_item().table_name(TABLE).item("pk", text(format!("WALLET#{wallet}")));
    let call = call.item("sk", text("ARTIST")).item("address", address).item("username", text(""));
    call.item("artist_id", artist).send().await.expect("a row");
}

impl World {
    /// With so many artists.
    pub async fn start(stack: &Stack, artists: usize) -> Self {
        let (database, proxy) = (tests::empty_tables(stack).await, DatabaseProxy::start().await.expect("a proxy"));
        let recorder = Recorder::in_front_of(&database.endpoint).await.expect("a recorder");
        proxy.lead_to(&recorder.url);
        let sandbox = Sandbox::with_database(stack, "deliver-webhooks", &proxy.url).await;
        let sdk = stack.endpoints().sdk_config(&database.endpoint).await;
        let (table, client) = (ArtistTable::new(&sdk, TABLE), aws_sdk_dynamodb::Client::new(&sdk));
        let mut world = Self {
            sandbox,
            proxy,
            recorder,
            database: database.endpoint,
            webhooks: Webhooks::new(table.clone()),
            deliveries: Deliveries::new(table.clone()),
            queue: WebhookQueue::new(table.clone()),
            fan_out: FanOutProgress::new(table),
            client,
            age: 0,
            artists: Vec::new(),
            told: 0,
            log: LogId(7),
        };
        for number in 0..artists {
            let artist = ArtistId::random();
            let wallet: Address = format!("0x{:040x}", number + 1).parse().expect("an address");
            own(&world.client, wallet, text(wallet), text(artist)).await;
            world.artists.push((artist, wallet));
        }
        world
    }

    pub fn artist(&self, index: usize) -> ArtistId {
        self.artists[index].0
    }

    /// Replaces an artist's wallet by a row that can't be read.
    pub async fn spoil_wallet(&self, index: usize) {
        own(&self.client, self.artists[index].1, text("nowhere"), text("nobody")).await;
    }

    /// A webhook of an artist.
    pub async fn webhook(&self, artist: usize, url: &str) -> WebhookId {
        let webhook = Webhook::new(url.parse().expect("a URL"), unix_now());
        assert!(self.webhooks.add(self.artist(artist), &webhook).await.expect("a webhook"), "too many");
        webhook.id
    }

    /// Adds a delivery of no event, which waits since then.
    pub async fn wait(&self, artist: usize, webhook: WebhookId, since: u64) {
        let id = DeliveryId::next();
        let delivery = Delivery::new(id, webhook, id.to_string(), "x".to_owned(), json!({}).to_string(), since);
        self.deliveries.add(&[(self.artist(artist), delivery)]).await.expect("a row");
        self.queue.note_added(self.artist(artist), webhook).await.expect("a row");
    }

    /// Has the service's log begin again, empty and with another id.
    pub async fn begin_log_anew(&mut self) {
        let call = self.client.query().table_name(TABLE).key_condition_expression("pk = :pk");
        let rows = call.expression_attribute_values(":pk", text("EVENTS")).send().await.expect("rows");
        for row in rows.items() {
            let call = self.client.delete_item().table_name(TABLE).key("pk", row["pk"].clone());
            call.key("sk", row["sk"].clone()).send().await.expect("a row");
        }
        (self.told, self.log) = (0, LogId(self.log.0 + 1));
    }

    /// Appends so many events to the service's log for each artist, in turn. The first of all has sequence 1.
    pub async fn tell(&mut self, each: u64) {
        let (last, mut rows) = (self.told + each * self.artists.len() as u64, Vec::new());
        while self.told < last {
            let first = self.told + 1;
            let end = last.min(self.told + OF_A_ROW);
            let events: Vec<Event> = (first..=end).map(|number| self.event(number)).collect();
            let mut packed = DeflateEncoder::new(Vec::new(), Compression::fast());
            packed.write_all(json!(events).to_string().as_bytes()).expect("memory");
            let events = AttributeValue::B(Blob::new(packed.finish().expect("memory")));
            let row = HashMap::from([
                ("pk".to_owned(), text("EVENTS")),
                ("sk".to_owned(), text(format!("{end:020}"))),
                ("first".to_owned(), AttributeValue::N(first.to_string())),
                ("events".to_owned(), events),
            ]);
            let put = PutRequest::builder().set_item(Some(row)).build().expect("a request");
            rows.push(WriteRequest::builder().put_request(put).build());
            self.told = end;
        }
        for rows in rows.chunks(25) {
            self.client.batch_write_item().request_items(TABLE, rows.to_vec()).send().await.expect("rows");
        }
        let head = self.client.put_item().table_name(TABLE).item("pk", text("EVENTS")).item("sk", text("HEAD"));
        let head = head.item("log", text(self.log)).item("last", AttributeValue::N(self.told.to_string()));
        head.send().await.expect("a row");
    }

    /// The numbers in the log of the events of an artist.
    pub fn sequences(&self, artist: usize) -> Vec<u64> {
        let artists = self.artists.len() as u64;
        (1..=self.told).filter(|number| (number - 1) % artists == artist as u64).collect()
    }

    /// Id of the message that an event of the service's log is sent as.
    pub fn message(number: u64) -> String {
        format!("{}.{number}", event_id(number))
    }

    fn event(&self, number: u64) -> Event {
        let (_, address) = self.artists[(number - 1) as usize % self.artists.len()];
        Event {
            id: event_id(number).parse().expect("an id"),
            time: unix_now() - self.age,
            is_reverted: false,
            data: EventData::ArtistUpdated(ArtistEvent { address }),
        }
    }

    /// Runs the worker once more: what it was invoked for before is done then, as it has one process.
    pub async fn end(&self) {
        self.sandbox.invoke(&json!({})).await;
    }

    /// Has the next worker not wait until a leader that was killed counts as dead.
    pub async fn forget_leader(&self) {
        let call = self.client.update_item().table_name(TABLE).key("pk", text("FANOUT")).key("sk", text("LEASE"));
        let call = call.update_expression("SET holder = :nobody").condition_expression("attribute_exists(pk)");
        // The worker may have been killed before it led.
        let _ = call.expression_attribute_values(":nobody", text("")).send().await;
    }

    /// How many rows say that something waits, or is to be tried later.
    pub async fn queued(&self) -> i32 {
        let mut rows = 0;
        for partition in ["WEBHOOKS_READY", "WEBHOOKS_LATER"] {
            let call = self.client.query().table_name(TABLE).key_condition_expression("pk = :pk");
            let call = call.expression_attribute_values(":pk", text(partition)).consistent_read(true);
            rows += call.send().await.expect("rows").count;
        }
        rows
    }

    /// All deliveries of a webhook, the newest first.
    pub async fn all_deliveries(&self, artist: usize, webhook: WebhookId) -> Vec<Delivery> {
        let (mut all, mut before): (Vec<Delivery>, _) = (Vec::new(), None);
        loop {
            let page = self.deliveries.list(self.artist(artist), webhook, before, 500, unix_now()).await;
            let page = page.expect("rows");
            let Some(last) = page.last() else { return all };
            before = Some(last.id);
            all.extend(page);
        }
    }

    /// Has the worker run again and again, until `done` is, for 20 minutes at most.
    pub async fn work_until(&self, done: impl Future<Output = ()>) {
        self.work_for(Duration::from_secs(20 * 60), done).await;
    }

    /// Has the worker run again and again, until `done` is, for so long at most.
    pub async fn work_for(&self, at_most: Duration, done: impl Future<Output = ()>) {
        let work = async {
            loop {
                self.sandbox.invoke(&json!({})).await;
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        tokio::select! {
            () = done => {}
            () = work => {}
            () = tokio::time::sleep(at_most) => panic!("not done after {at_most:?}"),
        }
    }
}
