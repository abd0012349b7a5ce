//! What `settle-transactions` recovers: interrupted writes, foreign nonces, dropped blocks, refused transactions.

use std::collections::BTreeSet;

use alloy::{
    network::TransactionBuilder,
    primitives::Address,
    providers::{Provider, ext::AnvilApi},
    rpc::types::TransactionRequest,
};
use local::workshop::Workshop;
use settle_transactions::{Settled, Settler};
use shared::{
    chain::transaction::WriteError,
    store::{Artist, ReplayKey, Status},
};

use crate::support::{
    Error, LATER, NOW, WAIT, answer, lane, policy, rename, settle, settle_all, transaction, write_request,
};

#[tokio::test(flavor = "multi_thread")]
async fn write_interrupted_between_steps_is_settled() -> Result<(), Error> {
    let workshop = Workshop::start("killed").await?;
    let sender = workshop.sender(&workshop.rpc_url, policy())?;
    let artist = workshop.artist(0).await?;
    let collection = workshop.collection(&[artist]).await?;
    let prepare = async |uri: &str| {
        let request = write_request(&sender, artist, rename(collection, uri)).await?;
        Ok::<_, Error>(sender.prepare(&request).await?)
    };

    // Claimed, not signed: abandoned once the claim has expired; a filler takes the slot.
    let claimed = sender.claim(prepare("ar://claimed").await?, NOW).await?;
    assert_eq!(settle(&sender, &artist, NOW + 1).await?, Settled { open: 1, ..Settled::default() });
    let settled = settle(&sender, &artist, LATER).await?;
    assert_eq!((settled.abandoned, settled.open), (1, 1));
    assert!(matches!(sender.sign(claimed, LATER).await, Err(WriteError::TooLate)));
    assert_eq!(settle_all(&sender, &artist, LATER).await?, Settled { mined: 1, ..Settled::default() });
    assert_eq!(transaction(&sender, &artist, 0).await?.status, Status::Filled);
    assert_eq!(workshop.uri_of(collection).await?, "ar://first");

    // Signed, not sent: the stored bytes are sent. They deploy the account, since the first write didn't.
    let signed = sender.sign(sender.claim(prepare("ar://signed").await?, NOW).await?, NOW).await?;
    drop(signed);
    assert_eq!(settle(&sender, &artist, LATER).await?.sent, 1);
    assert_eq!(workshop.uri_of(collection).await?, "ar://signed");
    assert_eq!(settle_all(&sender, &artist, LATER).await?, Settled { mined: 1, ..Settled::default() });

    // Sent, answer lost: the first step finds the receipt.
    let signed = sender.sign(sender.claim(prepare("ar://sent").await?, NOW).await?, NOW).await?;
    drop(sender.broadcast(signed, NOW).await?);
    assert_eq!(settle_all(&sender, &artist, NOW).await?, Settled { mined: 1, ..Settled::default() });
    assert_eq!(workshop.uri_of(collection).await?, "ar://sent");

    let state = lane(&sender, &artist).await?;
    assert_eq!((state.next_nonce, state.open), (3, BTreeSet::new()));
    let kept = sender.transactions().caller(artist.artist_id, sender.chain().id, None, None, NOW).await?;
    assert!(kept.ok_or("no artist")?.account.deployed);
    Ok(())
}

/// Sends an empty transaction from the artist's lane, past the service.
async fn use_key_elsewhere(workshop: &Workshop, artist: &Artist) -> Result<(), Error> {
    let node = workshop.node().await?;
    let lane: Address = artist.lane.into();
    node.anvil_impersonate_account(lane).await?;
    let nothing = TransactionRequest::default().with_from(lane).with_to(lane);
    node.send_transaction(nothing).await?.get_receipt().await?;
    node.anvil_stop_impersonating_account(lane).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn nonces_used_outside_the_service_cost_no_write() -> Result<(), Error> {
    let workshop = Workshop::start("elsewhere").await?;
    let sender = workshop.sender(&workshop.rpc_url, policy())?;
    let artist = workshop.artist(0).await?;
    let collection = workshop.collection(&[artist]).await?;
    let request = write_request(&sender, artist, rename(collection, "ar://before")).await?;
    assert_eq!(sender.write(request, NOW, WAIT, answer).await?.status, 200);

    // Between two writes: the second moves to the next nonce by itself.
    use_key_elsewhere(&workshop, &artist).await?;
    let request = write_request(&sender, artist, rename(collection, "ar://after")).await?;
    assert_eq!(sender.write(request, NOW, WAIT, answer).await?.status, 200);
    assert_eq!(workshop.uri_of(collection).await?, "ar://after");
    assert_eq!(transaction(&sender, &artist, 1).await?.status, Status::Displaced);
    assert_eq!(transaction(&sender, &artist, 2).await?.status, Status::Mined);

    // Between signing and sending: settling moves the write.
    let request = write_request(&sender, artist, rename(collection, "ar://moved")).await?;
    let signed = sender.sign(sender.claim(sender.prepare(&request).await?, NOW).await?, NOW).await?;
    drop(signed);
    use_key_elsewhere(&workshop, &artist).await?;
    assert_eq!(settle(&sender, &artist, LATER).await?.displaced, 1);
    assert_eq!(workshop.uri_of(collection).await?, "ar://moved");
    assert_eq!(settle_all(&sender, &artist, LATER).await?, Settled { mined: 1, ..Settled::default() });

    // With nothing open: settling skips the nonces.
    use_key_elsewhere(&workshop, &artist).await?;
    use_key_elsewhere(&workshop, &artist).await?;
    settle(&sender, &artist, LATER).await?;
    let state = lane(&sender, &artist).await?;
    assert_eq!((state.next_nonce, state.open), (7, BTreeSet::new()));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn transaction_of_a_dropped_block_is_sent_again() -> Result<(), Error> {
    let workshop = Workshop::start("reorganised").await?;
    let sender = workshop.sender(&workshop.rpc_url, policy())?;
    let artist = workshop.artist(0).await?;
    let collection = workshop.collection(&[artist]).await?;
    let request = write_request(&sender, artist, rename(collection, "ar://kept")).await?;
    assert_eq!(sender.write(request, NOW, WAIT, answer).await?.status, 200);

    let node = workshop.node().await?;
    let before = node.anvil_snapshot().await?;
    let request = write_request(&sender, artist, rename(collection, "ar://undone")).await?;
    assert_eq!(sender.write(request, NOW, WAIT, answer).await?.status, 200);
    assert!(node.anvil_revert(before).await?);
    assert_eq!(workshop.uri_of(collection).await?, "ar://kept");

    assert_eq!(settle(&sender, &artist, NOW).await?.sent, 1);
    assert_eq!(workshop.uri_of(collection).await?, "ar://undone");
    assert_eq!(settle(&sender, &artist, NOW).await?, Settled::default());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_transaction_is_abandoned_and_its_lane_stays_usable() -> Result<(), Error> {
    const TOO_LITTLE: u64 = 40_000;
    const ENOUGH: u64 = 30_000_000;
    let workshop = Workshop::start("refused").await?;
    let sender = workshop.sender(&workshop.rpc_url, policy())?;
    let artist = workshop.artist(0).await?;
    let collection = workshop.collection(&[artist]).await?;
    let node = workshop.node().await?;
    let key = ReplayKey::new(artist.artist_id, "key");
    let sign = async |uri: &str| {
        let mut request = write_request(&sender, artist, rename(collection, uri)).await?;
        request.replay = Some((key.clone(), "fingerprint".to_owned()));
        let claimed = sender.claim(sender.prepare(&request).await?, NOW).await?;
        Ok::<_, Error>(sender.sign(claimed, NOW).await?)
    };
    let is_key_taken = async || {
        let caller = sender.transactions().caller(artist.artist_id, sender.chain().id, None, Some(&key), NOW).await?;
        Ok::<_, Error>(caller.ok_or("no artist")?.replayed.is_some())
    };

    // Refused when first sent: it never left, so its key is free again.
    let signed = sign("ar://refused").await?;
    node.anvil_set_block_gas_limit(TOO_LITTLE).await?;
    let refused = sender.broadcast(signed, NOW).await.map(drop);
    assert!(matches!(refused, Err(WriteError::Refused(_))), "{refused:?}");
    assert!(!is_key_taken().await?);
    settle(&sender, &artist, LATER).await?;
    assert_eq!(settle_all(&sender, &artist, LATER).await?, Settled { mined: 1, ..Settled::default() });
    assert_eq!(transaction(&sender, &artist, 0).await?.status, Status::Filled);

    // Refused while settling: an earlier sending may have succeeded, so its key stays taken.
    node.anvil_set_block_gas_limit(ENOUGH).await?;
    drop(sign("ar://refused").await?);
    node.anvil_set_block_gas_limit(TOO_LITTLE).await?;
    assert_eq!(settle(&sender, &artist, LATER).await?.abandoned, 1);
    assert_eq!(settle_all(&sender, &artist, LATER).await?, Settled { mined: 1, ..Settled::default() });
    assert!(is_key_taken().await?);

    node.anvil_set_block_gas_limit(ENOUGH).await?;
    let request = write_request(&sender, artist, rename(collection, "ar://after")).await?;
    assert_eq!(sender.write(request, NOW, WAIT, answer).await?.status, 200);
    assert_eq!(workshop.uri_of(collection).await?, "ar://after");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn leased_lane_is_skipped_by_other_runs() -> Result<(), Error> {
    let workshop = Workshop::start("lease").await?;
    let sender = workshop.sender(&workshop.rpc_url, policy())?;
    let artist = workshop.artist(0).await?;
    let (chain, transactions) = (sender.chain().id, sender.transactions());
    transactions.open_lane(chain, artist.lane, 0).await?;
    assert!(transactions.take_lease(chain, artist.lane, "another run", NOW, NOW + 60).await?);
    let settler = Settler::new(vec![sender.clone()]);
    assert_eq!(settler.step(NOW).await?, []);
    transactions.give_lease_back(chain, artist.lane, "not its holder").await?;
    assert_eq!(settler.step(NOW + 59).await?, []);
    assert_eq!(settler.step(NOW + 60).await?.len(), 1);
    assert_eq!(settler.step(NOW + 60).await?.len(), 1, "the lease is released after a step");
    Ok(())
}
