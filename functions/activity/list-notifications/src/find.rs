//! The notifications of a page. Each is a payment; its viewed flag is stored apart.

use shared::{
    model::{Address, ChainId, Page, Payment},
    store::{NotificationList, NotificationPlace, NotificationReads, PaymentFilter, Payments, StoreError},
};

/// How many recent notifications a global `viewed` filter scans. There is no global list of viewed ones: an artist's mark
/// of all would have to change it.
const WINDOW: usize = 200;

pub struct Notifications {
    pub payments: Payments,
    pub viewed: NotificationReads,
}

pub struct NotificationPage {
    /// Newest first.
    pub payments: Vec<Payment>,
    /// Flag per payment.
    pub viewed: Vec<bool>,
    pub more: bool,
}

impl Notifications {
    /// Finds a page of an artist's or of all notifications. At most ten reads, for any page.
    pub async fn find(
        &self,
        chain: ChainId,
        artist: Option<Address>,
        viewed: Option<bool>,
        page: Page,
    ) -> Result<NotificationPage, StoreError> {
        match (artist.map(|artist| NotificationList { chain, artist }), viewed) {
            (Some(list), Some(viewed)) => self.of_artist_with(list, viewed, page).await,
            (Some(list), None) => self.of_artist(list, page).await,
            (None, Some(viewed)) => self.of_everyone_with(chain, viewed, page).await,
            (None, None) => self.of_everyone(chain, page.offset(), page.rows()).await,
        }
    }

    async fn of_artist_with(
        &self,
        list: NotificationList,
        viewed: bool,
        page: Page,
    ) -> Result<NotificationPage, StoreError> {
        let length = self.payments.notification_counts([list]).await?.remove(&list).unwrap_or_default();
        let numbers = self.viewed.page(list, length, viewed, page.offset(), page.rows()).await?;
        let payments = self.payments.of_artist(list, &numbers.numbers).await?;
        Ok(NotificationPage { viewed: vec![viewed; payments.len()], payments, more: numbers.more })
    }

    async fn of_artist(&self, list: NotificationList, page: Page) -> Result<NotificationPage, StoreError> {
        let filter = PaymentFilter::of_artist(list.artist);
        let found = self.payments.newest(list.chain, filter, page.offset(), page.rows()).await?;
        let numbers = (0..found.total).rev().skip(usize::try_from(page.offset()).unwrap_or(usize::MAX));
        let place = |(number, payment): (u64, &Payment)| NotificationPlace {
            id: payment.notification_id(),
            list,
            number,
            block: payment.block,
        };
        let places: Vec<NotificationPlace> = numbers.zip(&found.payments).map(place).collect();
        let viewed = self.viewed.are_viewed(&places).await?;
        Ok(NotificationPage {
            more: page.offset() + (places.len() as u64) < found.total,
            payments: found.payments,
            viewed,
        })
    }

    async fn of_everyone(&self, chain: ChainId, offset: u64, limit: usize) -> Result<NotificationPage, StoreError> {
        let found = self.payments.newest(chain, PaymentFilter::default(), offset, limit).await?;
        let ids = found.payments.iter().map(Payment::notification_id).collect();
        let places = self.payments.notification_places(&ids).await?;
        // A payment and its notification's place are written together.
        let place = |payment: &Payment| places.get(&payment.notification_id()).copied();
        let places: Vec<NotificationPlace> = found.payments.iter().filter_map(place).collect();
        let viewed = self.viewed.are_viewed(&places).await?;
        Ok(NotificationPage { more: offset + (places.len() as u64) < found.total, payments: found.payments, viewed })
    }

    async fn of_everyone_with(&self, chain: ChainId, viewed: bool, page: Page) -> Result<NotificationPage, StoreError> {
        let newest = self.of_everyone(chain, 0, WINDOW).await?;
        let wanted = newest.payments.into_iter().zip(newest.viewed).filter(|(_, it)| *it == viewed);
        let mut rows = wanted.skip(usize::try_from(page.offset()).unwrap_or(usize::MAX)).map(|(payment, _)| payment);
        let payments: Vec<Payment> = rows.by_ref().take(page.rows()).collect();
        Ok(NotificationPage { viewed: vec![viewed; payments.len()], payments, more: rows.next().is_some() })
    }
}
