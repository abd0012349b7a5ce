//! Collections that the index doesn't tell of: it is built anew, or behind.

use alloy::{
    primitives::{Address, B256, U256},
    providers::{Provider, ext::AnvilApi},
    rpc::types::TransactionRequest,
    sol_types::SolCall,
};
use local::workshop::Workshop;
use relay::ChainRelay;
use shared::{
    chain::{contracts::native::CreatorFactory, protocol::provenance::Origin},
    model::{Collection, EventId, Protocol, TransactionStatus},
    store::{
        artist::{ArtistTable, MadeCollections},
        chain::ChainTable,
        engine::{BlockId, Journal, UnitOfWork},
    },
};

use crate::{
    proxy::{self, Act},
    support::{Error, assert_done_once, queue, relay, renaming, run, stage, transaction},
};

const OWNER: Address = Address::repeat_byte(0x21);

/// A relay that asks for the newest block's logs alone: any index is far behind.
fn far_behind(workshop: &Workshop, rpc_url: &str) -> Result<ChainRelay, Error> {
    Ok(ChainRelay { provenance: workshop.provenance().with_log_range(0), ..relay(workshop, rpc_url)? })
}

async fn origin(relay: &ChainRelay, collection: Address) -> Result<Origin, Error> {
    relay.provenance.of(&relay.node, &relay.chain, collection.into()).await
}

/// Says that all blocks up to this one are indexed, in which these collections are.
async fn index(workshop: &Workshop, last: u64, collections: &[Address]) -> Result<(), Error> {
    let (table, chain) = (ChainTable::new(&workshop.dynamodb, "ChainTable"), workshop.chain.id);
    let (mut work, mut journal) = (UnitOfWork::new(table.clone()), Journal::new(table, chain));
    journal.open(&mut work).await?;
    for collection in collections {
        work.put_collection(&Collection {
            id: EventId::new(chain, B256::ZERO, 0),
            chain_id: chain,
            address: (*collection).into(),
            protocol: Protocol::Native,
            name: "Workshop".to_owned(),
            uri: "ar://collection".to_owned(),
            creator: Address::ZERO.into(),
            admins: Vec::new(),
            royalty: None,
            is_withheld: false,
            created_at: 0,
            updated_at: 0,
        })?;
    }
    Ok(journal.commit(&mut work, 0, BlockId { number: last, hash: B256::ZERO }, Some(last)).await?)
}

/// Creates a collection whose address follows from its creator, its owner, URI and name.
async fn create_deterministic(workshop: &Workshop, creator: Address, owner: Address) -> Result<Address, Error> {
    let royalty =
        CreatorFactory::RoyaltyConfiguration { royaltyMintSchedule: 0, royaltyBPS: 1_000, royaltyRecipient: owner };
    let creation = CreatorFactory::createContractDeterministicCall {
        newContractURI: "ar://tides".to_owned(),
        name: "Tides".to_owned(),
        defaultRoyaltyConfiguration: royalty,
        defaultAdmin: owner,
        setupActions: Vec::new(),
    };
    let node = workshop.node().await?;
    node.anvil_impersonate_account(creator).await?;
    node.anvil_set_balance(creator, U256::from(u64::MAX)).await?;
    let request = TransactionRequest::default().from(creator).to(workshop.chain.addresses.factory);
    let receipt = node.eth_send_transaction_sync(request.input(creation.abi_encode().into())).await?;
    let mut created = receipt.logs().iter().filter_map(|log| log.log_decode::<CreatorFactory::SetupNewContract>().ok());
    Ok(created.next().ok_or("no collection")?.inner.data.newContract)
}

#[tokio::test(flavor = "multi_thread")]
async fn collections_of_a_lost_index_are_known_by_their_addresses() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-lost-index", 1).await?;
    let deterministic = create_deterministic(&workshop, OWNER, OWNER).await?;
    let url = proxy::start(&workshop.rpc_url, |request| match request.operation.as_str() {
        "eth_getLogs" => Act::Refuse("block range is too large"),
        _ => Act::Forward,
    });
    let relay = far_behind(&workshop, &url.await?)?;

    assert_eq!(origin(&relay, collection).await?, Origin::Factory);
    assert_eq!(origin(&relay, deterministic).await?, Origin::Factory);
    queue(&workshop, &artists[0], vec![renaming(collection, "ar://known")]).await?;
    run(&relay).await?;
    assert_done_once(&workshop, collection, &["ar://known".to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn stranger_at_another_address_is_refused_behind_a_lost_index() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-lost-index-stranger", 1).await?;
    let (node, stranger) = (workshop.node().await?, Address::repeat_byte(0x22));
    let relay = far_behind(&workshop, &workshop.rpc_url)?;
    // Without code it isn't known either, although the factory will create one there.
    let next = node.get_transaction_count(workshop.chain.addresses.factory).await?;
    assert_eq!(origin(&relay, workshop.chain.addresses.factory.create(next)).await?, Origin::Unknown);
    node.anvil_set_code(stranger, node.get_code_at(collection).await?).await?;
    // Forwards each read, so that it says of itself what a collection says whose address follows from that.
    let (mirror, mirrored) = (Address::repeat_byte(0x23), create_deterministic(&workshop, OWNER, OWNER).await?);
    let forwarding = format!("0x363d3d373d3d3d363d73{mirrored:x}5afa3d82803e903d91602b57fd5bf3");
    node.anvil_set_code(mirror, forwarding.parse()?).await?;
    assert_eq!(origin(&relay, stranger).await?, Origin::Unknown);
    assert_eq!(origin(&relay, mirror).await?, Origin::Unknown);

    // Indexed up to a block in which the strangers are there, and far behind all the same.
    node.anvil_mine(Some(1), None).await?;
    index(&workshop, node.get_block_number().await?, &[]).await?;
    node.anvil_mine(Some(3), None).await?;
    assert_eq!(origin(&relay, stranger).await?, Origin::Stranger);
    assert_eq!(origin(&relay, mirror).await?, Origin::Stranger);
    assert_eq!(origin(&relay, collection).await?, Origin::Factory);
    let id = queue(&workshop, &artists[0], vec![renaming(stranger, "ar://stolen")]).await?[0];
    run(&relay).await?;
    assert_eq!(transaction(&workshop, &artists[0], id).await?.status, TransactionStatus::Failed);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn collection_whose_logs_lag_or_are_refused_is_no_stranger() -> Result<(), Error> {
    let (workshop, _, collection) = stage("relay-lagging-logs", 1).await?;
    // Up to the block before the collection's.
    index(&workshop, workshop.node().await?.get_block_number().await? - 1, &[]).await?;
    // Its address follows from its creator, whom it doesn't name.
    let of_another = create_deterministic(&workshop, Address::repeat_byte(0x24), OWNER).await?;
    let acts: [fn() -> Act; 3] =
        [|| Act::Say(serde_json::json!([])), || Act::Refuse("block range is too large"), || Act::Forward];
    let mut origins = Vec::new();
    for act in acts {
        let url = proxy::start(&workshop.rpc_url, move |request| match request.operation.as_str() {
            "eth_getLogs" => act(),
            _ => Act::Forward,
        });
        let relay = relay(&workshop, &url.await?)?;
        origins.push([origin(&relay, collection).await?, origin(&relay, of_another).await?]);
    }
    let lagging = [Origin::Unknown, Origin::Unknown];
    // The first one's address tells.
    let refused = [Origin::Factory, Origin::Unknown];
    assert_eq!(origins, [lagging, refused, [Origin::Factory, Origin::Factory]]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn indexed_collection_that_was_written_to_outlives_the_index() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-outlived-index", 1).await?;
    index(&workshop, workshop.node().await?.get_block_number().await?, &[collection]).await?;
    let made = MadeCollections::new(ArtistTable::new(&workshop.dynamodb, "ArtistTable"));
    assert!(!made.contains(workshop.chain.id, collection.into()).await?);
    queue(&workshop, &artists[0], vec![renaming(collection, "ar://kept")]).await?;

    run(&relay(&workshop, &workshop.rpc_url)?).await?;

    assert_done_once(&workshop, collection, &["ar://kept".to_owned()]).await?;
    assert!(made.contains(workshop.chain.id, collection.into()).await?);
    Ok(())
}
