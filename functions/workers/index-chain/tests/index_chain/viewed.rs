//! Viewed notifications across reorganisations: a mark stays on its payment.

use shared::{
    model::EventId,
    store::{
        across::NotificationReads,
        chain::{NotificationList, PaymentFilter, Payments},
    },
};
use tests::Error;

use crate::support::{Indexer, shop::Shop};

struct Reader {
    list: NotificationList,
    payments: Payments,
    reads: NotificationReads,
}

impl Reader {
    /// Ids of the list's notifications, newest first, and whether each is viewed; asked for in every way.
    async fn all(&self) -> Result<Vec<(EventId, bool)>, Error> {
        let filter = PaymentFilter::of_artist(self.list.artist);
        let page = self.payments.newest(self.list.chain, filter, 0, 100).await?;
        let ids: Vec<EventId> = page.payments.iter().map(|payment| payment.notification_id()).collect();
        let places = self.payments.notification_places(&ids.iter().copied().collect()).await?;
        let places: Vec<_> = ids.iter().filter_map(|id| places.get(id).copied()).collect();
        let shown: Vec<_> = ids.iter().copied().zip(self.reads.are_viewed(&places).await?).collect();
        for viewed in [true, false] {
            let filtered: Vec<_> = shown.iter().filter(|(_, it)| *it == viewed).map(|(id, _)| *id).collect();
            let mut paged = Vec::new();
            for offset in 0..=filtered.len() as u64 {
                let found = self.reads.page(self.list, page.total, viewed, offset, 1).await?;
                assert_eq!(found.more, offset + 1 < filtered.len() as u64);
                let payments = self.payments.of_artist(self.list, &found.numbers).await?;
                paged.extend(payments.iter().map(|payment| payment.notification_id()));
            }
            assert_eq!(paged, filtered, "{viewed}");
        }
        Ok(shown)
    }

    async fn flags(&self) -> Result<Vec<bool>, Error> {
        Ok(self.all().await?.into_iter().map(|(_, viewed)| viewed).collect())
    }

    async fn mark(&self, ids: &[EventId]) -> Result<u64, Error> {
        let places = self.payments.notification_places(&ids.iter().copied().collect()).await?;
        Ok(self.reads.mark(self.list, &Vec::from_iter(places.into_values())).await?)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn payment_in_the_place_of_a_viewed_one_is_not_viewed() -> Result<(), Error> {
    let mut shop = Shop::open("viewed", 8).await?;
    let mut indexer = Indexer::of(&shop.test_chain, &[&shop.test_chain.rpc_url]).await?;
    let list = NotificationList { chain: shop.test_chain.chain.id, artist: shop.artist.into() };
    let reader = Reader {
        list,
        payments: Payments::new(indexer.table.clone()),
        reads: NotificationReads::new(indexer.table.clone(), indexer.artists.clone()),
    };
    shop.collect(1, "").await?;
    shop.collect(1, "").await?;
    shop.test_chain.finalise().await?;
    for _ in 0..3 {
        shop.collect(1, "").await?;
    }
    indexer.follow().await?;

    let shown = reader.all().await?;
    assert_eq!(reader.mark(&[shown[1].0, shown[4].0]).await?, 2);
    assert_eq!(reader.mark(&[shown[1].0, shown[4].0]).await?, 0);
    assert_eq!(reader.flags().await?, [false, true, false, false, true]);

    // The two newest give way to two of another buyer.
    shop.test_chain.roll_back(2).await?;
    shop.collect(2, "").await?;
    shop.collect(2, "").await?;
    shop.collect(2, "").await?;
    indexer.follow().await?;
    assert_eq!(reader.flags().await?, [false, false, false, false, false, true]);

    assert_eq!(reader.reads.mark_all(&[list]).await?, 5);
    assert_eq!(reader.reads.mark_all(&[list]).await?, 0);
    assert_eq!(reader.flags().await?, [true; 6]);
    shop.test_chain.roll_back(1).await?;
    shop.collect(3, "").await?;
    indexer.follow().await?;
    assert_eq!(reader.flags().await?, [false, true, true, true, true, true]);

    // Once final, marks are on numbers.
    shop.test_chain.finalise().await?;
    indexer.follow().await?;
    assert_eq!(reader.mark(&[reader.all().await?[0].0]).await?, 1);
    shop.collect(3, "").await?;
    indexer.follow().await?;
    assert_eq!(reader.flags().await?, [false, true, true, true, true, true, true]);
    assert_eq!(reader.reads.mark_all(&[list]).await?, 1);
    assert_eq!(reader.flags().await?, [true; 7]);
    Ok(())
}
