//! `GET /payments`: paid collects, newest first.

use activity::list_payments::{ListPaymentsQuery, ListPaymentsResponse};
use shared::{
    api::{
        read::{Pagination, Reader, fitting},
        request::of_another_list,
    },
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
        let ListPaymentsQuery { artist, collector, chain_id, start } = request.query().read_for(&self.reader)?;
        let chains = self.reader.listed_chains(chain_id, artist.is_some() || collector.is_some());
        let accounts = self.reader.accounts_on(&chains, artist.as_ref()).await?;
        let lists =
            accounts.into_iter().map(|(chain, artist)| (chain, PaymentFilter { artist, collector, moment: None }));
        let found = self.payments.starting_at(&Vec::from_iter(lists), &start).await?.ok_or_else(of_another_list)?;
        let pagination = Pagination::new(start.page, found.total);
        let payments = self.reader.payments(&found.payments).await?;
        let (payments, shown) = fitting(payments, &found.payments, |view, payment| view.id() == payment.id)?;
        let response = ListPaymentsResponse { status: "success", payments, pagination };
        Response::page(&response, request, &start, found.rest.after(shown))
    }
}
