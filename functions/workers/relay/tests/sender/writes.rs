//! Writes that go through, and ones that are refused before they are sent.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use alloy::{eips::BlockNumberOrTag, primitives::Address, rpc::types::TransactionRequest};
use local::workshop::Workshop;
use shared::{
    chain::{transaction::WriteError, wallet::EmbeddedWallet},
    store::{ClaimRefusal, Status, Transaction},
};
use tokio::task::JoinSet;

use crate::support::{Error, NOW, WAIT, answer, lane, policy, rename, transaction, write_request};

#[tokio::test(flavor = "multi_thread")]
async fn first_write_deploys_the_account_and_later_ones_use_it() -> Result<(), Error> {
    let workshop = Workshop::start("first-write").await?;
    let sender = workshop.sender(&workshop.rpc_url, policy())?;
    let artist = workshop.artist(0).await?;
    let collection = workshop.collection(&[artist]).await?;
    let account: Address = artist.embedded_wallet.into();
    assert!(!sender.node().has_code(account).await?);

    for uri in ["ar://second", "ar://third"] {
        let request = write_request(&sender, artist, rename(collection, uri)).await?;
        let answered = sender.write(request, NOW, WAIT, answer).await?;
        assert_eq!(answered.status, 200);
        assert!(sender.node().has_code(account).await?);
        assert_eq!(workshop.uri_of(collection).await?, uri);
    }
    let state = lane(&sender, &artist).await?;
    assert_eq!((state.next_nonce, state.open), (2, BTreeSet::new()));
    let (first, second) = (transaction(&sender, &artist, 0).await?, transaction(&sender, &artist, 1).await?);
    assert!(first.deploys_account && !second.deploys_account);
    assert_eq!((first.status, second.status), (Status::Mined, Status::Mined));
    let gas = |transaction: &Transaction| transaction.mined.map(|mined| mined.gas_used);
    println!("gas: first write {:?}, second write {:?}", gas(&first), gas(&second));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn batch_is_one_transaction_before_and_after_deployment() -> Result<(), Error> {
    let workshop = Workshop::start("batch").await?;
    let sender = workshop.sender(&workshop.rpc_url, policy())?;
    let artist = workshop.artist(1).await?;
    let collection = workshop.collection(&[artist]).await?;
    for round in ["a", "b"] {
        let mut request = write_request(&sender, artist, rename(collection, "ar://lost")).await?;
        request.calls.push(rename(collection, round));
        assert_eq!(sender.write(request, NOW, WAIT, answer).await?.status, 200);
        assert_eq!(workshop.uri_of(collection).await?, round);
    }
    let stranger = workshop.artist(1).await?;
    let mut request = write_request(&sender, stranger, rename(collection, "ar://stolen")).await?;
    request.calls.push(rename(collection, "ar://stolen"));
    let Err(WriteError::Reverts(reason)) = sender.prepare(&request).await else {
        return Err("a stranger's batch went through".into());
    };
    assert_eq!(reason, format!("{} lacks the permission METADATA on token 1", stranger.embedded_wallet));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn reverting_write_takes_no_nonce_and_names_the_reason() -> Result<(), Error> {
    let workshop = Workshop::start("revert").await?;
    let sender = workshop.sender(&workshop.rpc_url, policy())?;
    let (owner, stranger) = (workshop.artist(0).await?, workshop.artist(0).await?);
    let collection = workshop.collection(&[owner]).await?;
    let request = write_request(&sender, stranger, rename(collection, "ar://stolen")).await?;
    let Err(WriteError::Reverts(reason)) = sender.write(request, NOW, WAIT, answer).await else {
        return Err("a stranger's write went through".into());
    };
    assert_eq!(reason, format!("{} lacks the permission METADATA on token 1", stranger.embedded_wallet));
    assert_eq!(sender.transactions().lane(sender.chain().id, stranger.lane).await?, None);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_writes_on_two_lanes_leave_no_gap_and_no_duplicate() -> Result<(), Error> {
    const ARTISTS: usize = 8;
    const WRITES: usize = 5;
    let workshop = Workshop::start("concurrent").await?;
    let sender = workshop.sender(&workshop.rpc_url, policy())?;
    let mut artists = Vec::new();
    for index in 0..ARTISTS {
        artists.push(workshop.artist(index % 2).await?);
    }
    let collection = workshop.collection(&artists).await?;

    let mut tasks = JoinSet::new();
    let started = Instant::now();
    for (index, artist) in artists.iter().copied().enumerate() {
        for number in 0..WRITES {
            let sender = sender.clone();
            tasks.spawn(async move {
                loop {
                    let call = rename(collection, &format!("ar://{index}/{number}"));
                    let request = write_request(&sender, artist, call).await?;
                    match sender.write(request, NOW, WAIT, answer).await {
                        Err(WriteError::Claim(ClaimRefusal::LaneFull)) => {
                            tokio::time::sleep(Duration::from_millis(50)).await;
                        }
                        other => return Ok::<_, Error>(other?),
                    }
                }
            });
        }
    }
    let mut hashes = BTreeSet::new();
    while let Some(answered) = tasks.join_next().await {
        let answered = answered??;
        assert_eq!(answered.status, 200);
        assert!(hashes.insert(answered.body), "two answers with one hash");
    }
    println!("{} writes in {:?}", hashes.len(), started.elapsed());

    let mut intents = BTreeSet::new();
    for artist in &artists[..2] {
        let state = lane(&sender, artist).await?;
        let on_chain = sender.node().next_nonce(artist.lane.into(), BlockNumberOrTag::Latest).await?;
        assert_eq!((state.open.len(), state.next_nonce), (0, on_chain));
        assert_eq!(on_chain as usize, ARTISTS / 2 * WRITES);
        for nonce in 0..on_chain {
            let mined = transaction(&sender, artist, nonce).await?;
            assert_eq!(mined.status, Status::Mined);
            assert!(intents.insert((mined.artist_id.to_string(), mined.intent.data)), "an intent was sent twice");
        }
    }
    assert_eq!((hashes.len(), intents.len()), (ARTISTS * WRITES, ARTISTS * WRITES));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn account_accepts_only_signatures_of_its_own_lane() -> Result<(), Error> {
    let workshop = Workshop::start("account").await?;
    let artist = workshop.artist(0).await?;
    let wallet = EmbeddedWallet::new(artist.lane.into(), artist.artist_id);
    assert_eq!(artist.embedded_wallet, wallet.address().into());
    let sender = workshop.sender(&workshop.rpc_url, policy())?;
    let collection = workshop.collection(&[artist]).await?;
    let other_lane = workshop.signers.iter().nth(1).ok_or("no second lane")?;
    let forged = wallet.first_transaction(workshop.chain.id, &[rename(collection, "ar://forged")], other_lane).await?;
    let request = TransactionRequest::default().to(forged.target).input(forged.data.into());
    assert!(sender.node().estimate_gas(&request).await.is_err());
    Ok(())
}
