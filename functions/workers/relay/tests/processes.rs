//! Every write ends as exactly one transaction with the deployed binaries, which are killed at random points while their
//! nodes drop, delay and falsify answers.

mod faulty_proxy;

use std::{collections::BTreeMap, fs, sync::Arc, time::Duration};

use alloy::{
    eips::BlockNumberOrTag,
    primitives::{Address, U256},
    providers::Provider,
    rpc::types::Filter,
    sol,
};
use local::{
    api_gateway::ApiGateway,
    functions::{Emulator, environment},
    paths::Paths,
    process::free_port,
    workshop::Workshop,
};
use serde_json::{Value, json};
use shared::{
    auth::api_key::PlainKey,
    chain::transaction::Policy,
    model::{KeyId, KeyName},
    store::{ApiKeys, Artist, KeyRecord, Table},
};
use template::Template;
use tokio::{sync::Semaphore, task::JoinSet, time::Instant};

use self::faulty_proxy::{Dice, start_faulty_proxy};

type Error = Box<dyn std::error::Error + Send + Sync>;

const WRITER: &str = "update-moment-uri";
const SETTLER: &str = "settle-transactions";
const ARTISTS: usize = 20;
const WRITES: usize = 10;
const AT_A_TIME: usize = 16;
/// Processes that are killed while clients are asking.
const KILLS: usize = 40;
/// How long one client retries: longer than a killed function holds its nonce and lease.
const PATIENCE: Duration = Duration::from_secs(400);
/// Longer than the functions wait for a node.
const OVER_TIMEOUT: Duration = Duration::from_millis(4_500);

sol! {
    event URI(string value, uint256 indexed id);
}

/// One write and the client that requests it until it is done.
#[derive(Clone)]
struct WriteCase {
    url: String,
    key: String,
    collection: Address,
    uri: String,
}

struct Reply {
    status: u16,
    hash: String,
    is_replayed: bool,
}

impl WriteCase {
    /// One request; `None` without an answer in time.
    async fn ask(&self, client: &reqwest::Client) -> Option<Reply> {
        let body = json!({"moment": {"collectionAddress": self.collection, "tokenId": "1"}, "newUri": self.uri});
        let request = client.post(&self.url).timeout(Duration::from_secs(12)).json(&body);
        let request = request.header("x-api-key", &self.key).header("idempotency-key", &self.uri);
        let answer = request.send().await.ok()?;
        let (status, is_replayed) = (answer.status().as_u16(), answer.headers().contains_key("idempotent-replayed"));
        let body: Value = answer.json().await.ok()?;
        Some(Reply { status, hash: body["hash"].as_str().unwrap_or_default().to_owned(), is_replayed })
    }

    /// Asks until the answer is final. Returns its status and hash.
    async fn ask_until_done(&self, client: &reqwest::Client) -> Result<(u16, String), Error> {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            match self.ask(client).await {
                Some(Reply { status: status @ (200 | 403), hash, .. }) => return Ok((status, hash)),
                Some(Reply { status: 409 | 429 | 500..=599, .. }) | None => {}
                Some(Reply { status, .. }) => return Err(format!("{} got status {status}", self.uri).into()),
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        Err(format!("{} is not done after {PATIENCE:?}", self.uri).into())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_writes_are_done_exactly_once() -> Result<(), Error> {
    let workshop = Workshop::start("processes").await?;
    let node = async || start_faulty_proxy(&workshop.rpc_url, OVER_TIMEOUT, 3).await;
    let emulator = functions(&workshop, &[node().await?, node().await?, node().await?]).await?;
    let gateway = ApiGateway::start(0, emulator.url(), None).await?;
    let url = format!("{}/api/registry/metadata/moment", gateway.url);

    let (mut artists, mut keys) = (Vec::new(), Vec::new());
    // The last artist is no admin of the collection: each of their writes must be refused.
    for index in 0..=ARTISTS {
        artists.push(workshop.artist(index % 2).await?);
        keys.push(key_of(&workshop, &artists[index]).await?);
    }
    let collection = workshop.collection(&artists[..ARTISTS]).await?;
    let case = |index: usize, number: usize| WriteCase {
        url: url.clone(),
        key: keys[index].clone(),
        collection,
        uri: format!("ar://{index}/{number}"),
    };
    let writes: Vec<_> = (0..WRITES).flat_map(|number| (0..=ARTISTS).map(move |index| (index, number))).collect();

    let (client, permits) = (reqwest::Client::new(), Arc::new(Semaphore::new(AT_A_TIME)));
    let mut clients = JoinSet::new();
    for &(index, number) in &writes {
        let (case, client, permits) = (case(index, number), client.clone(), Arc::clone(&permits));
        clients.spawn(async move {
            let _permit = permits.acquire().await?;
            Ok::<_, Error>(((index, number), case.ask_until_done(&client).await?))
        });
    }
    let (dice, mut kills, mut answers) = (Dice::default(), 0, BTreeMap::new());
    while !clients.is_empty() {
        tokio::select! {
            Some(done) = clients.join_next() => {
                let (case, answer) = done??;
                answers.insert(case, answer);
            }
            () = tokio::time::sleep(Duration::from_millis(100 + dice.roll(600))), if kills < KILLS => {
                let binary = if kills % 20 == 0 { SETTLER } else { WRITER };
                emulator.crash(binary, usize::try_from(dice.roll(1_000))?).await?;
                kills += 1;
            }
        }
    }

    let healthy = workshop.sender(&workshop.rpc_url, Policy::from_env()?)?;
    let lanes: Vec<_> = artists[..2].iter().map(|artist| artist.lane).collect();
    let deadline = Instant::now() + PATIENCE;
    for &lane in &lanes {
        loop {
            let state = healthy.transactions().lane(healthy.chain().id, lane).await?.ok_or("no lane")?;
            let on_chain = healthy.node().next_nonce(lane.into(), BlockNumberOrTag::Latest).await?;
            if state.open.is_empty() && state.next_nonce == on_chain {
                break;
            }
            assert!(Instant::now() < deadline, "lane {lane} is not settled: {state:?}, next nonce onchain {on_chain}");
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }

    let done = uris(&workshop, collection).await?;
    for &(index, number) in &writes {
        let case = case(index, number);
        let (status, hash) = &answers[&(index, number)];
        let expected = if index == ARTISTS { (403, None) } else { (200, Some(&1)) };
        assert_eq!((*status, done.get(&case.uri)), expected, "{}", case.uri);
        if *status == 200 {
            let again = case.ask(&client).await.ok_or("no answer")?;
            assert_eq!((again.status, &again.hash, again.is_replayed), (200, hash, true), "{}", case.uri);
        }
    }
    assert_eq!(kills, KILLS, "every write was done before all processes were killed");
    Ok(())
}

/// Starts the functions; they reach the chain through `nodes`.
async fn functions(workshop: &Workshop, nodes: &[String]) -> Result<Emulator, Error> {
    let paths = Paths::of_checkout();
    let template: Template = fs::read_to_string(paths.root().join("template.yaml"))?.parse()?;
    let logs = paths.local("workshops").join("processes");
    let mut emulator = Emulator::start(&paths, &logs, "cargo-lambda", free_port()?, &template).await?;
    let mut names = workshop.names.clone();
    names.insert("RpcUrls".to_owned(), json!({ workshop.chain.id.to_string(): nodes }).to_string());
    for function in template.functions()? {
        let instances = match function.binary.as_str() {
            WRITER => AT_A_TIME,
            SETTLER => 1,
            _ => continue,
        };
        let environment = environment(&function, &names, workshop.endpoints.environment())?;
        emulator.run(&function.binary, instances, &environment)?;
    }
    emulator.schedule(SETTLER, Duration::from_secs(1));
    Ok(emulator)
}

/// Creates an API key for an artist.
async fn key_of(workshop: &Workshop, artist: &Artist) -> Result<String, Error> {
    let key = PlainKey::random()?;
    let record = KeyRecord {
        id: KeyId::next(),
        name: KeyName::default(),
        prefix: key.shown_prefix().to_owned(),
        created_at: 0,
        last_used_at: None,
    };
    let keys = ApiKeys::new(Table::new(&workshop.dynamodb, "SecretTable"));
    keys.create(artist.artist_id, &record, key.hash().as_str()).await?;
    Ok(key.reveal().to_owned())
}

/// How often each URI was set on token 1, by the chain's logs.
async fn uris(workshop: &Workshop, collection: Address) -> Result<BTreeMap<String, usize>, Error> {
    let logs = workshop.node().await?.get_logs(&Filter::new().address(collection).from_block(0)).await?;
    let mut counts = BTreeMap::new();
    for event in logs.iter().filter_map(|log| log.log_decode::<URI>().ok()).map(|log| log.inner.data) {
        if event.id == U256::ONE {
            *counts.entry(event.value).or_default() += 1;
        }
    }
    Ok(counts)
}
