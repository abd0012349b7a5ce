//! What an event costs: the write units of a live collect and of a new moment, until their blocks are final.

use local::recorder::{Call, Recorder};
use tests::Error;

use crate::support::{Indexer, shop::Shop};

/// An indexer whose requests to DynamoDB are recorded.
struct Meter {
    shop: Shop,
    indexer: Indexer,
    recorder: Recorder,
    /// Write units of empty blocks until they are final.
    idle: f64,
}

impl Meter {
    async fn start() -> Result<Self, Error> {
        let shop = Shop::open("units", 8).await?;
        let plain = Indexer::of(&shop.test_chain, &[&shop.test_chain.rpc_url]).await?;
        let recorder = Recorder::in_front_of(&plain.dynamodb).await?;
        let indexer = plain.behind(&[&shop.test_chain.rpc_url], &shop.test_chain, &recorder.url).await?;
        Ok(Self { shop, indexer, recorder, idle: 0.0 })
    }

    async fn calls(&mut self) -> Result<Vec<Call>, Error> {
        self.recorder.take_calls();
        self.indexer.follow().await?;
        Ok(self.recorder.take_calls())
    }

    /// Indexes new blocks, and enough empty ones to make them final. Returns the write units, and prints all costs.
    async fn cost(&mut self, what: &str) -> Result<f64, Error> {
        let live = self.calls().await?;
        self.shop.test_chain.finalise().await?;
        let until_final = self.calls().await?;
        let (reads, writes) = (units(&live, false), units(&live, true));
        let later = units(&until_final, true) - self.idle;
        println!("{what}: {} calls, {reads} read units, {writes} write units; {later} once final", live.len());
        Ok(writes + later)
    }
}

fn units(calls: &[Call], writes: bool) -> f64 {
    calls.iter().filter(|call| call.operation.contains("Write") == writes).map(|call| call.capacity).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn collect_and_moment_cost_few_write_units() -> Result<(), Error> {
    let mut meter = Meter::start().await?;
    meter.cost("new collection with a moment").await?;
    for token in 2..8 {
        meter.shop.publish(token).await?;
        meter.shop.collect(1, "Before").await?;
    }
    meter.cost("six moments and six collects").await?;
    meter.shop.test_chain.finalise().await?;
    meter.idle = units(&meter.calls().await?, true);

    meter.shop.collect(1, "High water").await?;
    let collect = meter.cost("collect with a comment").await?;
    meter.shop.publish(8).await?;
    let moment = meter.cost("new moment").await?;
    assert!(collect <= 36.0, "{collect}");
    assert!(moment <= 72.0, "{moment}");
    Ok(())
}
