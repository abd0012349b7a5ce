//! An indexer with empty tables, and a node that misbehaves.

pub mod decisions;
mod node_proxy;
pub mod shop;

use std::{
    collections::{BTreeMap, HashMap},
    env,
};

use aws_sdk_dynamodb::types::AttributeValue;
use index_chain::{Followed, Follower, IndexError};
use local::{cloud::Endpoints, database, paths::Paths};
use rank_collectors::Ranker;
use serde_json::json;
use shared::{
    chain::{Chain, node::Node},
    model::{Event, LogName, Moment, MomentRef},
    store::{
        across::EventLogs,
        artist::{ArtistTable, Artists, Outbox},
        chain::ChainTable,
        engine::NumberedEvent,
    },
};
use tests::{DatabaseProxy, Error, TestChain};

pub use self::node_proxy::{NodeBehavior, NodeProxy};

/// Rows by `pk` and `sk`.
pub type Rows = BTreeMap<(String, String), BTreeMap<String, AttributeValue>>;

pub struct Indexer {
    pub follower: Follower,
    pub table: ChainTable,
    pub artists: ArtistTable,
    /// URL of the database.
    pub dynamodb: String,
    pub client: aws_sdk_dynamodb::Client,
    chain: Chain,
    nodes: Node,
    outbox: Outbox,
}

/// A number of the environment, or the default.
pub fn number(name: &str, default: u64) -> Result<u64, Error> {
    Ok(env::var(name).ok().map_or(Ok(default), |text| text.parse())?)
}

/// Events of a log that weren't reverted later.
pub fn replayed(log: Vec<Event>) -> Result<Vec<Event>, Error> {
    let mut live: Vec<Event> = Vec::new();
    for event in log {
        if event.is_reverted {
            let emitted = live.pop().ok_or("an event is reverted that was never emitted")?;
            assert_eq!((emitted.id, &emitted.data), (event.id, &event.data), "another event is reverted");
        } else {
            assert!(live.iter().all(|emitted| emitted.id != event.id), "emitted twice: {event:?}");
            live.push(event);
        }
    }
    Ok(live)
}

/// Counts all payments into the rankings as of a Unix time in seconds.
pub async fn count_payments(mut ranker: Ranker, now: u64) -> Result<(), Error> {
    ranker.open().await?;
    while ranker.step(now).await? > 0 {}
    Ok(())
}

impl Indexer {
    /// An indexer with empty tables that reads from the nodes at these URLs.
    pub async fn of(test_chain: &TestChain, urls: &[&str]) -> Result<Self, Error> {
        Self::through(test_chain, urls, None).await
    }

    /// The same, with an optional proxy in front of DynamoDB.
    pub async fn through(test_chain: &TestChain, urls: &[&str], proxy: Option<&DatabaseProxy>) -> Result<Self, Error> {
        let dynamodb = database::start().await?;
        let endpoints = Endpoints { aws: dynamodb.clone(), dynamodb: dynamodb.clone() };
        let template = Paths::of_checkout().template()?;
        for table in template.resources("AWS::DynamoDB::Table") {
            endpoints.create_table(table).await?;
        }
        if let Some(proxy) = proxy {
            proxy.lead_to(&dynamodb);
        }
        let url = proxy.map_or_else(|| dynamodb.clone(), |proxy| proxy.url.clone());
        Self::on(test_chain, urls, dynamodb, &url).await
    }

    async fn on(test_chain: &TestChain, urls: &[&str], dynamodb: String, url: &str) -> Result<Self, Error> {
        let endpoints = Endpoints { aws: dynamodb.clone(), dynamodb: dynamodb.clone() };
        let client = aws_sdk_dynamodb::Client::new(&endpoints.sdk_config(&dynamodb).await);
        let aws = endpoints.sdk_config(url).await;
        let nodes = json!({ test_chain.chain.id.to_string(): urls }).to_string().parse()?;
        let (table, artists) = (ChainTable::new(&aws, "ChainTable"), ArtistTable::new(&aws, "ArtistTable"));
        let (chain, nodes) = (test_chain.chain.clone(), Node::paced(&nodes, test_chain.chain.id)?);
        let follower = Follower::new(chain.clone(), &nodes, table.clone(), Artists::new(artists.clone()));
        let outbox = Outbox::new(ArtistTable::new(&endpoints.sdk_config(&dynamodb).await, "ArtistTable"));
        Ok(Self { follower, table, artists, dynamodb, client, chain, nodes, outbox })
    }

    /// Continues in another process, after the lease of the one before.
    pub async fn restart(&mut self) -> Result<(), Error> {
        let (table, artists) = (self.table.clone(), Artists::new(self.artists.clone()));
        self.follower = Follower::new(self.chain.clone(), &self.nodes, table, artists);
        self.expire_lease(&self.chain.id.to_string()).await
    }

    /// Counts all payments into the rankings as of a Unix time in seconds, in another process.
    pub async fn rank(&self, now: u64) -> Result<(), Error> {
        self.expire_lease("RANKINGS").await?;
        count_payments(self.ranker(), now).await
    }

    /// A ranker of its own.
    pub fn ranker(&self) -> Ranker {
        Ranker::new(vec![self.chain.clone()], self.table.clone(), self.artists.clone())
    }

    /// Whether a batch is half written.
    pub async fn is_within_a_batch(&self) -> Result<bool, Error> {
        let call = self.client.get_item().table_name("ChainTable").consistent_read(true);
        let call = call.key("pk", AttributeValue::S(format!("CHECKPOINT#{}", self.chain.id)));
        let checkpoint = call.key("sk", AttributeValue::S("CHECKPOINT".to_owned())).send().await?.item;
        Ok(checkpoint.is_some_and(|row| row.get("pending").is_some_and(AttributeValue::is_m)))
    }

    /// Lets another process go on with the work at once, as when a dead one's lease has ended.
    pub async fn expire_lease(&self, work: &str) -> Result<(), Error> {
        let key = |text: String| AttributeValue::S(text);
        let expire = self.client.update_item().table_name("ChainTable");
        let expire = expire.key("pk", key(format!("CHECKPOINT#{work}"))).key("sk", key("CHECKPOINT".into()));
        let expire =
            expire.update_expression("SET pending.#until = :now").expression_attribute_names("#until", "until");
        let expire = expire.expression_attribute_values(":now", AttributeValue::N("0".into()));
        // Without a pending batch there is no lease.
        let _ = expire
            .condition_expression("attribute_type(pending, :map)")
            .expression_attribute_values(":map", AttributeValue::S("M".into()))
            .send()
            .await;
        Ok(())
    }

    /// The same indexer with a recorder in front of its DynamoDB.
    pub async fn behind(self, urls: &[&str], test_chain: &TestChain, recorder: &str) -> Result<Self, Error> {
        Self::on(test_chain, urls, self.dynamodb, recorder).await
    }

    /// The rows of a fresh index.
    pub async fn fresh_rows(test_chain: &TestChain) -> Result<Rows, Error> {
        let mut fresh = Self::of(test_chain, &[&test_chain.rpc_url]).await?;
        fresh.follow().await?;
        fresh.rows().await
    }

    /// A fresh index of the chain, with the same artists.
    async fn fresh(&self, test_chain: &TestChain) -> Result<Self, Error> {
        let mut fresh = Self::of(test_chain, &[&test_chain.rpc_url]).await?;
        let artists =
            self.client.scan().table_name("ArtistTable").consistent_read(true).into_paginator().items().send();
        for artist in artists.collect::<Result<Vec<_>, _>>().await? {
            fresh.client.put_item().table_name("ArtistTable").set_item(Some(artist)).send().await?;
        }
        fresh.follow().await?;
        Ok(fresh)
    }

    /// Indexes all new blocks, and carries out artists' changes as the function does.
    pub async fn follow(&mut self) -> Result<Followed, IndexError> {
        let changes = self.outbox.oldest().await?;
        let followed = self.follower.follow(None, None, &changes).await?;
        for change in changes {
            self.outbox.remove(change.id).await?;
        }
        Ok(followed)
    }

    /// Rows of the chain's table without progress, journal and metadata documents; of its log, the events that
    /// weren't reverted.
    pub async fn rows(&self) -> Result<Rows, Error> {
        const OTHERS: [&str; 5] = ["CHECKPOINT#", "BATCHES#", "JOURNAL#", "METADATA", "EVENTS#"];
        let mut rows = self.all_rows().await?;
        rows.retain(|(pk, _), _| !OTHERS.iter().any(|other| pk.starts_with(other)));
        for (number, event) in replayed(self.log().await?)?.iter().enumerate() {
            let row = BTreeMap::from([("event".to_owned(), AttributeValue::S(serde_json::to_string(event)?))]);
            rows.insert(("LOG".to_owned(), format!("{number:08}")), row);
        }
        Ok(rows)
    }

    /// The log as a consumer gets it, without gaps.
    pub async fn log(&self) -> Result<Vec<Event>, Error> {
        let logs = EventLogs::new(self.table.clone(), self.artists.clone());
        let mut events: Vec<Event> = Vec::new();
        loop {
            let page = logs.after(LogName::Chain(self.chain.id), events.len() as u64, 3).await?;
            if page.is_empty() {
                break;
            }
            for NumberedEvent { number, event } in page {
                events.push(event);
                assert_eq!(number, events.len() as u64, "the log has a gap");
            }
        }
        let last = logs.head(LogName::Chain(self.chain.id)).await?.map_or(0, |head| head.last);
        assert_eq!(last, events.len() as u64, "the log's end");
        Ok(events)
    }

    /// Asserts that the rows equal those of a fresh index; names those that differ.
    pub async fn assert_fresh(&self, test_chain: &TestChain, when: &str) -> Result<(), Error> {
        let fresh = self.fresh(test_chain).await?.rows().await?;
        Self::assert_same(&self.rows().await?, &fresh, when)
    }

    /// The same without the trees of ranked sets, whose shape follows from the order of insertions.
    pub async fn assert_fresh_members(&self, test_chain: &TestChain) -> Result<(), Error> {
        let fresh = self.fresh(test_chain).await?.rows().await?;
        Self::assert_same_members(self.rows().await?, fresh)
    }

    /// The same with rankings, as of a Unix time in seconds.
    pub async fn assert_fresh_rankings(&self, test_chain: &TestChain, now: u64) -> Result<(), Error> {
        self.rank(now).await?;
        let fresh = self.fresh(test_chain).await?;
        fresh.rank(now).await?;
        let rows = fresh.rows().await?;
        assert!(rows.keys().any(|(pk, _)| pk.starts_with("RANKING#")), "nobody is ranked");
        Self::assert_same_members(self.rows().await?, rows)
    }

    fn assert_same_members(rows: Rows, fresh: Rows) -> Result<(), Error> {
        let members = |rows: Rows| rows.into_iter().filter(|((_, sk), _)| !(sk.starts_with("node#") || sk == "root"));
        Self::assert_same(&members(rows).collect(), &members(fresh).collect(), "members")
    }

    fn assert_same(rows: &Rows, fresh: &Rows, when: &str) -> Result<(), Error> {
        let keys: std::collections::BTreeSet<_> = rows.keys().chain(fresh.keys()).collect();
        let different: Vec<_> = keys.into_iter().filter(|key| rows.get(*key) != fresh.get(*key)).collect();
        let few: Vec<_> = different.iter().take(4).map(|key| (key, rows.get(*key), fresh.get(*key))).collect();
        assert!(different.is_empty(), "{when}: {} of {} rows differ: {few:#?}", different.len(), fresh.len());
        Ok(())
    }

    /// The rows of a numbered list, the oldest first.
    pub async fn list<R: serde::de::DeserializeOwned>(&self, partition: &str) -> Result<Vec<R>, Error> {
        let rows = self.all_rows().await?.into_iter().filter(|((pk, sk), _)| pk == partition && sk != "LENGTH");
        rows.map(|(_, row)| Ok(serde_dynamo::from_item(row.into_iter().collect::<HashMap<_, _>>())?)).collect()
    }

    /// Number of transactions that changed the chain's progress so far.
    pub async fn commits(&self) -> Result<u64, Error> {
        let checkpoint = self.all_rows().await?.into_iter().find(|((pk, _), _)| pk.starts_with("CHECKPOINT#"));
        Ok(checkpoint.ok_or("no progress")?.1["version"].as_n().map_err(|_| "no number")?.parse()?)
    }

    /// All moments.
    pub async fn moments(&self) -> Result<Vec<MomentRef>, Error> {
        let rows = self.all_rows().await?.into_iter().filter(|((pk, _), _)| pk.starts_with("MOMENTS#"));
        let moments = rows.map(|(_, row)| serde_dynamo::from_item(row.into_iter().collect::<HashMap<_, _>>()));
        let moments = moments.collect::<Result<Vec<Moment>, _>>()?;
        Ok(moments.iter().map(Moment::place).collect())
    }

    /// All rows of the chain's table.
    pub async fn all_rows(&self) -> Result<Rows, Error> {
        let scan = self.client.scan().table_name("ChainTable").consistent_read(true).into_paginator().items().send();
        let items = scan.collect::<Result<Vec<_>, _>>().await?;
        let text = |value: &AttributeValue| value.as_s().cloned().unwrap_or_default();
        Ok(items.into_iter().map(|item| ((text(&item["pk"]), text(&item["sk"])), item.into_iter().collect())).collect())
    }
}
