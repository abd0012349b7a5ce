//! The write engine against a real chain, real storage and real keys, and what `settle-transactions` makes of what a
//! write leaves behind when it ends anywhere.

use std::{collections::BTreeSet, time::Duration};

use alloy::{
    eips::BlockNumberOrTag,
    network::TransactionBuilder,
    primitives::{Address, B256, U256},
    providers::{Provider, ext::AnvilApi},
    rpc::types::TransactionRequest,
};
use local::workshop::Workshop;
use settle_transactions::{Settled, Settler};
use shared::{
    chain::{
        account::{Call, EmbeddedWallet},
        contracts::Creator1155,
        engine::{CLAIM_LIFETIME, End, Engine, Outcome, Write, WriteError},
        policy::Policy,
    },
    store::{Answer, Artist, ClaimRefusal, LaneState, MAX_OPEN, ReplayKey, Slot, Status, Transaction},
};

type TestResult = Result<(), Box<dyn std::error::Error + Send + Sync>>;

/// The Unix time at which the tests begin. No test looks at a real clock.
const NOW: u64 = 1_800_000_000;
/// A time at which nobody can still be working on what was claimed at [`NOW`].
const LATER: u64 = NOW + CLAIM_LIFETIME.as_secs() + 1;
const PATIENCE: Duration = Duration::from_secs(5);
const IMPATIENCE: Duration = Duration::from_millis(100);

fn policy() -> Policy {
    Policy {
        max_gas: 8_000_000,
        max_fee_per_gas: 50_000_000_000,
        artist_gas_daily: 500_000_000,
        total_gas_daily: 20_000_000_000,
    }
}

fn rename(collection: Address, uri: &str) -> Call {
    Call::new(collection, &Creator1155::updateTokenURICall { tokenId: U256::ONE, newURI: uri.to_owned() })
}

fn answer(outcome: &Outcome) -> Answer {
    let status = match outcome.end {
        End::Mined(_) => 200,
        End::Reverted(..) => 422,
        End::Pending { .. } => 202,
    };
    Answer { status, body: outcome.hash.to_string() }
}

/// A write by an artist, as a request would start it.
async fn write(engine: &Engine, artist: Artist, call: Call) -> Result<Write, Box<dyn std::error::Error + Send + Sync>> {
    let guess = engine.signers().likely(artist.artist_id).map(Into::into);
    let caller = engine.transactions().caller(artist.artist_id, engine.chain().id, guess, None, NOW).await?;
    Ok(Write { caller: caller.ok_or("no such artist")?, calls: vec![call], replay: None })
}

async fn lane(engine: &Engine, artist: &Artist) -> Result<LaneState, Box<dyn std::error::Error + Send + Sync>> {
    Ok(engine.transactions().lane(engine.chain().id, artist.lane).await?.ok_or("the lane isn't open")?)
}

async fn transaction(
    engine: &Engine,
    artist: &Artist,
    nonce: u64,
) -> Result<Transaction, Box<dyn std::error::Error + Send + Sync>> {
    let slot = Slot { chain: engine.chain().id, lane: artist.lane, nonce };
    Ok(engine.transactions().get(&slot).await?.ok_or("no such transaction")?)
}

/// What a step did on the lane of `artist`.
async fn settle(
    engine: &Engine,
    artist: &Artist,
    now: u64,
) -> Result<Settled, Box<dyn std::error::Error + Send + Sync>> {
    let lanes = Settler::new(vec![engine.clone()]).step(now).await?;
    Ok(lanes.iter().find(|lane| lane.lane == artist.lane).ok_or("the lane wasn't settled")?.settled)
}

/// Steps until nothing is open: a node takes a moment to mine what it was sent, and is sent it again meanwhile.
async fn settle_all(
    engine: &Engine,
    artist: &Artist,
    now: u64,
) -> Result<Settled, Box<dyn std::error::Error + Send + Sync>> {
    let mut all = Settled::default();
    for _ in 0..100 {
        let step = settle(engine, artist, now).await?;
        all.mined += step.mined;
        all.bumped += step.bumped;
        all.abandoned += step.abandoned;
        all.displaced += step.displaced;
        if step.open == 0 {
            return Ok(all);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err("the lane isn't settled after five seconds".into())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_write_deploys_the_account_and_the_next_ones_use_it() -> TestResult {
    let workshop = Workshop::start("first-write").await?;
    let engine = workshop.engine(&workshop.rpc_url, policy())?;
    let artist = workshop.artist(0).await?;
    let collection = workshop.collection(&[artist]).await?;
    let account: Address = artist.embedded_wallet.into();
    assert!(!engine.node().has_code(account).await?);

    for uri in ["ar://second", "ar://third"] {
        let start = write(&engine, artist, rename(collection, uri)).await?;
        let answered = engine.write(start, NOW, PATIENCE, answer).await?;
        assert_eq!(answered.status, 200);
        assert!(engine.node().has_code(account).await?);
        assert_eq!(workshop.uri_of(collection).await?, uri);
    }
    let state = lane(&engine, &artist).await?;
    assert_eq!((state.next_nonce, state.open), (2, BTreeSet::new()));
    let (first, second) = (transaction(&engine, &artist, 0).await?, transaction(&engine, &artist, 1).await?);
    assert!(first.deploys_account && !second.deploys_account);
    assert_eq!((first.status, second.status), (Status::Mined, Status::Mined));
    let gas = |transaction: &Transaction| transaction.mined.map(|mined| mined.gas_used);
    println!("gas: first write {:?}, second write {:?}", gas(&first), gas(&second));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_one_transaction_of_the_account_deployed_or_not() -> TestResult {
    let workshop = Workshop::start("batch").await?;
    let engine = workshop.engine(&workshop.rpc_url, policy())?;
    let artist = workshop.artist(1).await?;
    let collection = workshop.collection(&[artist]).await?;
    for round in ["a", "b"] {
        let mut start = write(&engine, artist, rename(collection, "ar://lost")).await?;
        start.calls.push(rename(collection, round));
        assert_eq!(engine.write(start, NOW, PATIENCE, answer).await?.status, 200);
        assert_eq!(workshop.uri_of(collection).await?, round);
    }
    let stranger = workshop.artist(1).await?;
    let mut start = write(&engine, stranger, rename(collection, "ar://stolen")).await?;
    start.calls.push(rename(collection, "ar://stolen"));
    let Err(WriteError::Reverts(reason)) = engine.prepare(&start).await else {
        return Err("a stranger's batch went through".into());
    };
    assert_eq!(reason, format!("{} lacks the permission METADATA on token 1", stranger.embedded_wallet));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_would_revert_takes_no_nonce_and_says_why() -> TestResult {
    let workshop = Workshop::start("revert").await?;
    let engine = workshop.engine(&workshop.rpc_url, policy())?;
    let (owner, stranger) = (workshop.artist(0).await?, workshop.artist(0).await?);
    let collection = workshop.collection(&[owner]).await?;
    let start = write(&engine, stranger, rename(collection, "ar://stolen")).await?;
    let Err(WriteError::Reverts(reason)) = engine.write(start, NOW, PATIENCE, answer).await else {
        return Err("a stranger's write went through".into());
    };
    assert_eq!(reason, format!("{} lacks the permission METADATA on token 1", stranger.embedded_wallet));
    assert_eq!(engine.transactions().lane(engine.chain().id, stranger.lane).await?, None);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_writes_over_two_lanes_leave_no_gap_and_double_nothing() -> TestResult {
    const ARTISTS: usize = 8;
    const WRITES: usize = 5;
    let workshop = Workshop::start("concurrent").await?;
    let engine = workshop.engine(&workshop.rpc_url, policy())?;
    let mut artists = Vec::new();
    for index in 0..ARTISTS {
        artists.push(workshop.artist(index % 2).await?);
    }
    let collection = workshop.collection(&artists).await?;

    let mut tasks = tokio::task::JoinSet::new();
    let started = std::time::Instant::now();
    for (index, artist) in artists.iter().copied().enumerate() {
        for number in 0..WRITES {
            let engine = engine.clone();
            tasks.spawn(async move {
                loop {
                    let call = rename(collection, &format!("ar://{index}/{number}"));
                    let start = write(&engine, artist, call).await?;
                    match engine.write(start, NOW, PATIENCE, answer).await {
                        Err(WriteError::Claim(ClaimRefusal::LaneFull)) => {
                            tokio::time::sleep(Duration::from_millis(50)).await;
                        }
                        other => return Ok::<_, Box<dyn std::error::Error + Send + Sync>>(other?),
                    }
                }
            });
        }
    }
    let mut hashes = BTreeSet::new();
    while let Some(answered) = tasks.join_next().await {
        let answered = answered??;
        assert_eq!(answered.status, 200);
        assert!(hashes.insert(answered.body), "one hash was answered twice");
    }
    println!("{} writes in {:?}", hashes.len(), started.elapsed());

    let mut intents = BTreeSet::new();
    for artist in &artists[..2] {
        let state = lane(&engine, artist).await?;
        let on_chain = engine.node().next_nonce(artist.lane.into(), BlockNumberOrTag::Latest).await?;
        assert_eq!((state.open.len(), state.next_nonce), (0, on_chain));
        assert_eq!(on_chain as usize, ARTISTS / 2 * WRITES);
        for nonce in 0..on_chain {
            let mined = transaction(&engine, artist, nonce).await?;
            assert_eq!(mined.status, Status::Mined);
            assert!(intents.insert((mined.artist_id.to_string(), mined.intent.data)), "an intent was sent twice");
        }
    }
    assert_eq!((hashes.len(), intents.len()), (ARTISTS * WRITES, ARTISTS * WRITES));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_ends_between_two_steps_is_settled() -> TestResult {
    let workshop = Workshop::start("killed").await?;
    let engine = workshop.engine(&workshop.rpc_url, policy())?;
    let artist = workshop.artist(0).await?;
    let collection = workshop.collection(&[artist]).await?;
    let prepare = async |uri: &str| {
        let start = write(&engine, artist, rename(collection, uri)).await?;
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(engine.prepare(&start).await?)
    };

    // Claimed and not signed: given up once its claimer can't come back, and its slot filled.
    let claimed = engine.claim(prepare("ar://claimed").await?, NOW).await?;
    assert_eq!(settle(&engine, &artist, NOW + 1).await?, Settled { open: 1, ..Settled::default() });
    let settled = settle(&engine, &artist, LATER).await?;
    assert_eq!((settled.abandoned, settled.open), (1, 1));
    assert!(matches!(engine.sign(claimed, LATER).await, Err(WriteError::TooLate)));
    assert_eq!(settle_all(&engine, &artist, LATER).await?, Settled { mined: 1, ..Settled::default() });
    assert_eq!(transaction(&engine, &artist, 0).await?.status, Status::Filled);
    assert_eq!(workshop.uri_of(collection).await?, "ar://first");

    // Signed and not sent: the stored bytes are sent. It deploys the account, since the one before it didn't.
    let signed = engine.sign(engine.claim(prepare("ar://signed").await?, NOW).await?, NOW).await?;
    drop(signed);
    assert_eq!(settle(&engine, &artist, LATER).await?.sent, 1);
    assert_eq!(workshop.uri_of(collection).await?, "ar://signed");
    assert_eq!(settle_all(&engine, &artist, LATER).await?, Settled { mined: 1, ..Settled::default() });

    // Sent, the answer lost: the receipt is found, at once.
    let signed = engine.sign(engine.claim(prepare("ar://sent").await?, NOW).await?, NOW).await?;
    drop(engine.broadcast(signed, NOW).await?);
    assert_eq!(settle_all(&engine, &artist, NOW).await?, Settled { mined: 1, ..Settled::default() });
    assert_eq!(workshop.uri_of(collection).await?, "ar://sent");

    let state = lane(&engine, &artist).await?;
    assert_eq!((state.next_nonce, state.open), (3, BTreeSet::new()));
    let kept = engine.transactions().caller(artist.artist_id, engine.chain().id, None, None, NOW).await?;
    assert!(kept.ok_or("no artist")?.account.deployed);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rise_of_the_base_fee_is_followed_up_to_the_cap_and_waited_out_beyond() -> TestResult {
    let workshop = Workshop::start("fees").await?;
    let cap = 20_000_000_000;
    let engine = workshop.engine(&workshop.rpc_url, Policy { max_fee_per_gas: cap, ..policy() })?;
    let artist = workshop.artist(0).await?;
    let collection = workshop.collection(&[artist]).await?;
    let start = write(&engine, artist, rename(collection, "ar://deployed")).await?;
    assert_eq!(engine.write(start, NOW, PATIENCE, answer).await?.status, 200);

    let node = workshop.node().await?;
    node.anvil_set_auto_mine(false).await?;
    let mut waiting = Vec::new();
    for number in 0..3 {
        let start = write(&engine, artist, rename(collection, &format!("ar://{number}"))).await?;
        let answered = engine.write(start, NOW, IMPATIENCE, answer).await?;
        assert_eq!(answered.status, 202);
        waiting.push(answered.body.parse::<B256>()?);
    }
    let fee = async |nonce| {
        let attempt = transaction(&engine, &artist, nonce).await?.attempt.ok_or("not signed")?;
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(attempt.fees.max_fee_per_gas)
    };
    let before = fee(1).await?;

    // Ten times the base fee: the transactions are replaced, once.
    let base = u128::from(before) * 5;
    node.anvil_set_next_block_base_fee_per_gas(base).await?;
    node.evm_mine(None).await?;
    node.anvil_set_next_block_base_fee_per_gas(base).await?;
    let settled = settle(&engine, &artist, LATER).await?;
    assert_eq!((settled.bumped, settled.open), (3, 3), "base fee {base}, offered {before}");
    assert!(fee(1).await? * 8 >= before * 9);
    assert_eq!(settle(&engine, &artist, LATER).await?.bumped, 0);

    // Beyond the cap: no more replacing, only sending again.
    node.anvil_set_next_block_base_fee_per_gas(u128::from(cap) * 2).await?;
    node.evm_mine(None).await?;
    node.anvil_set_next_block_base_fee_per_gas(u128::from(cap) * 2).await?;
    for _ in 0..40 {
        settle(&engine, &artist, LATER).await?;
        assert!(fee(1).await? <= cap);
    }
    assert_eq!(settle(&engine, &artist, LATER).await?.bumped, 0);
    let start = write(&engine, artist, rename(collection, "ar://too-dear")).await?;
    assert!(matches!(engine.prepare(&start).await, Err(WriteError::Policy(_))));

    // Cheap again: all of them get into a block, each once and under a hash of ours.
    node.anvil_set_next_block_base_fee_per_gas(1_000_000_000).await?;
    settle(&engine, &artist, LATER).await?;
    node.evm_mine(None).await?;
    assert_eq!(settle_all(&engine, &artist, LATER).await?, Settled { mined: 3, ..Settled::default() });
    assert_eq!(workshop.uri_of(collection).await?, "ar://2");
    for (nonce, answered) in (1..).zip(waiting) {
        let mined = transaction(&engine, &artist, nonce).await?;
        assert_eq!((mined.status, mined.hashes.first()), (Status::Mined, Some(&answered)));
        assert!(mined.mined.is_some_and(|mined_in| mined.hashes.contains(&mined_in.hash)));
    }
    Ok(())
}

/// Sends a transaction that does nothing with the key of the artist's lane, as somebody else who has it might.
async fn use_key_elsewhere(workshop: &Workshop, artist: &Artist) -> TestResult {
    let node = workshop.node().await?;
    let lane: Address = artist.lane.into();
    node.anvil_impersonate_account(lane).await?;
    let nothing = TransactionRequest::default().with_from(lane).with_to(lane);
    node.send_transaction(nothing).await?.get_receipt().await?;
    node.anvil_stop_impersonating_account(lane).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_used_elsewhere_is_noticed_and_costs_no_write() -> TestResult {
    let workshop = Workshop::start("elsewhere").await?;
    let engine = workshop.engine(&workshop.rpc_url, policy())?;
    let artist = workshop.artist(0).await?;
    let collection = workshop.collection(&[artist]).await?;
    let start = write(&engine, artist, rename(collection, "ar://before")).await?;
    assert_eq!(engine.write(start, NOW, PATIENCE, answer).await?.status, 200);

    // Between two writes: the next one moves to the next nonce by itself.
    use_key_elsewhere(&workshop, &artist).await?;
    let start = write(&engine, artist, rename(collection, "ar://after")).await?;
    assert_eq!(engine.write(start, NOW, PATIENCE, answer).await?.status, 200);
    assert_eq!(workshop.uri_of(collection).await?, "ar://after");
    assert_eq!(transaction(&engine, &artist, 1).await?.status, Status::Displaced);
    assert_eq!(transaction(&engine, &artist, 2).await?.status, Status::Mined);

    // Before a signed write left: settling moves it.
    let start = write(&engine, artist, rename(collection, "ar://moved")).await?;
    let signed = engine.sign(engine.claim(engine.prepare(&start).await?, NOW).await?, NOW).await?;
    drop(signed);
    use_key_elsewhere(&workshop, &artist).await?;
    assert_eq!(settle(&engine, &artist, LATER).await?.displaced, 1);
    assert_eq!(workshop.uri_of(collection).await?, "ar://moved");
    assert_eq!(settle_all(&engine, &artist, LATER).await?, Settled { mined: 1, ..Settled::default() });

    // While nothing is open: settling skips the nonces.
    use_key_elsewhere(&workshop, &artist).await?;
    use_key_elsewhere(&workshop, &artist).await?;
    settle(&engine, &artist, LATER).await?;
    let state = lane(&engine, &artist).await?;
    assert_eq!((state.next_nonce, state.open), (7, BTreeSet::new()));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_hold_and_a_key_leads_to_one_transaction() -> TestResult {
    let workshop = Workshop::start("limits").await?;
    let engine = workshop.engine(&workshop.rpc_url, policy())?;
    let (artist, other) = (workshop.artist(0).await?, workshop.artist(0).await?);
    let collection = workshop.collection(&[artist, other]).await?;
    let key = ReplayKey::new(artist.artist_id, "key");
    let with_key = async |uri: &str| {
        let mut start = write(&engine, artist, rename(collection, uri)).await?;
        start.replay = Some((key.clone(), "fingerprint".to_owned()));
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(start)
    };

    let answered = engine.write(with_key("ar://once").await?, NOW, PATIENCE, answer).await?;
    let second = engine.write(with_key("ar://twice").await?, NOW, PATIENCE, answer).await;
    assert!(matches!(second, Err(WriteError::Claim(ClaimRefusal::KeyInUse))));
    assert_eq!(workshop.uri_of(collection).await?, "ar://once");
    let kept = engine.transactions().caller(artist.artist_id, engine.chain().id, None, Some(&key), NOW).await?;
    assert_eq!(kept.and_then(|caller| caller.replayed).and_then(|request| request.answer), Some(answered));

    // An artist's gas, and that of all.
    let start = write(&engine, artist, rename(collection, "ar://dear")).await?;
    let gas = engine.prepare(&start).await?.gas_limit();
    for (limits, refusal) in [
        (Policy { artist_gas_daily: gas, ..policy() }, ClaimRefusal::ArtistGasSpent),
        (Policy { total_gas_daily: 2 * gas, ..policy() }, ClaimRefusal::LaneGasSpent),
    ] {
        let limited = workshop.engine(&workshop.rpc_url, limits)?;
        let refused = limited.write(start.clone(), NOW, PATIENCE, answer).await;
        assert!(matches!(refused, Err(WriteError::Claim(reason)) if reason == refusal), "{refused:?}");
    }
    let tomorrow = NOW + 24 * 60 * 60;
    let limited = workshop.engine(&workshop.rpc_url, Policy { artist_gas_daily: gas, ..policy() })?;
    assert_eq!(limited.write(start, tomorrow, PATIENCE, answer).await?.status, 200);

    // Open slots, one of which deploys the other artist's account; then no second one does.
    let first = engine.prepare(&write(&engine, other, rename(collection, "ar://full")).await?).await?;
    let rival = engine.prepare(&write(&engine, other, rename(collection, "ar://full")).await?).await?;
    engine.claim(first, NOW).await?;
    let refused = engine.claim(rival, NOW).await.map(drop);
    assert!(matches!(refused, Err(WriteError::Claim(ClaimRefusal::AccountUnderWay))), "{refused:?}");
    for _ in 1..MAX_OPEN {
        let start = write(&engine, artist, rename(collection, "ar://full")).await?;
        engine.claim(engine.prepare(&start).await?, NOW).await?;
    }
    let start = write(&engine, artist, rename(collection, "ar://full")).await?;
    let refused = engine.claim(engine.prepare(&start).await?, NOW).await.map(drop);
    assert!(matches!(refused, Err(WriteError::Claim(ClaimRefusal::LaneFull))), "{refused:?}");

    // All of them ended before they were signed: their slots are filled, and the lane is free again.
    assert_eq!(settle(&engine, &artist, LATER).await?.abandoned, MAX_OPEN);
    assert_eq!(settle_all(&engine, &artist, LATER).await?, Settled { mined: MAX_OPEN, ..Settled::default() });
    let start = write(&engine, other, rename(collection, "ar://free")).await?;
    assert_eq!(engine.write(start, NOW, PATIENCE, answer).await?.status, 200);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn two_runs_never_settle_one_lane_at_a_time() -> TestResult {
    let workshop = Workshop::start("lease").await?;
    let engine = workshop.engine(&workshop.rpc_url, policy())?;
    let artist = workshop.artist(0).await?;
    let (chain, transactions) = (engine.chain().id, engine.transactions());
    transactions.open_lane(chain, artist.lane, 0).await?;
    assert!(transactions.take_lease(chain, artist.lane, "another run", NOW, NOW + 60).await?);
    let settler = Settler::new(vec![engine.clone()]);
    assert_eq!(settler.step(NOW).await?, []);
    transactions.give_lease_back(chain, artist.lane, "not its holder").await?;
    assert_eq!(settler.step(NOW + 59).await?, []);
    assert_eq!(settler.step(NOW + 60).await?.len(), 1);
    assert_eq!(settler.step(NOW + 60).await?.len(), 1, "a run gives its lease back");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_is_at_the_address_that_its_signature_is_made_for() -> TestResult {
    let workshop = Workshop::start("account").await?;
    let artist = workshop.artist(0).await?;
    let wallet = EmbeddedWallet::new(artist.lane.into(), artist.artist_id);
    assert_eq!(artist.embedded_wallet, wallet.address().into());
    // A signature of another lane doesn't let the account do anything.
    let engine = workshop.engine(&workshop.rpc_url, policy())?;
    let collection = workshop.collection(&[artist]).await?;
    let stranger = workshop.signers.iter().nth(1).ok_or("no second lane")?;
    let forged = wallet.first_transaction(workshop.chain.id, &[rename(collection, "ar://forged")], stranger).await?;
    let request = TransactionRequest::default().to(forged.target).input(forged.data.into());
    assert!(engine.node().estimate_gas(&request).await.is_err());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_whose_block_is_undone_is_sent_again() -> TestResult {
    let workshop = Workshop::start("reorganised").await?;
    let engine = workshop.engine(&workshop.rpc_url, policy())?;
    let artist = workshop.artist(0).await?;
    let collection = workshop.collection(&[artist]).await?;
    let start = write(&engine, artist, rename(collection, "ar://kept")).await?;
    assert_eq!(engine.write(start, NOW, PATIENCE, answer).await?.status, 200);

    let node = workshop.node().await?;
    let before = node.anvil_snapshot().await?;
    let start = write(&engine, artist, rename(collection, "ar://undone")).await?;
    assert_eq!(engine.write(start, NOW, PATIENCE, answer).await?.status, 200);
    assert!(node.anvil_revert(before).await?);
    assert_eq!(workshop.uri_of(collection).await?, "ar://kept");

    assert_eq!(settle(&engine, &artist, NOW).await?.sent, 1);
    assert_eq!(workshop.uri_of(collection).await?, "ar://undone");
    assert_eq!(settle(&engine, &artist, NOW).await?, Settled::default());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_nodes_refuse_for_good_frees_its_key_if_it_never_left_and_jams_no_lane() -> TestResult {
    const TOO_LITTLE: u64 = 40_000;
    const ENOUGH: u64 = 30_000_000;
    let workshop = Workshop::start("refused").await?;
    let engine = workshop.engine(&workshop.rpc_url, policy())?;
    let artist = workshop.artist(0).await?;
    let collection = workshop.collection(&[artist]).await?;
    let node = workshop.node().await?;
    let key = ReplayKey::new(artist.artist_id, "key");
    let sign = async |uri: &str| {
        let mut start = write(&engine, artist, rename(collection, uri)).await?;
        start.replay = Some((key.clone(), "fingerprint".to_owned()));
        let claimed = engine.claim(engine.prepare(&start).await?, NOW).await?;
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(engine.sign(claimed, NOW).await?)
    };
    let is_key_taken = async || {
        let caller = engine.transactions().caller(artist.artist_id, engine.chain().id, None, Some(&key), NOW).await?;
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(caller.ok_or("no artist")?.replayed.is_some())
    };

    // By whoever signed it.
    let signed = sign("ar://refused").await?;
    node.anvil_set_block_gas_limit(TOO_LITTLE).await?;
    let refused = engine.broadcast(signed, NOW).await.map(drop);
    assert!(matches!(refused, Err(WriteError::Refused(_))), "{refused:?}");
    assert!(!is_key_taken().await?);
    settle(&engine, &artist, LATER).await?;
    assert_eq!(settle_all(&engine, &artist, LATER).await?, Settled { mined: 1, ..Settled::default() });
    assert_eq!(transaction(&engine, &artist, 0).await?.status, Status::Filled);

    // When it is settled, nobody knows any more whether it has left.
    node.anvil_set_block_gas_limit(ENOUGH).await?;
    drop(sign("ar://refused").await?);
    node.anvil_set_block_gas_limit(TOO_LITTLE).await?;
    assert_eq!(settle(&engine, &artist, LATER).await?.abandoned, 1);
    assert_eq!(settle_all(&engine, &artist, LATER).await?, Settled { mined: 1, ..Settled::default() });
    assert!(is_key_taken().await?);

    node.anvil_set_block_gas_limit(ENOUGH).await?;
    let start = write(&engine, artist, rename(collection, "ar://after")).await?;
    assert_eq!(engine.write(start, NOW, PATIENCE, answer).await?.status, 200);
    assert_eq!(workshop.uri_of(collection).await?, "ar://after");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_next_in_line_gets_a_higher_tip_when_it_waits_for_long() -> TestResult {
    let workshop = Workshop::start("waiting").await?;
    let engine = workshop.engine(&workshop.rpc_url, policy())?;
    let artist = workshop.artist(0).await?;
    let collection = workshop.collection(&[artist]).await?;
    let start = write(&engine, artist, rename(collection, "ar://deployed")).await?;
    assert_eq!(engine.write(start, NOW, PATIENCE, answer).await?.status, 200);
    workshop.node().await?.anvil_set_auto_mine(false).await?;
    for _ in 0..2 {
        let start = write(&engine, artist, rename(collection, "ar://waiting")).await?;
        assert_eq!(engine.write(start, NOW, IMPATIENCE, answer).await?.status, 202);
    }
    assert_eq!(settle(&engine, &artist, LATER).await?, Settled { sent: 2, open: 2, ..Settled::default() });
    let long_after = NOW + 181;
    assert_eq!(
        settle(&engine, &artist, long_after).await?,
        Settled { sent: 1, bumped: 1, open: 2, ..Settled::default() }
    );
    assert_eq!(settle(&engine, &artist, long_after + 1).await?.bumped, 0);
    workshop.node().await?.evm_mine(None).await?;
    assert_eq!(settle_all(&engine, &artist, long_after).await?, Settled { mined: 2, ..Settled::default() });
    Ok(())
}
