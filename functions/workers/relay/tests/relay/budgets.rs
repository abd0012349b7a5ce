//! What artists are charged.

use std::{collections::HashSet, sync::Mutex, time::Duration};

use alloy::{
    primitives::{B256, Bytes, U256},
    providers::ext::AnvilApi,
    sol_types::{SolCall, SolValue},
};
use aws_sdk_dynamodb::types::AttributeValue;
use local::contracts::DEPLOYER;
use shared::{
    chain::{contracts::native::Creator1155, node::MULTICALL},
    clock,
    model::{Call, DAY, TransactionStatus},
    store::artist::{Admission, AdmissionRefusal, Admitted, NewTransaction, Pool, PoolLimit, Transaction},
};

use crate::{
    common::money::lanes_wei,
    proxy::{self, Act},
    support::{
        Error, RESERVE, act_as, assert_charged, assert_done_once, queue, relay, renaming, run, stage, token_creation,
        transaction, unsent_failure, until_mined,
    },
};

#[tokio::test(flavor = "multi_thread")]
async fn clocks_on_both_sides_of_midnight_lock_no_artist_out() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-midnight", 1).await?;
    let (store, artist, chain) = (workshop.transactions(), artists[0], workshop.chain.id);
    let today = clock::now()?;
    let tomorrow = today + Duration::from_secs(DAY);
    let admit = async |account, now: Duration| -> Result<Transaction, Error> {
        let admission = Admission {
            account,
            artist_limit: 10 * RESERVE,
            pool: PoolLimit { pool: Pool::Established, wei: 1_000 * RESERVE, assured: 0 },
            ..workshop.admission(&artist, vec![renaming(collection, "ar://midnight")]).await?
        };
        match store.admit(&admission, now).await? {
            Admitted::Queued(queued) => Ok(queued.into_iter().next().ok_or("nothing queued")?),
            Admitted::Refused(refusal) => Err(format!("{refusal:?}").into()),
        }
    };
    let mut rows = vec![admit(None, today).await?];
    let before = store.account(artist.artist_id, chain).await?;
    rows.push(admit(before, tomorrow).await?);
    // It lost the race against the write of the next day.
    rows.push(admit(before, today).await?);
    let account = store.account(artist.artist_id, chain).await?.ok_or("no account")?;
    assert_eq!((account.day, account.spent), (tomorrow.as_secs() / DAY, 2 * RESERVE));

    for row in &rows {
        assert!(store.end(row, &unsent_failure(), today.as_secs()).await?);
    }

    let account = store.account(artist.artist_id, chain).await?.ok_or("no account")?;
    assert_eq!((account.waiting, account.spent), (0, 0));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn assured_writes_are_admitted_although_the_pool_is_used_up() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-assured", 1).await?;
    let (store, artist) = (workshop.transactions(), artists[0]);
    let now = clock::now()?;
    // Each of a pool's eight counters takes one write.
    let mut outcomes = Vec::new();
    for number in 0..12 {
        let admission = Admission {
            artist_limit: 100 * RESERVE,
            pool: PoolLimit { pool: Pool::Regulars, wei: 8 * RESERVE, assured: 10 * RESERVE },
            ..workshop.admission(&artist, vec![renaming(collection, &format!("ar://{number}"))]).await?
        };
        outcomes.push(matches!(store.admit(&admission, now).await?, Admitted::Queued(_)));
    }
    assert_eq!(outcomes, [[true; 10].as_slice(), &[false; 2]].concat());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn attackers_whose_tokens_never_get_through_end_at_their_limits_and_hold_up_nobody() -> Result<(), Error> {
    const ATTACKERS: usize = 20;
    /// Of an artist beside them.
    const HONEST: usize = 3;
    /// Wei: some attempts.
    const LIMIT: u64 = 2 * RESERVE;
    let (workshop, artists, collection) = stage("relay-attackers", ATTACKERS + 1).await?;
    let (honest, attackers) = artists.split_last().ok_or("no artists")?;
    let (node, store, chain) = (workshop.node().await?, workshop.transactions(), workshop.chain.id);
    let funds = lanes_wei(&workshop, &node).await?;
    // Each collection is asked on its own. The first answer about one after a batch with it is true: another token came
    // first.
    node.anvil_set_code(MULTICALL, Bytes::new()).await?;
    let (sent, seen) = (Mutex::<Vec<String>>::default(), Mutex::<HashSet<(String, usize)>>::default());
    let url = proxy::start(&workshop.rpc_url, move |request| {
        let asked = alloy::hex::encode_prefixed(Creator1155::nextTokenIdCall::SELECTOR);
        let overtaken = alloy::hex::encode_prefixed(U256::from(2).abi_encode());
        let (what, mut sent) = (&request.body["params"][0], sent.lock().expect("the lock"));
        if let (true, Some(signed)) = (request.operation == "eth_sendRawTransaction", what.as_str()) {
            if !sent.iter().any(|known| known == signed) {
                sent.push(signed.to_owned());
            }
            return Act::Forward;
        }
        if what["input"] != asked {
            return Act::Forward;
        }
        let collection = what["to"].as_str().unwrap_or_default().trim_start_matches("0x").to_lowercase();
        let mut seen = seen.lock().expect("the lock");
        let batches = sent.iter().enumerate().filter(|(_, signed)| signed.contains(&collection));
        let is_first = batches.filter(|(index, _)| seen.insert((collection.clone(), *index))).count() > 0;
        if is_first { Act::Forward } else { Act::Say(overtaken.into()) }
    })
    .await?;
    let (mut ids, mut last) = (Vec::new(), B256::ZERO);
    for artist in attackers {
        let collection = workshop.collection(&[*artist]).await?;
        let other = Creator1155::setupNewTokenCall { newURI: "ar://first".to_owned(), maxSupply: U256::ONE };
        last = act_as(&workshop, DEPLOYER, Call::new(collection, &other)).await?;
        let attack = token_creation(artist, collection, "ar://overtaken")?;
        ids.extend(queue(&workshop, artist, vec![NewTransaction { reserve: LIMIT, ..attack }]).await?);
    }
    // And those before it.
    until_mined(&workshop, last).await?;
    let uris: Vec<_> = (0..HONEST).map(|number| format!("ar://honest/{number}")).collect();
    let renamings = uris.iter().map(|uri| renaming(collection, uri)).collect();
    let honest_ids = queue(&workshop, honest, renamings).await?;

    let report = run(&relay(&workshop, &url)?).await?;

    assert_eq!(report.ended, ATTACKERS + HONEST);
    assert_done_once(&workshop, collection, &uris).await?;
    for id in &honest_ids {
        let row = transaction(&workshop, honest, *id).await?;
        assert_eq!((row.status, row.attempts), (TransactionStatus::Mined, 0), "{row:?}");
    }
    for (artist, id) in attackers.iter().zip(&ids) {
        let row = transaction(&workshop, artist, *id).await?;
        assert_eq!(row.status, TransactionStatus::Reverted, "{row:?}");
        let reason = row.reason.as_deref().unwrap_or_default();
        assert!(reason.starts_with("Its attempts cost what was reserved"), "{reason}");
        // The last attempt is what shows that the limit is reached.
        assert!(row.attempts_wei <= LIMIT && row.charge.wei > LIMIT && row.charge.wei < 2 * LIMIT, "{row:?}");
        let account = store.account(artist.artist_id, chain).await?.ok_or("no account")?;
        assert_eq!((account.spent, account.waiting), (row.charge.wei, 0));
        let admission = Admission {
            artist_limit: LIMIT,
            pool: PoolLimit { pool: Pool::Newcomers, wei: 1_000 * RESERVE, assured: 0 },
            ..workshop.admission(artist, vec![renaming(DEPLOYER, "ar://more")]).await?
        };
        let more = store.admit(&admission, clock::now()?).await?;
        assert!(matches!(more, Admitted::Refused(AdmissionRefusal::ArtistSpent)), "{more:?}");
    }
    let asked = attackers.iter().zip(ids).chain(honest_ids.into_iter().map(|id| (honest, id)));
    let asked: Vec<_> = asked.map(|(artist, id)| (*artist, id)).collect();
    assert_eq!(assert_charged(&workshop, funds, &asked).await?.overhead(), 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn artist_whose_row_cannot_be_read_is_no_artist_without_an_account() -> Result<(), Error> {
    let (workshop, artists, _) = stage("relay-unreadable", 1).await?;
    let (store, artist, chain) = (workshop.transactions(), artists[0].artist_id, workshop.chain.id);
    assert!(store.caller(artist, chain, None).await?.is_some());
    let key = |text: String| AttributeValue::S(text);
    let broken = aws_sdk_dynamodb::Client::new(&workshop.dynamodb).update_item().table_name("ArtistTable");
    let broken = broken.key("pk", key(format!("ARTIST#{artist}"))).key("sk", key("PROFILE".to_owned()));
    broken.update_expression("REMOVE created_at").send().await?;

    assert!(store.caller(artist, chain, None).await.is_err());
    Ok(())
}
