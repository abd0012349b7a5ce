//! Alarms on the relay and the index, on a chain of their own.

use std::time::Duration;

use alloy::{
    primitives::{Address, U256},
    providers::{Provider, RootProvider, ext::AnvilApi},
};
use aws_sdk_dynamodb::types::AttributeValue;
use local::{patience::eventually, stack_map::StackMap, workshop::Workshop};
use serde_json::{Value, json};
use shared::{
    chain::contracts::native::Creator1155,
    clock,
    model::{Call, Creation, Plan, WriteKind},
    store::artist::{Artist, NewTransaction},
};
use tests::{Error, Sandbox, Stack};

use super::{Seen, Tried, Tries, staged};

const RELAY: &str = "relay";
const INDEX: &str = "index-chain";
/// Seconds by which what has to wait is made older.
const AGE: u64 = 4_000;

struct World {
    workshop: Workshop,
    node: RootProvider,
    artist: Artist,
    collection: Address,
    stack: Stack,
}

pub async fn tries(stack: &Stack) -> Result<Tries, Error> {
    let world = World::open(stack).await?;
    let quiet = world.run(RELAY, "QueueAge", &[]).await?;
    let indexed = world.run(INDEX, "IndexLagSeconds", &[]).await?;
    let seen = [
        ("LaneBalanceAlarm", world.empty_lanes().await?),
        ("QueueAgeAlarm", world.waiting_queue().await?),
        ("OldestOpenSlotAlarm", world.stuck_batch().await?),
        ("NonceDriftAlarm", world.foreign_transaction().await?),
        ("ForeignNoncesAlarm", world.run(RELAY, "ForeignNonces", &[]).await?),
    ];
    let tried = |with: Seen, without: &Seen| Tried { with, without: without.clone(), times: 1 };
    let mut tries: Tries = seen.into_iter().map(|(alarm, seen)| (alarm, tried(seen, &quiet))).collect();
    let late = world.old_blocks().await?;
    assert!(late.has("IndexLagSeconds") && indexed.has("IndexLagSeconds"), "{:?}", late.points);
    tries.insert("IndexLagAlarm", tried(late, &indexed));
    Ok(tries)
}

impl World {
    async fn open(stack: &Stack) -> Result<Self, Error> {
        let workshop = Workshop::start("alarms").await?;
        let artist = workshop.artist().await?;
        let collection = workshop.collection(std::slice::from_ref(&artist)).await?;
        let mut map: StackMap = stack.map.clone();
        map.names.extend(workshop.names.clone());
        let rpc = json!({ workshop.chain.id.to_string(): [workshop.rpc_url] });
        map.names.insert("RpcUrls".to_owned(), rpc.to_string());
        map.names.insert("OperatorSafe".to_owned(), workshop.operator.safe.to_string().to_lowercase());
        (map.aws, map.dynamodb) = (workshop.endpoints.aws.clone(), workshop.endpoints.dynamodb.clone());
        let (node, stack) = (workshop.node().await?, stack.with(map));
        Ok(Self { workshop, node, artist, collection, stack })
    }

    /// Runs a function until it has written a metric, or has ended; then it is killed. A dead leader isn't waited for.
    async fn run(&self, binary: &str, metric: &str, variables: &[(&str, &str)]) -> Result<Seen, Error> {
        let stage = staged(&self.stack);
        self.delete(&format!("RELAY#{}", self.workshop.chain.id), "LEASE").await?;
        let sandbox = Sandbox::with_variables(&stage, binary, variables).await;
        let written = async {
            while !Seen::of(&stage, &sandbox).has(metric) {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let event = json!({});
        tokio::select! {
            () = written => {}
            _ = sandbox.invoke(&event) => {}
        }
        Ok(Seen::of(&stage, &sandbox))
    }

    async fn queue(&self) -> Result<(), Error> {
        let rename = Creator1155::updateTokenURICall { tokenId: U256::ONE, newURI: "ar://late".to_owned() };
        let calls = vec![Call::new(self.collection, &rename)];
        let (creation, reserve) = (Creation::Nothing, 1_000_000_000_000_000);
        let transaction = NewTransaction {
            plan: Plan::Calls { calls },
            kind: WriteKind::Plain,
            gas: 120_000,
            creation,
            reserve,
            valid_until: None,
        };
        self.workshop.queue(&self.artist, vec![transaction]).await.map(drop)
    }

    async fn fund(&self, wei: U256) -> Result<(), Error> {
        for (lane, _) in self.workshop.lanes() {
            self.node.anvil_set_balance(*lane, wei).await?;
        }
        Ok(())
    }

    async fn empty_lanes(&self) -> Result<Seen, Error> {
        self.fund(U256::from(1_000_000)).await?;
        self.run(RELAY, "LaneBalance", &[]).await
    }

    /// A transaction that no lane can pay for.
    async fn waiting_queue(&self) -> Result<Seen, Error> {
        self.queue().await?;
        let now = u64::try_from(clock::now()?.as_millis())?;
        let mut rows = self.rows("QUEUE#", |sk| sk.starts_with(|first: char| first.is_ascii_digit())).await?;
        let row = rows.first_mut().ok_or("nothing is queued")?;
        let place = row["sk"].as_s().map_err(|_| "no place")?.clone();
        let rest = place.split_once('#').ok_or("no turn")?.1;
        row.insert("sk".to_owned(), AttributeValue::S(format!("{:014}#{rest}", now - AGE * 1_000)));
        self.put(row.clone()).await?;
        let seen = self.run(RELAY, "QueueAge", &[]).await?;
        let part = |name: &str| row[name].as_s().cloned().unwrap_or_default();
        self.delete(&part("pk"), &part("sk")).await?;
        self.fund(U256::from(1_000_000_000_000_000_000_u64)).await?;
        Ok(seen)
    }

    /// A batch that no block takes.
    async fn stuck_batch(&self) -> Result<Seen, Error> {
        self.node.anvil_set_auto_mine(false).await?;
        let stage = staged(&self.stack);
        let sandbox = Sandbox::with_variables(&stage, RELAY, &[]).await;
        let event = json!({});
        let sent = async {
            loop {
                let batches = self.rows("LANE#", |sk| sk.starts_with("BATCH#")).await?;
                if !batches.is_empty() {
                    return Ok::<_, Error>(batches);
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let batches = tokio::select! {
            batches = sent => batches?,
            ended = sandbox.invoke(&event) => return Err(format!("the relay ended: {ended}").into()),
        };
        drop(sandbox);
        let then = clock::now()?.as_secs() - AGE;
        for mut batch in batches {
            batch.insert("created_at".to_owned(), AttributeValue::N(then.to_string()));
            self.put(batch).await?;
        }
        let seen = self.run(RELAY, "OldestOpenSlot", &[]).await?;
        self.node.anvil_set_auto_mine(true).await?;
        self.node.anvil_mine(Some(1), None).await?;
        self.run(RELAY, "settled", &[]).await?;
        Ok(seen)
    }

    /// A lane's key is used elsewhere, in a block that isn't final.
    async fn foreign_transaction(&self) -> Result<Seen, Error> {
        let lane = self.workshop.lanes().first().ok_or("no lane")?.0;
        let sent = self.workshop.use_lane(lane).await?;
        eventually("it is in a block", async || Ok::<_, Error>(self.node.get_transaction_receipt(sent).await?)).await?;
        let mut chains: Value = serde_json::from_str(&self.workshop.names["Chains"])?;
        chains[0]["confirmations"] = json!(50);
        self.run(RELAY, "NonceDrift", &[("CHAINS", &chains.to_string())]).await
    }

    /// A node whose newest block is old.
    async fn old_blocks(&self) -> Result<Seen, Error> {
        let then = clock::now()?.as_secs() - AGE;
        let _: Value = self.node.raw_request("anvil_setTime".into(), [then]).await?;
        // A newest block that is older than the one before would be refused.
        self.node.anvil_mine(Some(2), None).await?;
        self.run(INDEX, "IndexLagSeconds", &[]).await
    }

    fn database(&self) -> aws_sdk_dynamodb::Client {
        aws_sdk_dynamodb::Client::new(&self.workshop.dynamodb)
    }

    async fn rows(
        &self,
        pk: &str,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<shared::store::engine::Item>, Error> {
        let rows = self.database().scan().table_name("ArtistTable").consistent_read(true).send().await?.items;
        let is_wanted = |row: &shared::store::engine::Item| {
            let text = |name: &str| row[name].as_s().cloned().unwrap_or_default();
            text("pk").starts_with(pk) && is_wanted(&text("sk"))
        };
        Ok(rows.unwrap_or_default().into_iter().filter(is_wanted).collect())
    }

    async fn delete(&self, pk: &str, sk: &str) -> Result<(), Error> {
        let part = |text: &str| AttributeValue::S(text.to_owned());
        let delete = self.database().delete_item().table_name("ArtistTable").key("pk", part(pk)).key("sk", part(sk));
        delete.send().await?;
        Ok(())
    }

    async fn put(&self, row: shared::store::engine::Item) -> Result<(), Error> {
        self.database().put_item().table_name("ArtistTable").set_item(Some(row)).send().await?;
        Ok(())
    }
}
