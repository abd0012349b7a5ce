//! `GET /payments`: paid collects, newest first.

use activity::list_payments::{ListPaymentsQuery, ListPaymentsResponse};
use shared::{
    api::read::{Pagination, Reader},
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    store::{
        artist::ArtistTable,
        chain::{ChainTable, PaymentFilter, Payments},
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListPayments>().await
}

struct ListPayments {
    payments: Payments,
    reader: Reader,
}

impl Endpoint for ListPayments {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let chain = ChainTable::from_env(&aws)?.eventually_consistent();
        Ok(Self {
            payments: Payments::new(chain.clone()),
            reader: Reader::from_env(chain, ArtistTable::from_env(&aws)?)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let ListPaymentsQuery { artist, collector, chain_id, page } = request.query().read_for(&self.reader)?;
        let accounts = self.reader.accounts_on(&self.reader.chains(chain_id), artist.as_ref()).await?;
        let lists =
            accounts.into_iter().map(|(chain, artist)| (chain, PaymentFilter { artist, collector, moment: None }));
        let found = self.payments.newest_of(&Vec::from_iter(lists), page.offset(), page.rows()).await?;
        let pagination = Pagination::new(page, found.total);
        let payments = self.reader.payments(&found.payments).await?;
        Response::public(&ListPaymentsResponse { status: "success", payments, pagination })?.with_next_page(
            request,
            page,
            pagination.has_more(),
        )
    }
}
