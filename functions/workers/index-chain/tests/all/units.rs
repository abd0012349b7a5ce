//! What an event costs: the write units of a live collect and of a new moment, until their blocks are final.

use alloy::{
    primitives::{Address, U256},
    sol_types::SolValue,
};
use local::recorder::Recorder;
use shared::{
    chain::{
        contracts::native::{
            Creator1155,
            CreatorFactory::{self, createContractCall},
        },
        protocol::publishing::Publisher,
    },
    model::{Amount, MetadataUri, NewMoment, OPEN_EDITION, Sale, SaleTerms},
};
use tests::{Error, TestChain, history::History};

use crate::support::Indexer;

const PRICE: u64 = 1_000_000;

/// An indexer whose requests to DynamoDB are recorded, and its artist.
struct Metered {
    test_chain: TestChain,
    history: History,
    indexer: Indexer,
    recorder: Recorder,
    artist: Address,
}

impl Metered {
    async fn start(name: &str) -> Result<Self, Error> {
        let test_chain = TestChain::start(name, 8).await?;
        let history = History::on(&test_chain, 1).await?;
        let plain = Indexer::of(&test_chain, &[&test_chain.rpc_url]).await?;
        let recorder = Recorder::in_front_of(&plain.dynamodb).await?;
        let indexer = plain.behind(&test_chain, &recorder.url).await?;
        let artist = history.people[0];
        Ok(Self { test_chain, history, indexer, recorder, artist })
    }

    fn moment(number: u64) -> Result<NewMoment, Error> {
        let terms = SaleTerms { start: 0, end: u64::MAX, max_per_address: 0 };
        Ok(NewMoment {
            uri: format!("ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi/{number}")
                .parse::<MetadataUri>()?,
            max_supply: OPEN_EDITION,
            create_referral: shared::model::Address::ZERO,
            sale: Sale::FixedPrice { terms, price: Amount(U256::from(PRICE)) },
            payout_recipient: None,
            mint_to_creator: 1,
        })
    }

    fn publisher(&self) -> Publisher<'_> {
        Publisher {
            addresses: &self.test_chain.chain.addresses,
            account: self.artist,
            operator: self.artist,
            split: None,
        }
    }

    async fn collection(&mut self) -> Result<Address, Error> {
        let call: createContractCall =
            self.publisher().create_collection("Tides", &"ar://collection".parse()?, &[Self::moment(1)?]);
        let factory = self.test_chain.chain.addresses.factory;
        let receipt = self.history.send(self.artist, factory, U256::ZERO, &call).await?.ok_or("no collection")?;
        let created = receipt.logs().iter().find_map(|log| log.log_decode::<CreatorFactory::SetupNewContract>().ok());
        Ok(created.ok_or("no announcement")?.inner.data.newContract)
    }

    async fn publish(&mut self, collection: Address, token: u64) -> Result<(), Error> {
        let data = self.publisher().publish(U256::from(token), "Tides", &[Self::moment(token)?]);
        let call = Creator1155::multicallCall { data };
        self.history.send(self.artist, collection, U256::ZERO, &call).await?.ok_or("not published")?;
        Ok(())
    }

    async fn collect(&mut self, collection: Address, comment: &str) -> Result<(), Error> {
        let fee = Creator1155::new(collection, &self.test_chain.node).mintFee().call().await?;
        let collector = self.history.people[1];
        let call = Creator1155::mintCall {
            minter: self.test_chain.chain.addresses.fixed_price_minter,
            tokenId: U256::ONE,
            quantity: U256::ONE,
            rewardsRecipients: Vec::new(),
            minterArguments: (collector, comment.to_owned()).abi_encode_params().into(),
        };
        let value = fee + U256::from(PRICE);
        self.history.send(collector, collection, value, &call).await?.ok_or("not collected")?;
        Ok(())
    }

    /// Indexes new blocks, and then enough empty ones to make them final. Returns the write units, and prints all costs.
    async fn units(&mut self, what: &str) -> Result<f64, Error> {
        self.recorder.take_calls();
        self.indexer.follow().await?;
        let mut calls = self.recorder.take_calls();
        let live = calls.len();
        self.test_chain.finalise().await?;
        self.indexer.follow().await?;
        // What the blocks in between cost isn't the event's.
        let until_final = self.recorder.take_calls();
        let is_write = |call: &&local::recorder::Call| call.operation.contains("Write");
        let writes: f64 = calls.iter().filter(is_write).map(|call| call.capacity).sum();
        let reads: f64 = calls.iter().filter(|call| !is_write(call)).map(|call| call.capacity).sum();
        let later: f64 = until_final.iter().filter(is_write).map(|call| call.capacity).sum();
        println!("{what}: {writes} write units, {reads} read units, {live} calls; {later} write units when final");
        calls.extend(until_final);
        Ok(calls.iter().filter(is_write).map(|call| call.capacity).sum())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn collect_and_moment_cost_few_write_units() -> Result<(), Error> {
    let mut metered = Metered::start("units").await?;
    let collection = metered.collection().await?;
    metered.units("new collection with a moment").await?;
    for token in 2..8 {
        metered.publish(collection, token).await?;
    }
    for _ in 0..5 {
        metered.collect(collection, "Before").await?;
    }
    metered.units("six moments and five collects").await?;

    metered.collect(collection, "High water").await?;
    let collect = metered.units("collect with a comment").await?;
    metered.publish(collection, 8).await?;
    let moment = metered.units("new moment").await?;
    assert!(collect <= 40.0, "{collect}");
    assert!(moment <= 100.0, "{moment}");
    Ok(())
}
