//! A chain that drops blocks: who applies what is told, reversions included, has the final chain.

use std::{collections::BTreeSet, fs, path::PathBuf, process::Stdio, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::State,
    http::{StatusCode, Uri},
};
use local::paths::Paths;
use serde_json::{Value, json};
use shared::{
    api::read::EventView,
    model::{Address, ArtistId, ChainId, LogName},
    store::{
        across::EventLogs,
        artist::{ArtistTable, Webhook, Webhooks},
        chain::ChainTable,
        engine::NumberedEvent,
    },
};
use tests::{
    Sandbox, Stack, TestChain, eventually,
    history::{Dice, History},
};
use tokio::{
    net::TcpListener,
    process::{Child, Command},
};

use super::{
    receiver::Receiver,
    seed, unix_now,
    world::{own, text},
};

const LOG: LogName = LogName::Chain(ChainId(8453));

/// Blocks that each round drops.
const DROPPED: [u64; 4] = [3, 12, 1, 20];

/// The functions on tables and a chain of their own.
struct World {
    index: Sandbox,
    deliver: Sandbox,
    client: aws_sdk_dynamodb::Client,
    chain: ChainTable,
    artists: ArtistTable,
}

impl World {
    async fn start(stack: &Stack, test_chain: &TestChain) -> Self {
        let dynamodb = tests::empty_tables(stack).await.endpoint;
        let sdk = stack.endpoints().sdk_config(&dynamodb).await;
        let mut chains: Value = serde_json::from_str(&stack.map.names["Chains"]).expect("JSON");
        let chains = chains.as_array_mut().expect("chains");
        chains.retain(|chain| chain["id"] == 8453);
        chains[0]["reorgDepth"] = json!(test_chain.chain.reorg_depth);
        let (chains, urls) = (json!(chains).to_string(), json!({"8453": [test_chain.rpc_url]}).to_string());
        let both = [("CHAINS", chains.as_str()), ("RPC_URLS", urls.as_str())];
        Self {
            index: Sandbox::with(stack, "index-chain", &both, &dynamodb).await,
            deliver: Sandbox::with(stack, "deliver-webhooks", &both[..1], &dynamodb).await,
            client: aws_sdk_dynamodb::Client::new(&sdk),
            chain: ChainTable::new(&sdk, "ChainTable"),
            artists: ArtistTable::new(&sdk, "ArtistTable"),
        }
    }

    /// `GET /events` over these tables.
    async fn serve_events(&self, stack: &Stack) -> String {
        let chains = json!([{"id": 8453}]).to_string();
        let variables = [("CHAINS", chains.as_str())];
        let events = Sandbox::with(stack, "list-events", &variables, &self.index.endpoints.dynamodb).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/events", listener.local_addr().expect("an address"));
        let answer = async |State(events): State<Arc<Sandbox>>, uri: Uri| {
            let answer = events.get(uri.query().unwrap_or_default()).await;
            let status = answer["statusCode"].as_u64().and_then(|status| StatusCode::from_u16(status as u16).ok());
            (status.expect("a status"), answer["body"].as_str().unwrap_or_default().to_owned())
        };
        let app = Router::new().fallback(answer).with_state(Arc::new(events));
        tokio::spawn(axum::serve(listener, app).into_future());
        url
    }

    /// An artist who has all these wallets, and whose webhook is told of them.
    async fn subscribe(&self, wallets: &[Address], url: &str) {
        let artist = ArtistId::random();
        for wallet in wallets {
            own(&self.client, *wallet, text(wallet), text(artist)).await;
        }
        let webhook = Webhook::new(url.parse().expect("a URL"), unix_now());
        Webhooks::new(self.artists.clone()).add(artist, &webhook).await.expect("a webhook");
    }

    /// The chain's log.
    async fn log(&self) -> Vec<NumberedEvent> {
        let logs = EventLogs::new(self.chain.clone(), self.artists.clone());
        let mut all: Vec<NumberedEvent> = Vec::new();
        loop {
            let page = logs.after(LOG, all.len() as u64, 10).await.expect("rows");
            if page.is_empty() {
                return all;
            }
            all.extend(page);
        }
    }
}

/// A process that copies the log.
struct Consumer {
    url: String,
    folder: PathBuf,
    process: Option<Child>,
}

impl Consumer {
    fn new(url: String) -> Self {
        let folder = Paths::of_checkout().local("consumers").join(uuid::Uuid::new_v4().to_string());
        fs::create_dir_all(&folder).expect("a folder");
        Self { url, folder, process: None }
    }

    fn start(&mut self) {
        let script = Paths::of_checkout().root().join("tests/webhooks/consumer.py");
        let mut command = Command::new("python3");
        command.arg(script).arg(&self.url).arg(&self.folder).stderr(Stdio::null()).kill_on_drop(true);
        let process = command.spawn();
        self.process = Some(process.expect("python3"));
    }

    /// Kills it with SIGKILL.
    async fn kill(&mut self) {
        self.process.take().expect("a process").kill().await.expect("it runs");
    }

    /// What it has, once it is so many events.
    async fn copy(&self, events: usize) -> Vec<Value> {
        let text = eventually(format!("the consumer has {events} events"), async || {
            let text = fs::read_to_string(self.folder.join("log.jsonl")).unwrap_or_default();
            (text.lines().count() >= events).then_some(text)
        })
        .await;
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

/// The ids and the content of what was told and not taken back.
fn applied(told: &[Value]) -> Vec<(Value, Value)> {
    let mut standing: Vec<(Value, Value)> = Vec::new();
    for event in told {
        let kind = event["type"].as_str().expect("a type");
        if kind.ends_with(".reverted") {
            let place = standing.iter().position(|(id, _)| *id == event["id"]);
            standing.remove(place.unwrap_or_else(|| panic!("taken back and never told: {event}")));
        } else {
            standing.push((event["id"].clone(), event["data"].clone()));
        }
    }
    standing
}

fn shown(log: Vec<NumberedEvent>) -> Vec<Value> {
    let view = |event| serde_json::to_value(EventView::of(LOG, event).expect("a time")).expect("JSON");
    log.into_iter().map(view).collect()
}

#[tokio::test]
async fn receivers_and_consumers_that_apply_reversions_have_the_final_chain() {
    let seed = seed();
    let (stack, receiver, mut dice) = (Stack::connect(), Receiver::start().await, Dice::at(seed << 32));
    let test_chain = TestChain::start("final-chain", 64).await.expect("a chain");
    let mut history = History::on(&test_chain, seed).await.expect("people");
    let world = World::start(&stack, &test_chain).await;
    let people: Vec<Address> = history.people.iter().map(|person| (*person).into()).collect();
    world.subscribe(&people, &format!("{}/x", receiver.url)).await;
    let mut consumer = Consumer::new(world.serve_events(&stack).await);
    for dropped in DROPPED {
        for (is_drop, transactions) in [(false, 20), (true, 5)] {
            consumer.start();
            if is_drop {
                test_chain.reorganise(dropped).await.expect("other blocks");
                history.forget_dropped().await.expect("collections");
            }
            history.go_on(transactions).await.expect("transactions");
            world.index.invoke(&json!({})).await;
            world.deliver.invoke(&json!({})).await;
            tokio::time::sleep(Duration::from_millis(dice.roll(400))).await;
            consumer.kill().await;
        }
    }
    consumer.start();
    let log = world.log().await;
    let concerned = log.iter().map(|event| event.event.accounts().iter().any(|account| people.contains(account)));
    let concerned: Vec<bool> = concerned.collect();
    let log = shown(log);
    let copy = consumer.copy(log.len()).await;
    consumer.kill().await;
    let reverted = log.iter().filter(|event| event["type"].as_str().is_some_and(|kind| kind.ends_with(".reverted")));
    assert!(reverted.count() > 10, "few events were taken back");
    assert_eq!(copy, log, "exactly the log: nothing twice, nothing missing");

    let sent: Vec<Value> = receiver.messages().iter().map(|message| message.json()).collect();
    let meant = log.iter().zip(&concerned).filter(|(_, concerned)| **concerned).map(|(event, _)| event.clone());
    let meant: Vec<Value> = meant.collect();
    assert_eq!(sent, meant, "in order, and each once");
    let ids: BTreeSet<String> = receiver.messages().iter().map(|message| message.id().to_owned()).collect();
    assert_eq!(ids.len(), sent.len(), "what takes an event back is a message of its own");

    let fresh = World::start(&stack, &test_chain).await;
    fresh.index.invoke(&json!({})).await;
    let last = fresh.log().await;
    let of_people: BTreeSet<String> = last
        .iter()
        .filter(|event| event.event.accounts().iter().any(|account| people.contains(account)))
        .map(|event| event.event.id.to_string())
        .collect();
    let last = applied(&shown(last));
    assert_eq!(applied(&copy), last, "the final chain");
    let is_told = |(id, _): &(Value, Value)| id.as_str().is_some_and(|id| of_people.contains(id));
    assert_eq!(applied(&sent), last.into_iter().filter(is_told).collect::<Vec<_>>(), "the receiver's final chain");
}
