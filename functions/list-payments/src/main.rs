//! `GET /payments`: paid collects, newest first.

#[cfg(test)]
mod description;

use serde::Serialize;
use shared::{
    config,
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::{ChainId, Page},
    reading::{Pagination, Reader, ShownPayment},
    store::{PaymentFilter, Payments, Table},
    telemetry,
};
use utoipa::ToSchema;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(ListPayments::from_env().await?).await
}

struct ListPayments {
    payments: Payments,
    reader: Reader,
}

/// Which payments are asked for.
struct ListPaymentsQuery {
    /// `artist`, the account whose collections they are for, and `collector`, the account that got the tokens; anyone's
    /// unless given.
    filter: PaymentFilter,
    /// `chainId`: 8453 unless given.
    chain: ChainId,
    /// `limit` and `page`.
    page: Page,
}

#[derive(Serialize, ToSchema)]
struct ListPaymentsResponse {
    status: &'static str,
    payments: Vec<ShownPayment>,
    pagination: Pagination,
}

impl ListPayments {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let chain = Table::chain(&aws)?;
        Ok(Self { payments: Payments::new(chain.clone()), reader: Reader::from_env(chain, Table::artists(&aws)?)? })
    }
}

impl Endpoint for ListPayments {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let ListPaymentsQuery { filter, chain, page } = ListPaymentsQuery::parse(request, &self.reader)?;
        let found = self.payments.newest(chain, filter, page.offset(), page.rows()).await?;
        let pagination = Pagination::new(page, found.total);
        let payments = self.reader.payments(&found.payments).await?;
        Response::public(&ListPaymentsResponse { status: "success", payments, pagination })?.with_next_page(
            request,
            page,
            pagination.has_more(),
        )
    }
}

impl ListPaymentsQuery {
    fn parse(request: &Request, reader: &Reader) -> Result<Self, ApiError> {
        let mut fields = request.query();
        let filter = PaymentFilter { artist: fields.optional("artist"), collector: fields.optional("collector") };
        let chain = reader.chain(&mut fields, "chainId");
        let page = fields.page();
        fields.finish(|| Some(Self { filter, chain: chain?, page: page? }))
    }
}
