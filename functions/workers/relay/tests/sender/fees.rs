//! Fees of transactions that wait for a block.

use alloy::{primitives::B256, providers::ext::AnvilApi};
use local::workshop::Workshop;
use settle_transactions::Settled;
use shared::{
    chain::transaction::{Policy, WriteError},
    store::Status,
};

use crate::support::{
    Error, LATER, NOW, SHORT_WAIT, WAIT, answer, policy, rename, settle, settle_all, transaction, write_request,
};

#[tokio::test(flavor = "multi_thread")]
async fn fees_follow_the_base_fee_up_to_the_cap() -> Result<(), Error> {
    let workshop = Workshop::start("fees").await?;
    let cap = 20_000_000_000;
    let sender = workshop.sender(&workshop.rpc_url, Policy { max_fee_per_gas: cap, ..policy() })?;
    let artist = workshop.artist(0).await?;
    let collection = workshop.collection(&[artist]).await?;
    let request = write_request(&sender, artist, rename(collection, "ar://deployed")).await?;
    assert_eq!(sender.write(request, NOW, WAIT, answer).await?.status, 200);

    let node = workshop.node().await?;
    node.anvil_set_auto_mine(false).await?;
    let mut waiting = Vec::new();
    for number in 0..3 {
        let request = write_request(&sender, artist, rename(collection, &format!("ar://{number}"))).await?;
        let answered = sender.write(request, NOW, SHORT_WAIT, answer).await?;
        assert_eq!(answered.status, 202);
        waiting.push(answered.body.parse::<B256>()?);
    }
    let fee = async |nonce| {
        let attempt = transaction(&sender, &artist, nonce).await?.attempt.ok_or("not signed")?;
        Ok::<_, Error>(attempt.fees.max_fee_per_gas)
    };
    let before = fee(1).await?;

    // Base fee above the offers and below the cap: each transaction is replaced once.
    let base = u128::from(before) * 5;
    node.anvil_set_next_block_base_fee_per_gas(base).await?;
    node.evm_mine(None).await?;
    node.anvil_set_next_block_base_fee_per_gas(base).await?;
    let settled = settle(&sender, &artist, LATER).await?;
    assert_eq!((settled.bumped, settled.open), (3, 3), "base fee {base}, offered {before}");
    assert!(fee(1).await? * 8 >= before * 9);
    assert_eq!(settle(&sender, &artist, LATER).await?.bumped, 0);

    // Base fee above the cap: no replacement, the same bytes are sent again.
    node.anvil_set_next_block_base_fee_per_gas(u128::from(cap) * 2).await?;
    node.evm_mine(None).await?;
    node.anvil_set_next_block_base_fee_per_gas(u128::from(cap) * 2).await?;
    for _ in 0..40 {
        settle(&sender, &artist, LATER).await?;
        assert!(fee(1).await? <= cap);
    }
    assert_eq!(settle(&sender, &artist, LATER).await?.bumped, 0);
    let request = write_request(&sender, artist, rename(collection, "ar://too-dear")).await?;
    assert!(matches!(sender.prepare(&request).await, Err(WriteError::Policy(_))));

    // Low base fee: each transaction is mined once, under one of its stored hashes.
    node.anvil_set_next_block_base_fee_per_gas(1_000_000_000).await?;
    settle(&sender, &artist, LATER).await?;
    node.evm_mine(None).await?;
    assert_eq!(settle_all(&sender, &artist, LATER).await?, Settled { mined: 3, ..Settled::default() });
    assert_eq!(workshop.uri_of(collection).await?, "ar://2");
    for (nonce, answered) in (1..).zip(waiting) {
        let mined = transaction(&sender, &artist, nonce).await?;
        assert_eq!((mined.status, mined.hashes.first()), (Status::Mined, Some(&answered)));
        assert!(mined.mined.is_some_and(|mined_in| mined.hashes.contains(&mined_in.hash)));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_lowest_open_nonce_gets_a_higher_tip_after_a_long_wait() -> Result<(), Error> {
    let workshop = Workshop::start("waiting").await?;
    let sender = workshop.sender(&workshop.rpc_url, policy())?;
    let artist = workshop.artist(0).await?;
    let collection = workshop.collection(&[artist]).await?;
    let request = write_request(&sender, artist, rename(collection, "ar://deployed")).await?;
    assert_eq!(sender.write(request, NOW, WAIT, answer).await?.status, 200);
    workshop.node().await?.anvil_set_auto_mine(false).await?;
    for _ in 0..2 {
        let request = write_request(&sender, artist, rename(collection, "ar://waiting")).await?;
        assert_eq!(sender.write(request, NOW, SHORT_WAIT, answer).await?.status, 202);
    }
    assert_eq!(settle(&sender, &artist, LATER).await?, Settled { sent: 2, open: 2, ..Settled::default() });
    let long_after = NOW + 181;
    assert_eq!(
        settle(&sender, &artist, long_after).await?,
        Settled { sent: 1, bumped: 1, open: 2, ..Settled::default() }
    );
    assert_eq!(settle(&sender, &artist, long_after + 1).await?.bumped, 0);
    workshop.node().await?.evm_mine(None).await?;
    assert_eq!(settle_all(&sender, &artist, long_after).await?, Settled { mined: 2, ..Settled::default() });
    Ok(())
}
