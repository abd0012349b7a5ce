//! Measures the indexer's rate: 100,000 protocol events from an anvil chain into the local tables, beside what the
//! database takes at most and beside Ponder on the same chain.

mod ponder;

use std::{sync::atomic::Ordering, time::Instant};

use alloy::{
    network::TransactionBuilder,
    primitives::{Address, U256, aliases::U96, keccak256, uint},
    providers::{Provider, RootProvider, ext::AnvilApi},
    rpc::types::TransactionRequest,
    sol_types::{SolCall, SolValue},
};
use aws_sdk_dynamodb::types::{AttributeValue, Put, TransactWriteItem};
use futures::{StreamExt, TryStreamExt, stream};
use index_chain::Follower;
use local::{
    Error,
    chains::LocalChain,
    cloud::{Endpoints, local_chains},
    contracts::{self, Artifacts},
    database,
    paths::Paths,
    workshop,
};
use shared::{
    chain::{
        Chain,
        contracts::native::{Creator1155, FixedPriceMinter},
        node::Node,
        wallet::{Call, batch},
    },
    model::ChainId,
    store::{
        artist::{ArtistTable, Artists},
        chain::ChainTable,
    },
};
use template::Resource;
use tests::DatabaseProxy;

/// The function's own.
#[cfg(not(debug_assertions))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const CHAIN: ChainId = ChainId(8453);
/// Least number of events on the chain.
const EVENTS: usize = 100_000;
const COLLECTIONS: usize = 40;
const COLLECTORS: u64 = 5_000;
/// Milliseconds added to each call of DynamoDB and of the node, for measurements that are closer to an account: with a node
/// that is near, and with one that is slow.
const DELAYS: [(u64, u64); 2] = [(8, 50), (8, 500)];
/// Collects per transaction. Each has three events: transfer, comment and purchase.
const COLLECTS: usize = 60;
const EVENTS_A_COLLECT: usize = 3;
const PRICE: u64 = 1_000_000;
/// The default of public chains, in blocks.
const REORG_DEPTH: u64 = 128;
const GAS: u64 = 16_000_000;
const BALANCE: U256 = uint!(1_000_000_000_000_000_000_000_U256);

#[tokio::main]
async fn main() -> Result<(), Error> {
    let paths = Paths::of_checkout();
    let (_, chains) = local_chains(&[CHAIN.0])?;
    let chain = Chain { reorg_depth: REORG_DEPTH, ..chains.get(CHAIN)?.clone() };
    let process = LocalChain::start(&paths, &paths.local("workshops/index-bench"), CHAIN).await?;
    contracts::deploy(&process.rpc_url, &chain, &Artifacts::compile(&paths).await?).await?;
    let start = Instant::now();
    let blocks = make_events(&process.rpc_url, &chain).await?;
    println!("{blocks} blocks made in {:.0} s", start.elapsed().as_secs_f64());

    let ceiling = ceiling(&paths).await?;
    println!("database's ceiling: {ceiling:.0} rows a second, in transactions of 100, four at a time");
    let ours = index(&paths, &process.rpc_url, &chain, None).await?;
    println!("{:.0} % of the ceiling", 100.0 * ours.rows_written / ceiling);
    for (of_database, of_node) in DELAYS {
        println!("with {of_database} ms added to each call of DynamoDB and {of_node} ms to each of the node:");
        index(&paths, &process.rpc_url, &chain, Some((of_database, of_node))).await?;
    }
    match ponder::index(&paths, &process.rpc_url, &chain, blocks - 1).await? {
        Some(seconds) => {
            let theirs = ours.events / seconds;
            println!("Ponder: the same blocks in {seconds:.1} s: {theirs:.0} events a second");
            println!("ours to Ponder's: {:.2}", ours.rate / theirs);
        }
        None => println!("Ponder isn't installed: run make bench"),
    }
    Ok(())
}

/// What was measured of one history.
struct Measured {
    events: f64,
    /// Events a second.
    rate: f64,
    /// Rows written a second.
    rows_written: f64,
}

#[expect(clippy::cast_precision_loss, reason = "counts are far fewer than 2^52")]
async fn index(paths: &Paths, rpc_url: &str, chain: &Chain, delays: Option<(u64, u64)>) -> Result<Measured, Error> {
    let mut follower = follower(paths, rpc_url, chain, delays).await?;
    let start = Instant::now();
    let followed = follower.follow(None, None, &[]).await?;
    let seconds = start.elapsed().as_secs_f64();
    let (calls, usage) = follower.usage();
    let (events, rows) = (followed.events as f64, usage.rows_written as f64);
    println!("{events} events indexed in {seconds:.1} s: {:.0} events a second", events / seconds);
    println!("{calls} RPC calls, {} reads and {} writes of DynamoDB", usage.reads, usage.writes);
    println!("{rows} rows written, journal included: {:.0} a second", rows / seconds);
    if followed.events < EVENTS {
        return Err(format!("only {} events", followed.events).into());
    }
    Ok(Measured { events, rate: events / seconds, rows_written: rows / seconds })
}

/// Rows a second that the database takes from a client without anything else to do.
#[expect(clippy::cast_precision_loss, reason = "counts are far fewer than 2^52")]
async fn ceiling(paths: &Paths) -> Result<f64, Error> {
    const TRANSACTIONS: usize = 600;
    const ROWS: usize = 100;
    let (endpoints, dynamodb) = tables(paths).await?;
    let client = aws_sdk_dynamodb::Client::new(&endpoints.sdk_config(&dynamodb).await);
    let text = |value: String| AttributeValue::S(value);
    let write = |transaction: usize| {
        let put = |row: usize| {
            let put = Put::builder().table_name("ChainTable").item("pk", text(format!("ROW#{transaction}")));
            let put = put.item("sk", text(format!("{row:012}"))).item("filler", text("x".repeat(200)));
            Ok::<_, Error>(TransactWriteItem::builder().put(put.build()?).build())
        };
        let (client, items) = (client.clone(), (0..ROWS).map(put).collect::<Result<Vec<_>, _>>());
        async move { Ok::<_, Error>(client.transact_write_items().set_transact_items(Some(items?)).send().await?) }
    };
    let start = Instant::now();
    stream::iter((0..TRANSACTIONS).map(write)).buffer_unordered(4).try_for_each(async |_| Ok(())).await?;
    Ok((TRANSACTIONS * ROWS) as f64 / start.elapsed().as_secs_f64())
}

/// Fills the chain with events, and returns its number of blocks.
async fn make_events(rpc_url: &str, chain: &Chain) -> Result<u64, Error> {
    let node: RootProvider = RootProvider::connect(rpc_url).await?;
    let mut collections = Vec::new();
    for index in 0..COLLECTIONS {
        let actions = sale(chain, index);
        let admin = Address::from_word(keccak256(index.to_be_bytes()));
        collections.push(workshop::publish(rpc_url, chain.addresses.factory, &[admin], actions).await?);
    }
    let from = *node.get_accounts().await?.first().ok_or("no account")?;
    node.anvil_set_balance(from, BALANCE).await?;
    let fee = Creator1155::new(collections[0], &node).mintFee().call().await? + U256::from(PRICE);
    let mut done = 0;
    while done * EVENTS_A_COLLECT < EVENTS {
        let calls =
            (done..done + COLLECTS).map(|number| collect(chain, collections[number % COLLECTIONS], number, fee));
        let Call { target, data, .. } = batch(&calls.collect::<Vec<_>>());
        let value = fee * U256::from(COLLECTS);
        let request = TransactionRequest::default().with_from(from).with_to(target).with_value(value);
        let request = request.with_input(data).with_gas_limit(GAS);
        if !node.eth_send_transaction_sync(request).await?.status() {
            return Err("a transaction reverted".into());
        }
        done += COLLECTS;
    }
    Ok(node.get_block_number().await? + 1)
}

/// The calls that put token 1 on sale for [`PRICE`].
fn sale(chain: &Chain, index: usize) -> Vec<Vec<u8>> {
    let minter = chain.addresses.fixed_price_minter;
    let config = FixedPriceMinter::SalesConfig {
        saleStart: 0,
        saleEnd: u64::MAX,
        maxTokensPerAddress: 0,
        pricePerToken: U96::from(PRICE),
        fundsRecipient: Address::from_word(keccak256(index.to_be_bytes())),
    };
    let set = FixedPriceMinter::setSaleCall { tokenId: U256::ONE, salesConfig: config }.abi_encode();
    let permission = Creator1155::addPermissionCall { tokenId: U256::ONE, user: minter, permissionBits: U256::from(4) };
    let call = Creator1155::callSaleCall { tokenId: U256::ONE, salesConfig: minter, data: set.into() };
    vec![permission.abi_encode(), call.abi_encode()]
}

fn collect(chain: &Chain, collection: Address, number: usize, value: U256) -> Call {
    let random = keccak256(number.to_be_bytes());
    let collector = u64::from_be_bytes(*random.first_chunk().unwrap_or(&[0; 8])) % COLLECTORS;
    let collector = Address::from_word(keccak256(collector.to_be_bytes()));
    let mint = Creator1155::mintCall {
        minter: chain.addresses.fixed_price_minter,
        tokenId: U256::ONE,
        quantity: U256::ONE,
        rewardsRecipients: Vec::new(),
        minterArguments: (collector, format!("Collected {number}")).abi_encode_params().into(),
    };
    Call { value, ..Call::new(collection, &mint) }
}

/// Starts a database with the template's tables, without their streams: DynamoDB fills those by itself, whereas here each
/// write would pay for its record.
async fn tables(paths: &Paths) -> Result<(Endpoints, String), Error> {
    let dynamodb = database::start().await?;
    let endpoints = Endpoints { aws: dynamodb.clone(), dynamodb: dynamodb.clone() };
    let template = paths.template()?;
    for table in template.resources("AWS::DynamoDB::Table") {
        let mut properties = table.properties.clone();
        properties.as_mapping_mut().ok_or("no properties")?.remove("StreamSpecification");
        endpoints.create_table(Resource { properties: &properties, ..table }).await?;
    }
    Ok((endpoints, dynamodb))
}

/// Creates an indexer with empty tables. `delays` are milliseconds added to each call of DynamoDB and of the node.
async fn follower(paths: &Paths, rpc_url: &str, chain: &Chain, delays: Option<(u64, u64)>) -> Result<Follower, Error> {
    let (endpoints, mut dynamodb) = tables(paths).await?;
    let mut rpc_url = rpc_url.to_owned();
    if let Some((of_database, of_node)) = delays {
        for (url, delay) in [(&mut dynamodb, of_database), (&mut rpc_url, of_node)] {
            let proxy = DatabaseProxy::start().await?;
            proxy.lead_to(url);
            proxy.delay.store(delay, Ordering::Relaxed);
            *url = proxy.url;
        }
    }
    let aws = endpoints.sdk_config(&dynamodb).await;
    let urls = format!(r#"{{"{CHAIN}": ["{rpc_url}"]}}"#).parse()?;
    let (table, artists) = (ChainTable::new(&aws, "ChainTable"), Artists::new(ArtistTable::new(&aws, "ArtistTable")));
    Ok(Follower::new(chain.clone(), &Node::paced(&urls, CHAIN)?, table, artists))
}
