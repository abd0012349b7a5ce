//! Lists that are read as they grow.

use shared::model::Payment;
use tests::Error;

use crate::{
    naive::payment_lists,
    support::{Indexer, shop::Shop},
};

/// More than a row of numbers, and than a row of labels, of one collector.
const ROUNDS: usize = 5;
const COLLECTS: usize = 17;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_of_payments_are_whole_however_long_they_are() -> Result<(), Error> {
    let mut shop = Shop::open("lists", 8).await?;
    let mut indexer = Indexer::of(&shop.test_chain, &[&shop.test_chain.rpc_url]).await?;
    let chain = shop.test_chain.chain.id;
    for round in 0..ROUNDS {
        for number in 0..COLLECTS {
            shop.collect(1 + usize::from(number % 8 == round), "").await?;
        }
        indexer.follow().await?;
        let payments: Vec<Payment> = indexer.list(&format!("PAYMENTS#{chain}")).await?;
        assert_eq!(payments.len(), (round + 1) * COLLECTS);
        payment_lists(&indexer, chain, &payments).await?;
    }
    Ok(())
}
