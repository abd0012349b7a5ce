//! Reasons of operations that failed on the chain.

use alloy::primitives::U256;
use local::Error;
use shared::chain::{
    transaction::{Operation, failure},
    wallet::Call,
};

use crate::site::{Hostile, Sent, Site};

async fn reason(site: &Site, sent: &Sent, operations: &[Operation], index: usize) -> Result<String, Error> {
    let block = sent.receipt.block_number.ok_or("no block")?;
    let (safe, lane) = (site.account.safe, site.lanes[0]);
    Ok(failure(&site.asked, safe, lane, operations, index, (block, sent.gas(index))).await?)
}

#[tokio::test]
async fn failures_are_told_in_words() -> Result<(), Error> {
    let site = Site::new("reasons").await?;
    let artists = site.artists(7).await?;
    let write = |count: u64| site.call(&Hostile::writeCall { seed: U256::from(count), count: U256::from(count) });
    let fail = site.call(&Hostile::failCall { code: U256::from(7) });
    let cases: [(Vec<Call>, &str); 6] = [
        (vec![fail.clone()], "The contract refuses with error 0xc3b28518"),
        (vec![write(1), fail], "The contract refuses with error 0xc3b28518"),
        (vec![write(9)], "The call ran out of gas"),
        (vec![write(3), write(4)], "The call used up its gas"),
        (vec![site.call(&Hostile::burnCall {})], "The contract ran into an invalid instruction"),
        (vec![site.call(&Hostile::failSilentlyCall {})], "The contract refuses without a reason"),
    ];
    let mut operations = vec![site.write(&artists[6], 5)];
    for (artist, (calls, _)) in artists.iter().zip(&cases) {
        operations.push(Operation::new(artist.address(), calls, 150_000, false));
    }
    let sent = site.send(site.lanes[0], &operations).await?;
    assert_eq!(sent.succeeded(), [true, false, false, false, false, false, false]);
    // Blocks that follow change nothing.
    site.send(site.lanes[1], &[site.write(&artists[0], 77)]).await?;
    for (index, (_, words)) in cases.iter().enumerate() {
        assert_eq!(&reason(&site, &sent, &operations, index + 1).await?, words);
    }
    Ok(())
}

/// On the block before each of them would succeed: what makes the last one fail is in the same transaction.
#[tokio::test]
async fn failures_by_earlier_operations_of_the_batch_are_told() -> Result<(), Error> {
    let site = Site::new("reasons-earlier").await?;
    let artists = site.artists(4).await?;
    let take = site.call(&Hostile::takeCall {});
    let set = site.call(&Hostile::setLeftCall { count: U256::from(2) });
    let ready = Operation::new(artists[3].address(), &[set], 100_000, false);
    site.send(site.lanes[0], &[ready]).await?;
    let take = |index: usize| Operation::new(artists[index].address(), std::slice::from_ref(&take), 100_000, false);
    let operations = [take(0), take(1), take(2)];
    let sent = site.send(site.lanes[0], &operations).await?;
    assert_eq!(sent.succeeded(), [true, true, false]);
    assert_eq!(reason(&site, &sent, &operations, 2).await?, "The contract refuses: sold out");
    Ok(())
}
