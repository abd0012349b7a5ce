//! `POST /sale`: changes a moment's sale. Missing fields keep their onchain values.

mod change;

use moments::update_sale::UpdateSaleRequest;
use shared::{
    api::transact::TransactionService,
    chain::{
        protocol::{
            permission::Permission,
            sale::{CurrentSale, Strategy},
        },
        wallet::Call,
    },
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::{Creation, Scope},
};

use crate::change::updated;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<UpdateSale>().await
}

struct UpdateSale {
    service: TransactionService,
}

impl Endpoint for UpdateSale {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self { service: TransactionService::from_env().await? })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Publish).await?;
        let UpdateSaleRequest { moment, change } = request.json()?.read_for(&self.service)?;
        self.service
            .transact(request, caller, moment.chain, Creation::Nothing, async |session| {
                session.require(&moment, Permission::Sales).await?;
                let addresses = &session.chain().addresses;
                let sales = CurrentSale::all(session.node(), addresses, &moment).await?;
                // Of two sales, the one in an ERC-20 currency is in force, and comes first.
                let sale = sales.into_iter().find(|sale| sale.strategy != Strategy::Timed);
                let sale = sale.ok_or_else(|| ApiError::not_found("This moment has no sale that could be changed"))?;
                let update = updated(sale, &change, &moment, addresses)
                    .map_err(|(field, error)| ApiError::invalid_field(field, error.to_string()))?;
                Ok(vec![Call::new(moment.collection.into(), &update)])
            })
            .await
    }
}
