//! The notifications of a page. Each is a payment; its viewed flag is stored apart.

use std::collections::BTreeSet;

use shared::{
    model::{Address, ChainId, Page, Payment},
    store::{
        StoreError,
        across::NotificationReads,
        chain::{NotificationList, NotificationPlace, PaymentFilter, PaymentPage, Payments},
    },
};

/// Most pages of all that are read for one of matches.
const MOST_PAGES: usize = 10;

pub struct Notifications {
    pub payments: Payments,
    pub viewed: NotificationReads,
}

pub struct NotificationPage {
    /// Newest first.
    pub payments: Vec<Payment>,
    /// Flag per payment.
    pub viewed: Vec<bool>,
    /// Length of the list that has the page.
    pub total: u64,
    /// Whether rows were left out.
    pub is_filtered: bool,
    /// The last of the pages that were read for it.
    pub last: Page,
}

impl Notifications {
    /// Finds a page of the notifications of chains, or of accounts on them. There is no list of everyone's viewed ones, which
    /// an artist's mark of all would have to change: there, pages of all are read until their matches fill one.
    pub async fn find(
        &self,
        accounts: &[(ChainId, Option<Address>)],
        viewed: Option<bool>,
        page: Page,
    ) -> Result<NotificationPage, StoreError> {
        let list =
            |(chain, artist): &(ChainId, Option<Address>)| Some(NotificationList { chain: *chain, artist: (*artist)? });
        let lists: Option<Vec<NotificationList>> = accounts.iter().map(list).collect();
        if let (Some(lists), Some(viewed)) = (lists, viewed) {
            let PaymentPage { payments, total, .. } =
                self.viewed.newest_of(&lists, viewed, page.offset(), page.rows()).await?;
            let viewed = vec![viewed; payments.len()];
            return Ok(NotificationPage { payments, viewed, total, is_filtered: false, last: page });
        }
        let filter = |(chain, artist): &(ChainId, Option<Address>)| {
            (*chain, PaymentFilter { artist: *artist, ..PaymentFilter::default() })
        };
        let filters = Vec::from_iter(accounts.iter().map(filter));
        let mut found = NotificationPage {
            payments: Vec::new(),
            viewed: Vec::new(),
            total: 0,
            is_filtered: viewed.is_some(),
            last: page,
        };
        let mut next = Some(page);
        for _ in 0..MOST_PAGES {
            let Some(page) = next.take() else { break };
            let PaymentPage { payments, total, .. } =
                self.payments.newest_of(&filters, page.offset(), page.rows()).await?;
            let flags = self.flags(&payments).await?;
            let rows = payments.into_iter().zip(flags).filter(|(_, flag)| viewed.is_none_or(|viewed| viewed == *flag));
            let (payments, flags): (Vec<_>, Vec<_>) = rows.unzip();
            if found.payments.len() + payments.len() > page.rows() {
                break;
            }
            found.payments.extend(payments);
            found.viewed.extend(flags);
            (found.total, found.last) = (total, page);
            next = page.following(total).filter(|_| found.payments.len() < page.rows());
        }
        Ok(found)
    }

    /// Whether each is viewed. At most three reads.
    async fn flags(&self, payments: &[Payment]) -> Result<Vec<bool>, StoreError> {
        let ids: BTreeSet<_> = payments.iter().map(Payment::notification_id).collect();
        let places = self.payments.notification_places(&ids).await?;
        let place = |payment: &Payment| places.get(&payment.notification_id()).copied();
        let known: Vec<NotificationPlace> = payments.iter().filter_map(place).collect();
        let viewed = self.viewed.are_viewed(&known).await?;
        let viewed: BTreeSet<_> = known.iter().zip(viewed).filter(|(_, viewed)| *viewed).map(|(at, _)| at.id).collect();
        Ok(payments.iter().map(|payment| viewed.contains(&payment.notification_id())).collect())
    }
}
