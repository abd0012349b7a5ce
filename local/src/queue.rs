//! Transactions that are queued past all endpoints.

use aws_sdk_dynamodb::types::AttributeValue;
use shared::{
    clock,
    model::{Call, ChainId, Creation, DailySpend, WriteKind},
    store::artist::{Admission, Admitted, ArtistTable, NewTransaction, Outlay, Pool, PoolLimit, Spent, Transactions},
};

use crate::{Error, stack_map::StackMap};

/// Queues a transaction that does nothing, on a chain that no relay serves. Returns its id.
pub async fn queue_unserved(stack: &StackMap, account: &str) -> Result<String, Error> {
    queue_calls(stack, account, ChainId(31_337), WriteKind::Plain, Vec::new(), 0).await
}

/// Queues a transaction of an account past all endpoints. Returns its id.
pub async fn queue_calls(
    stack: &StackMap,
    account: &str,
    chain: ChainId,
    kind: WriteKind,
    calls: Vec<Call>,
    gas: u64,
) -> Result<String, Error> {
    let table = stack.names.get("ArtistTable").ok_or("the stack has no ArtistTable")?;
    let aws = stack.endpoints().sdk_config(&stack.dynamodb).await;
    let wallet = aws_sdk_dynamodb::Client::new(&aws).get_item().table_name(table);
    let wallet = wallet.key("pk", AttributeValue::S(format!("WALLET#{account}")));
    let wallet = wallet.key("sk", AttributeValue::S("ARTIST".to_owned())).send().await?.item.ok_or("no wallet")?;
    let artist = wallet["artist_id"].as_s().map_err(|_| "the artist's id is no text")?.parse()?;
    let store = Transactions::new(ArtistTable::new(&aws, table));
    let admission = Admission {
        artist,
        key: None,
        // What ends it unsent gives this back.
        outlay: Some(Outlay { key: None, limit: DailySpend::default(), each: vec![Spent { eth: 1, usdc: 0 }] }),
        chain,
        wallet: account.parse()?,
        account: store.account(artist, chain).await?,
        transactions: vec![NewTransaction {
            plan: calls.into(),
            kind,
            gas,
            creation: Creation::Nothing,
            reserve: 0,
            valid_until: None,
        }],
        replay: None,
        claim: None,
        activity: None,
        artist_limit: u64::MAX,
        pool: PoolLimit { pool: Pool::Established, wei: u64::MAX, assured: 0 },
    };
    match store.admit(&admission, clock::now()?).await? {
        Admitted::Queued(queued) => Ok(queued.first().ok_or("nothing queued")?.id.to_string()),
        Admitted::Refused(refusal) => Err(format!("{refusal:?}").into()),
    }
}
