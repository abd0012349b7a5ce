//! Tables of their own with artists, webhooks and a log, and a worker that nothing but the test wakes.

use std::{
    collections::HashMap,
    future::Future,
    io::Write,
    time::{Duration, Instant},
};

use aws_sdk_dynamodb::{
    primitives::Blob,
    types::{AttributeValue, PutRequest, WriteRequest},
};
use flate2::{Compression, write::DeflateEncoder};
use local::recorder::Recorder;
use serde_json::json;
use shared::{
    model::{Address, ArtistEvent, ArtistId, Event, EventData, LogId, WebhookId},
    store::{Deliveries, FanOut, Table, Webhook, WebhookQueue, Webhooks},
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
    pub fan_out: FanOut,
    pub client: aws_sdk_dynamodb::Client,
    artists: Vec<(ArtistId, Address)>,
    told: u64,
    log: LogId,
}

pub fn text(value: impl ToString) -> AttributeValue {
    AttributeValue::S(value.to_string())
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
        let (table, client) = (Table::new(&sdk, TABLE), aws_sdk_dynamodb::Client::new(&sdk));
        let mut world = Self {
            sandbox,
            proxy,
            recorder,
            database: database.endpoint,
            webhooks: Webhooks::new(table.clone()),
            deliveries: Deliveries::new(table.clone()),
            queue: WebhookQueue::new(table.clone()),
            fan_out: FanOut::new(table),
            client,
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

    fn event(&self, number: u64) -> Event {
        let (_, address) = self.artists[(number - 1) as usize % self.artists.len()];
        let id = uuid::Uuid::from_u128(u128::from(number)).to_string().parse().expect("an id");
        Event { id, time: unix_now(), is_reverted: false, data: EventData::ArtistUpdated(ArtistEvent { address }) }
    }

    /// Waits until no worker leads for a second.
    pub async fn rest(&self) {
        let mut rests = 0;
        while rests < 5 {
            let row = self.client.get_item().table_name(TABLE).key("pk", text("FANOUT")).key("sk", text("LEASE"));
            let row = row.consistent_read(true).send().await.expect("a row").item.expect("somebody led");
            rests = if row["holder"] == text("") { rests + 1 } else { 0 };
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Waits until the worker has made so many calls of the database, for three seconds at most.
    pub async fn called(&self, calls: u64) {
        let (start, mut made) = (Instant::now(), 0);
        while made < calls && start.elapsed() < Duration::from_secs(3) {
            made += self.recorder.take_calls().len() as u64;
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Has the worker run again and again, until `done` is.
    pub async fn work_until(&self, done: impl Future<Output = ()>) {
        let work = async {
            loop {
                self.sandbox.invoke(&json!({})).await;
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        tokio::select! {
            () = done => {}
            () = work => {}
        }
    }
}
