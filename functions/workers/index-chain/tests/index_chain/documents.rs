//! Documents that a collection names again are read again, once for all that name them within a range.

use alloy::{
    primitives::{Bytes, U256},
    providers::Provider,
    sol_types::SolCall,
};
use shared::{
    chain::contracts::native::Creator1155,
    model::OPEN_EDITION,
    store::chain::{Documents, QUEUE_SHARDS},
};
use tests::{Error, TestChain, history::History};

use crate::support::Indexer;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn document_is_read_again_when_its_uri_is_set_anew() -> Result<(), Error> {
    let test_chain = TestChain::start("documents", 4).await?;
    let mut history = History::on(&test_chain, 6).await?;
    let mut indexer = Indexer::of(&test_chain, &[&test_chain.rpc_url]).await?;
    let artist = history.people[0];
    let (collection, ..) = history.conversation(artist).await?;
    let web = "https://tides.example/1.json";
    for uri in [web, "ar://fixed"] {
        let new = Creator1155::setupNewTokenCall { newURI: uri.to_owned(), maxSupply: U256::from(OPEN_EDITION) };
        history.send(artist, collection, U256::ZERO, &new).await?.ok_or("no moment")?;
    }
    indexer.follow().await?;
    let documents = Documents::new(indexer.table.clone());
    let again = async || {
        let mut again = Vec::new();
        for shard in 0..QUEUE_SHARDS {
            let due = documents.due(shard, u64::from(u32::MAX), 100).await?;
            again.extend(due.into_iter().filter_map(|due| Some((due.uri, due.since?))));
        }
        Ok::<_, Error>(again)
    };
    assert_eq!(again().await?, []);

    let set = |token: u64, uri: &str| {
        let call = Creator1155::updateTokenURICall { tokenId: U256::from(token), newURI: uri.to_owned() };
        Bytes::from(call.abi_encode())
    };
    let _: serde_json::Value = test_chain.node.raw_request("evm_increaseTime".into(), (60,)).await?;
    // The conversation has the first token.
    let data = vec![set(2, web), set(3, "ar://fixed"), set(2, web), set(2, web)];
    history.send(artist, collection, U256::ZERO, &Creator1155::multicallCall { data }).await?.ok_or("not set")?;
    indexer.follow().await?;
    let named: Vec<_> = again().await?;
    assert_eq!(named.iter().map(|(uri, _)| uri.as_str()).collect::<Vec<_>>(), [web]);
    Ok(())
}
