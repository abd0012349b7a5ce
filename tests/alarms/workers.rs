//! Alarms on scheduled functions.

use std::fs;

use local::database::{self, LocalDatabase};
use serde_json::json;
use shared::{
    bucket::Bucket,
    model::{ArtistId, ChainId, Cid, Dag},
    store::{
        artist::{ArtistTable, Media, Pins, StoredContent},
        chain::{ChainTable, Documents, NamedDocument},
    },
};
use tests::{Error, Sandbox, Stack, empty_tables, eventually};

use super::{Seen, Tried, Tries, staged};

/// Nothing answers there.
const NOWHERE: &str = "http://127.0.0.1:9";

/// Runs in an hour by a schedule of one in a minute.
const RUNS_AN_HOUR: usize = 60;

/// Tries of a file that keep failing come after 0, 1, 4, 13, 40 and 121 minutes.
const TRIES_IN_SIX_HOURS: usize = 6;

pub async fn tries(stack: &Stack) -> Result<Tries, Error> {
    let database = empty_tables(stack).await;
    let (ranking, fan_out, documents, pins) = tokio::try_join!(
        failing_runs(stack, "rank-collectors", "RankingAge", &database),
        failing_runs(stack, "deliver-webhooks", "FanOutLag", &database),
        metadata_failures(stack, &database),
        pin_failures(stack, &database),
    )?;
    let (ranking, letters) = ranking;
    Ok(Tries::from([
        ("RankingAgeAlarm", ranking),
        ("DeadLettersAlarm", letters),
        ("FanOutLagAlarm", fan_out.0),
        ("MetadataFailuresAlarm", documents),
        ("PinFailuresAlarm", pins),
        ("SilentErasureAlarm", silent(stack, "EraseArtistsFunction")),
        ("SilentPinningAlarm", silent(stack, "PinContentFunction")),
    ]))
}

/// Lambda counts invocations of a function, and shows nothing where there is none.
fn silent(stack: &Stack, function: &str) -> Tried {
    let seen =
        |runs: &[f64]| Seen::of_aws(&staged(stack), ("AWS/Lambda", "Invocations"), ("FunctionName", function), runs);
    Tried { with: seen(&[]), without: seen(&[1.0]), times: 1 }
}

/// The tables are gone: a run fails, measures nothing and is a dead letter. The alarm on its metric, and the one on
/// dead letters.
async fn failing_runs(
    stack: &Stack,
    binary: &str,
    metric: &str,
    database: &LocalDatabase,
) -> Result<(Tried, Tried), Error> {
    const RUNS: usize = 11;
    let (with, without) = (staged(stack), staged(stack));
    let broken = Sandbox::with(&with, binary, &[], &database::start().await?).await;
    let letters = |sandbox: &Sandbox| fs::read_to_string(sandbox.dead_letters()).unwrap_or_default().lines().count();
    // One after the other: events that are refused for want of concurrency are tried again ever later, for minutes.
    for run in 1..=RUNS {
        broken.start(&json!({})).await;
        eventually(format!("dead letter {run}"), async || (letters(&broken) == run).then_some(())).await;
    }
    let well = Sandbox::with(&without, binary, &[], &database.endpoint).await;
    well.invoke(&json!({})).await;
    let tried = Tried { with: Seen::of(&with, &broken), without: Seen::of(&without, &well), times: 1 };
    assert!(tried.with.points.is_empty() && tried.without.has(metric), "{:?}", tried.without.points);
    let queue = |stage: &Stack, letters: usize| {
        let metric = ("AWS/SQS", "ApproximateNumberOfMessagesVisible");
        Seen::of_aws(stage, metric, ("QueueName", "DeadLetters.QueueName"), &[letters as f64])
    };
    Ok((tried, Tried { with: queue(&with, RUNS), without: queue(&with, letters(&well)), times: 1 }))
}

/// Nobody has the documents.
async fn metadata_failures(stack: &Stack, database: &LocalDatabase) -> Result<Tried, Error> {
    const BINARY: &str = "fetch-metadata";
    let (with, without) = (staged(stack), staged(stack));
    let config = stack.endpoints().sdk_config(&database.endpoint).await;
    let documents = Documents::new(ChainTable::new(&config, "ChainTable"));
    let run = async |stage: &Stack| {
        let variables = [("ARWEAVE_GATEWAYS", NOWHERE)];
        let sandbox = Sandbox::with(stage, BINARY, &variables, &database.endpoint).await;
        sandbox.invoke(&json!({})).await;
        Seen::of(stage, &sandbox)
    };
    let without = run(&without).await;
    let uris: Vec<String> = (0..40).map(|number| format!("ar://nobody-has-{number}")).collect();
    let collection = "0x0000000000000000000000000000000000000001".parse()?;
    documents.queue(ChainId(8453), uris.iter().map(|uri| NamedDocument { uri, collection, at: 0 })).await?;
    Ok(Tried { with: run(&with).await, without, times: RUNS_AN_HOUR })
}

/// The pinning service is down.
async fn pin_failures(stack: &Stack, database: &LocalDatabase) -> Result<Tried, Error> {
    const BINARY: &str = "pin-content";
    let (with, without) = (staged(stack), staged(stack));
    let table = ArtistTable::new(&stack.endpoints().sdk_config(&database.endpoint).await, "ArtistTable");
    let (pins, media) = (Pins::new(table.clone()), Media::new(table));
    let run = async |stage: &Stack| {
        let variables = [("PINNING_ENDPOINT", NOWHERE)];
        let sandbox = Sandbox::with(stage, BINARY, &variables, &database.endpoint).await;
        sandbox.invoke(&json!({})).await;
        Seen::of(stage, &sandbox)
    };
    let without = run(&without).await;
    let cid: Cid = Dag::cid_of(b"a file");
    let config = stack.endpoints().sdk_config(&stack.map.aws).await;
    Bucket::new(&config, &stack.map.names["MediaBucket"]).file_document(cid, "image/png", b"a file".to_vec()).await?;
    let stored = StoredContent { origin: "a test".to_owned(), mime: "image/png".to_owned(), size: 6 };
    media.add_content(ArtistId::random(), cid, &stored, 0).await?;
    let with = run(&with).await;
    assert!(pins.pause().await?.until > 0, "the service isn't left alone");
    Ok(Tried { with, without, times: TRIES_IN_SIX_HOURS })
}
