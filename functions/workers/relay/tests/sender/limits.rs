//! Idempotency keys, gas allowances and open slots.

use local::workshop::Workshop;
use settle_transactions::Settled;
use shared::{
    chain::transaction::{Policy, WriteError},
    store::{ClaimRefusal, MAX_OPEN, ReplayKey},
};

use crate::support::{Error, LATER, NOW, WAIT, answer, policy, rename, settle, settle_all, write_request};

#[tokio::test(flavor = "multi_thread")]
async fn limits_refuse_writes_and_one_idempotency_key_sends_one_transaction() -> Result<(), Error> {
    let workshop = Workshop::start("limits").await?;
    let sender = workshop.sender(&workshop.rpc_url, policy())?;
    let (artist, other) = (workshop.artist(0).await?, workshop.artist(0).await?);
    let collection = workshop.collection(&[artist, other]).await?;
    let key = ReplayKey::new(artist.artist_id, "key");
    let with_key = async |uri: &str| {
        let mut request = write_request(&sender, artist, rename(collection, uri)).await?;
        request.replay = Some((key.clone(), "fingerprint".to_owned()));
        Ok::<_, Error>(request)
    };

    let answered = sender.write(with_key("ar://once").await?, NOW, WAIT, answer).await?;
    let second = sender.write(with_key("ar://twice").await?, NOW, WAIT, answer).await;
    assert!(matches!(second, Err(WriteError::Claim(ClaimRefusal::KeyInUse))));
    assert_eq!(workshop.uri_of(collection).await?, "ar://once");
    let kept = sender.transactions().caller(artist.artist_id, sender.chain().id, None, Some(&key), NOW).await?;
    assert_eq!(kept.and_then(|caller| caller.replayed).and_then(|request| request.answer), Some(answered));

    // Daily gas of one artist, and of all of them.
    let request = write_request(&sender, artist, rename(collection, "ar://dear")).await?;
    let gas = sender.prepare(&request).await?.gas_limit();
    for (limits, refusal) in [
        (Policy { artist_gas_daily: gas, ..policy() }, ClaimRefusal::ArtistGasSpent),
        (Policy { total_gas_daily: 2 * gas, ..policy() }, ClaimRefusal::LaneGasSpent),
    ] {
        let limited = workshop.sender(&workshop.rpc_url, limits)?;
        let refused = limited.write(request.clone(), NOW, WAIT, answer).await;
        assert!(matches!(refused, Err(WriteError::Claim(reason)) if reason == refusal), "{refused:?}");
    }
    let tomorrow = NOW + 24 * 60 * 60;
    let limited = workshop.sender(&workshop.rpc_url, Policy { artist_gas_daily: gas, ..policy() })?;
    assert_eq!(limited.write(request, tomorrow, WAIT, answer).await?.status, 200);

    // Of two first writes by `other` only one may deploy the account. `artist` takes the slots that are left.
    let first = sender.prepare(&write_request(&sender, other, rename(collection, "ar://full")).await?).await?;
    let rival = sender.prepare(&write_request(&sender, other, rename(collection, "ar://full")).await?).await?;
    sender.claim(first, NOW).await?;
    let refused = sender.claim(rival, NOW).await.map(drop);
    assert!(matches!(refused, Err(WriteError::Claim(ClaimRefusal::AccountUnderWay))), "{refused:?}");
    for _ in 1..MAX_OPEN {
        let request = write_request(&sender, artist, rename(collection, "ar://full")).await?;
        sender.claim(sender.prepare(&request).await?, NOW).await?;
    }
    let request = write_request(&sender, artist, rename(collection, "ar://full")).await?;
    let refused = sender.claim(sender.prepare(&request).await?, NOW).await.map(drop);
    assert!(matches!(refused, Err(WriteError::Claim(ClaimRefusal::LaneFull))), "{refused:?}");

    // Claims that were never signed expire: fillers take their slots, and the lane is free again.
    assert_eq!(settle(&sender, &artist, LATER).await?.abandoned, MAX_OPEN);
    assert_eq!(settle_all(&sender, &artist, LATER).await?, Settled { mined: MAX_OPEN, ..Settled::default() });
    let request = write_request(&sender, other, rename(collection, "ar://free")).await?;
    assert_eq!(sender.write(request, NOW, WAIT, answer).await?.status, 200);
    Ok(())
}
